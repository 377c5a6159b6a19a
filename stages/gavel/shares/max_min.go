package shares

import (
	"github.com/tfexp/tfexp/scheduler/lp"
)

var _ = Register(Kind{
	Name: "max_min", Title: "Max-min fairness", Place: 1,
	Doc:   "the slowest job is as fast as possible",
	Packs: true,
	New:   func(Options) Divider { return maxMin{} },
})

var _ = Register(Kind{
	Name: "water_filling", Title: "Water filling", Place: 2,
	Doc: "as `max_min`; then the second slowest job is as fast as possible, and so on",
	New: func(Options) Divider { return waterFilling{} },
})

type maxMin struct{}

// fairNeed returns the speed that counts as 1 for max-min fairness. It is the job's speed with an even share of all
// devices, per device, times its weight.
func (p *Problem) fairNeed(j *Job) float64 {
	need, devices := 0.0, p.devices()
	for t, s := range j.Speed {
		if s > 0 {
			need += s * p.Types[t].Count / devices / j.Workers[t]
		}
	}
	return need * j.Weight
}

func (maxMin) Divide(p *Problem) (Division, error) {
	if len(p.Pairs) > 0 {
		return p.packedMaxMin()
	}
	program := p.program()
	program.Gain = 1
	for i := range p.Jobs {
		needs(&program.Blocks[i], &p.Jobs[i], p.fairNeed(&p.Jobs[i]), 0)
	}
	s, err := lp.Solve(program)
	if err != nil {
		return nil, err
	}
	return p.division(s), nil
}

type waterFilling struct{}

// Divide raises the level of all jobs that are not fixed. A job becomes fixed when its row in the linear program has a
// price: then no optimum gives it more. In degenerate programs all prices can be 0; then all jobs become fixed.
func (waterFilling) Divide(p *Problem) (Division, error) {
	level := make([]float64, len(p.Jobs))
	fixed := make([]bool, len(p.Jobs))
	for open := len(p.Jobs); ; {
		program := p.program()
		program.Gain = 1
		for i := range p.Jobs {
			need := p.fairNeed(&p.Jobs[i])
			if fixed[i] {
				needs(&program.Blocks[i], &p.Jobs[i], 0, need*level[i]*(1-margin))
			} else {
				needs(&program.Blocks[i], &p.Jobs[i], need, 0)
			}
		}
		s, err := lp.Solve(program)
		if err != nil {
			return nil, err
		}
		if open -= fixBottlenecks(s, level, fixed); open == 0 {
			return p.division(s), nil
		}
	}
}

// fixBottlenecks fixes the jobs that cannot have a higher level than in a solution, and returns their number.
func fixBottlenecks(s lp.Solution, level []float64, fixed []bool) int {
	most := 0.0
	for i := range fixed {
		if !fixed[i] {
			most = max(most, s.Price[i][1])
		}
	}
	count := 0
	for i := range fixed {
		if !fixed[i] && s.Price[i][1] >= most*1e-4 {
			fixed[i], level[i] = true, s.Z
			count++
		}
	}
	return count
}
