package shares

import (
	"math"

	"github.com/tfexp/tfexp/scheduler/lp"
)

var _ = Register(Kind{
	Name: "max_throughput", Title: "Greatest throughput", Place: 5,
	Doc: "the greatest sum of the jobs' speeds",
	New: func(Options) Divider { return throughput{} },
})

var _ = Register(Kind{
	Name: "min_cost", Title: "Least cost", Place: 6, Prices: true,
	Doc: "the greatest sum of the jobs' speeds per price, with deadlines met if possible",
	New: func(Options) Divider { return throughput{cost: true} },
})

type throughput struct{ cost bool }

func (o throughput) Divide(p *Problem) (Division, error) {
	program := p.program()
	best := 0.0
	for i := range p.Jobs {
		for t, s := range p.Jobs[i].Speed {
			if o.cost {
				s /= p.Types[t].Price
			}
			program.Blocks[i].Gain[t] = s
			best = max(best, s)
		}
	}
	for i := range program.Blocks {
		for t := range program.Blocks[i].Gain {
			program.Blocks[i].Gain[t] /= best
		}
	}
	if o.cost {
		if err := p.inTime(&program); err != nil {
			return nil, err
		}
	}
	s, err := lp.Solve(program)
	if err != nil {
		return nil, err
	}
	return p.division(s), nil
}

// inTime adds the rows that make jobs meet their deadlines, if all of them can.
func (p *Problem) inTime(program *lp.Problem) error {
	var rows []int
	for i := range p.Jobs {
		if !math.IsInf(p.Jobs[i].Due, 1) {
			rows = append(rows, i)
		}
	}
	if rows == nil {
		return nil
	}
	try := p.program()
	try.Gain = 1
	for _, i := range rows {
		j := &p.Jobs[i]
		if j.Due <= 0 {
			return nil // the deadline has already passed
		}
		needs(&try.Blocks[i], j, j.Left/j.Due, 0)
	}
	s, err := lp.Solve(try)
	if err != nil || s.Z < 1-margin {
		return err
	}
	for _, i := range rows {
		j := &p.Jobs[i]
		needs(&program.Blocks[i], j, 0, j.Left/j.Due*(1-2*margin))
	}
	return nil
}
