package shares

import "slices"

var _ = Register(Kind{
	Name: "isolated", Title: "Isolated", Place: 8,
	Doc: "an even part of each type of device for each job",
	New: func(Options) Divider { return isolated{} },
})

type isolated struct{}

func (isolated) Divide(p *Problem) (Division, error) { return p.isolated(), nil }

// isolated is the division by which every job has an even part of each type of device, in
// proportion less where that is more than all of its time.
func (p *Problem) isolated() Division {
	d, _ := p.nothing()
	for i := range p.Jobs {
		j := &p.Jobs[i]
		sum := 0.0
		for t, s := range j.Speed {
			if s > 0 {
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

// fastest is the speed of a job where it is fastest.
func fastest(j *Job) float64 { return slices.Max(j.Speed) }
