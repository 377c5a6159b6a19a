package shares

import "github.com/tfexp/tfexp/scheduler/lp"

var _ = Register(Kind{
	Name: "finish_time_fairness", Title: "Finish-time fairness", Place: 3,
	Doc:     "the greatest finish-time ratio of a job is minimal",
	Version: 1,
	New:     func(Options) Divider { return &finishTime{alone: map[int32]apart{}} },
})

// apart is the progress that a job would have if it had an even share of all devices.
type apart struct {
	seconds float64 // seconds that its work so far would have taken
	left    float64 // remaining work at the last division
	speed   float64 // its speed since the last division
}

type finishTime struct{ alone map[int32]apart }

// Divide minimizes the largest ρ_i = (age_i + left_i/speed_i) / (apart_i + left_i/isolated_i).
func (f *finishTime) Divide(p *Problem) (Division, error) {
	even := p.isolated()
	parts := make([]lp.Part, len(p.Jobs))
	limits := make([]float64, len(p.Types))
	for t := range p.Types {
		limits[t] = p.Types[t].Count
	}
	now := make(map[int32]apart, len(p.Jobs))
	for i := range p.Jobs {
		j := &p.Jobs[i]
		a := f.alone[j.Number]
		if a.speed > 0 {
			a.seconds += (a.left - j.Left) / a.speed
		}
		a.left, a.speed = j.Left, j.throughput(even[i])
		now[j.Number] = a
		full := fastest(j)
		parts[i] = lp.Part{Uses: j.Workers, Age: j.Age, Left: j.Left / full, Whole: a.seconds + j.Left/a.speed}
		for _, s := range j.Speed {
			parts[i].Speed = append(parts[i].Speed, s/full)
		}
	}
	f.alone = now
	x, _, err := lp.LeastRatio(parts, limits)
	return Division(x), err
}
