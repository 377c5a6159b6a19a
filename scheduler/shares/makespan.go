package shares

import "github.com/tfexp/tfexp/scheduler/lp"

func init() {
	Register(Kind{
		Name: "makespan", Title: "Least makespan", Place: 4,
		Doc: "the jobs that are there end as early as they can all end; with 1/T in the place of the makespan T this is " +
			"one linear program, and exact",
		New: func(Options) Divider { return makespan{} },
	})
}

type makespan struct{}

func (makespan) Divide(p *Problem) (Division, error) {
	program := p.program()
	// z is the longest time alone on full devices over the makespan.
	longest := 0.0
	for i := range p.Jobs {
		longest = max(longest, p.Jobs[i].Left/fastest(&p.Jobs[i]))
	}
	program.Gain = 1
	for i := range p.Jobs {
		needs(&program.Blocks[i], &p.Jobs[i], p.Jobs[i].Left/longest, 0)
	}
	s, err := lp.Solve(program)
	if err != nil {
		return nil, err
	}
	return p.division(s), nil
}
