package shares

import (
	"math"

	"github.com/tfexp/tfexp/scheduler/lp"
)

func init() {
	Register(Kind{
		Name: "finish_time_fairness", Title: "Finish-time fairness", Place: 3,
		Doc: "the greatest ratio of the time in which a job ends to the time in which it would end with an even part " +
			"of each type of device to itself (`isolated`) is as small as it can be (Themis: K. Mahajan and others, " +
			"NSDI 2020)",
		New: func(Options) Divider { return &finishTime{alone: map[int32]apart{}} },
	})
}

// apart is what is known of a job as if it had run by itself.
type apart struct {
	seconds float64 // for the work that it has done
	left    float64 // at the last division
	speed   float64 // from the last division on
}

type finishTime struct{ alone map[int32]apart }

// Divide minimises the greatest ρ_i = (age_i + left_i/speed_i) / (apart_i + left_i/isolated_i).
func (f *finishTime) Divide(p *Problem) (Division, error) {
	even := p.isolated()
	whole := make([]float64, len(p.Jobs)) // the time from arrival to end, isolated
	low := 0.0
	now := make(map[int32]apart, len(p.Jobs))
	for i := range p.Jobs {
		j := &p.Jobs[i]
		a := f.alone[j.Number]
		if a.speed > 0 {
			a.seconds += (a.left - j.Left) / a.speed
		}
		a.left, a.speed = j.Left, j.throughput(even[i])
		now[j.Number] = a
		whole[i] = a.seconds + j.Left/a.speed
		low = max(low, (j.Age+j.Left/fastest(j))/whole[i])
	}
	f.alone = now
	return p.leastRatio(whole, low)
}

// leastRatio finds the least ρ for which every job can have the speed left/(ρ·whole − age), by
// bisection over the programs that ask for the greatest multiple of all these speeds: it is 1 or
// more where ρ can be had. low is below what can be had, or is the answer.
func (p *Problem) leastRatio(whole []float64, low float64) (Division, error) {
	solve := func(ratio float64) (lp.Solution, error) {
		program := p.program()
		program.Gain = 1
		for i := range p.Jobs {
			j := &p.Jobs[i]
			needs(&program.Blocks[i], j, j.Left/(ratio*whole[i]-j.Age), 0)
		}
		return lp.Solve(program)
	}
	low *= 1 + 1e-9
	best, err := solve(low)
	if err != nil || best.Z >= 1 {
		return p.division(best), err
	}
	high := low
	for best.Z < 1 {
		if low, high = high, 2*high; math.IsInf(high, 1) {
			return nil, lp.ErrNoOptimum
		}
		if best, err = solve(high); err != nil {
			return nil, err
		}
	}
	for high-low > 1e-7*high {
		middle := (low + high) / 2
		s, err := solve(middle)
		if err != nil {
			return nil, err
		}
		if s.Z >= 1 {
			high, best = middle, s
		} else {
			low = middle
		}
	}
	return p.division(best), nil
}
