package shares

import (
	"cmp"
	"slices"
)

func init() {
	Register(Kind{
		Name: "fifo", Title: "First in, first out", Place: 7, Idle: true,
		Doc: "in the order of arrival each job has all of the time of the fastest devices for it that are left; the " +
			"first for which none are left ends it. Blind to types, a job keeps devices of a type that is drawn among " +
			"those with room, and each end lets the next job have its place",
		New: func(o Options) Divider {
			if o.Blind {
				return &fifoBlind{chance: NewChance(o.Seed), on: map[int32]int{}}
			}
			return fifo{}
		},
	})
}

type fifo struct{}

func (fifo) Divide(p *Problem) (Division, error) {
	d, left := p.nothing()
	for i := range p.Jobs {
		j := &p.Jobs[i]
		best := -1
		for t, s := range j.Speed {
			if s > 0 && left[t] >= j.Workers[t] && (best < 0 || s > j.Speed[best]) {
				best = t
			}
		}
		if best < 0 {
			break
		}
		d[i][best] = 1
		left[best] -= j.Workers[best]
	}
	return d, nil
}

// nothing is the division by which nobody has anything, and the devices that are left then.
func (p *Problem) nothing() (d Division, left []float64) {
	d, left = make(Division, len(p.Jobs)), make([]float64, len(p.Types))
	for i := range d {
		d[i] = make([]float64, len(p.Types))
	}
	for t := range left {
		left[t] = p.Types[t].Count
	}
	return d, left
}

// fifoBlind keeps each job on the type that it was given.
type fifoBlind struct {
	chance *Chance
	on     map[int32]int
	order  []int32 // the jobs of on, by number
}

func (f *fifoBlind) Divide(p *Problem) (Division, error) {
	d, left := p.nothing()
	index := make(map[int32]int, len(p.Jobs))
	var waiting []int
	for i := range p.Jobs {
		index[p.Jobs[i].Number] = i
		if _, ok := f.on[p.Jobs[i].Number]; !ok {
			waiting = append(waiting, i)
		}
	}
	give := func(i, t int) {
		j := &p.Jobs[i]
		f.on[j.Number] = t
		left[t] -= j.Workers[t]
	}
	slices.Sort(f.order)
	for _, number := range f.order {
		t := f.on[number]
		if i, ok := index[number]; ok {
			left[t] -= p.Jobs[i].Workers[t]
			continue
		}
		delete(f.on, number)
		if len(waiting) == 0 {
			continue
		}
		i := waiting[0] // whoever is next has the place, or waits for another
		waiting = waiting[1:]
		if p.Jobs[i].Workers[t] <= left[t] && p.Jobs[i].Speed[t] > 0 {
			give(i, t)
		}
	}
	f.draw(p, waiting, left, give)
	f.order = f.order[:0]
	for i := range p.Jobs {
		if t, ok := f.on[p.Jobs[i].Number]; ok {
			d[i][t] = 1
			f.order = append(f.order, p.Jobs[i].Number)
		}
	}
	return d, nil
}

// draw gives waiting jobs in their order devices of a type that is drawn among those with
// room, by name, until there is one for which none has.
func (f *fifoBlind) draw(p *Problem, waiting []int, left []float64, give func(i, t int)) {
	var types []int
	for t := range p.Types {
		types = append(types, t)
	}
	slices.SortFunc(types, func(a, b int) int { return cmp.Compare(p.Types[a].Name, p.Types[b].Name) })
	for _, i := range waiting {
		var room []int
		for _, t := range types {
			if left[t] > 0 && left[t] >= p.Jobs[i].Workers[t] && p.Jobs[i].Speed[t] > 0 {
				room = append(room, t)
			}
		}
		if len(room) == 0 {
			return
		}
		give(i, room[f.chance.Below(len(room))])
	}
}
