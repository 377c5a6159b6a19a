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

// makespan divides for the least makespan. tolerance is the fraction by which it may exceed the minimum; 0 means the
// minimum.
type makespan struct{ tolerance float64 }

func (m makespan) Divide(p *Problem) (Division, error) {
	if m.tolerance > 0 {
		return p.endsWithin(m.tolerance)
	}
	program := p.program()
	// z is the longest run time alone on all requested devices, divided by the makespan.
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

// The first bounds of the makespan in the program of Gavel's authors, in seconds.
const (
	leastMakespan = 100
	mostMakespan  = 1e6
)

// endsWithin halves the interval of possible makespans until its ends differ by at most the tolerance. If the upper
// bound is too low, it continues with ten times that bound. It returns the division for the upper end of the last
// interval.
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

// farthestMakespan is the largest makespan that is tried, in seconds: about 30,000 years.
const farthestMakespan = 1e12

// endsBy returns a division in which all jobs end within this time.
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
