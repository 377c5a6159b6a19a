package shares

import (
	"errors"

	"github.com/tfexp/tfexp/scheduler/lp"
)

var _ = Register(Kind{
	Name: "makespan", Title: "Least makespan", Place: 4, Tolerance: true,
	Doc: "the earliest end of all jobs together",
	New: func(o Options) Divider { return makespan{o.Tolerance} },
})

// makespan has the fraction by which the makespan may exceed its minimum; 0 for none.
type makespan struct{ tolerance float64 }

func (m makespan) Divide(p *Problem) (Division, error) {
	if m.tolerance > 0 {
		return p.endsWithin(m.tolerance)
	}
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

// The makespans, in seconds, between which the program of Gavel's authors looks first.
const (
	leastMakespan = 100
	mostMakespan  = 1e6
)

// endsWithin halves the bounds of the makespan until they are within a fraction of each other. If the upper bound is
// not enough, it continues with ten times that bound. The division is in the middle of those that are fast enough for
// the upper bound.
func (p *Problem) endsWithin(tolerance float64) (Division, error) {
	for lo, hi := float64(leastMakespan), mostMakespan; ; lo, hi = hi, hi*10 {
		top, found := hi, Division(nil)
		for lo*(1+tolerance) < top {
			t := (lo + top) / 2
			if t == lo || t == top {
				break
			}
			d, err := p.endsBy(t)
			switch {
			case errors.Is(err, lp.ErrNoOptimum) && t < farthestMakespan:
				lo = t
			case err != nil:
				return nil, err
			default:
				found, top = d, t
			}
		}
		if found != nil {
			return found, nil
		}
	}
}

// farthestMakespan is one by which jobs end that can run at all: some 30,000 years.
const farthestMakespan = 1e12

// endsBy divides so that all jobs are fast enough to end within some seconds.
func (p *Problem) endsBy(seconds float64) (Division, error) {
	program := p.program()
	for i := range p.Jobs {
		needs(&program.Blocks[i], &p.Jobs[i], 0, p.Jobs[i].Left/seconds)
	}
	s, err := lp.Solve(program)
	if err != nil {
		return nil, err
	}
	return p.division(s), nil
}
