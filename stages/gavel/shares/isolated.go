package shares

import "slices"

var _ = Register(Kind{
	Name: "isolated", Title: "Isolated", Place: 8,
	Doc:     "each of n jobs has 1/n of the devices of each type, also of types of GPU on which it cannot run",
	Version: 1,
	New:     func(Options) Divider { return isolated{} },
})

type isolated struct{}

func (isolated) Divide(p *Problem) (Division, error) { return p.isolated(), nil }

// isolated returns the division in which each job has an even share of each type, reduced in proportion if a job's
// shares exceed all of its time. As in the program of Gavel's authors, a job also gets time on GPU types where it
// cannot run; this time is lost.
func (p *Problem) isolated() Division {
	d, _ := p.nothing()
	for i := range p.Jobs {
		j := &p.Jobs[i]
		sum, onGPUs := 0.0, false
		for t, s := range j.Speed {
			onGPUs = onGPUs || s > 0 && !p.Types[t].Cores
		}
		for t, s := range j.Speed {
			if s > 0 || onGPUs && !p.Types[t].Cores {
				d[i][t] = p.Types[t].Count / float64(len(p.Jobs)) / j.Workers[t]
			}
			sum += d[i][t]
		}
		for t := range d[i] {
			d[i][t] /= max(sum, 1)
		}
	}
	return d
}

// fastest returns the speed of a job on its fastest type.
func fastest(j *Job) float64 { return slices.Max(j.Speed) }
