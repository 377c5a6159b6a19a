package shares

import (
	"cmp"
	"slices"
)

var _ = Register(Kind{
	Name: "fifo", Title: "First in, first out", Place: 7, Idle: true,
	Doc: "by arrival, each job gets the fastest free devices",
	New: func(o Options) Divider {
		if o.Blind {
			return &fifoBlind{chance: NewChance(o.Seed), on: map[int32]int{}}
		}
		return fifo{}
	},
})

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

// nothing returns an empty division, and the number of free devices of each type.
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

// fifoBlind is FIFO without known speeds. It keeps each job on its first type.
type fifoBlind struct {
	chance *Chance
	on     map[int32]int
	order  []int32 // the jobs in on, sorted by number
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
		if i := waiting[0]; p.Jobs[i].Workers[t] <= left[t] && p.Jobs[i].Speed[t] > 0 {
			give(i, t)
			waiting = waiting[1:]
		}
	}
	f.fill(p, waiting, left, give)
	f.order = f.order[:0]
	for i := range p.Jobs {
		if t, ok := f.on[p.Jobs[i].Number]; ok {
			d[i][t] = 1
			f.order = append(f.order, p.Jobs[i].Number)
		}
	}
	return d, nil
}

// fill gives devices to waiting jobs in order, until a job has no room on any listed type. A job goes to the last
// listed type, by name, on which it can run, even if that type has no room. When a type is full, a type with room is
// drawn at random and removed from the list. The authors' program does the same, and it explains their figures; its
// code seems to intend a random type for each job.
func (f *fifoBlind) fill(p *Problem, waiting []int, left []float64, give func(i, t int)) {
	var listed []int
	for t := range p.Types {
		if left[t] > 0 {
			listed = append(listed, t)
		}
	}
	slices.SortFunc(listed, func(a, b int) int { return cmp.Compare(p.Types[a].Name, p.Types[b].Name) })
	for _, i := range waiting {
		var room []int // indices in the list
		for at, t := range listed {
			if left[t] >= p.Jobs[i].Workers[t] {
				room = append(room, at)
			}
		}
		if len(room) == 0 {
			return
		}
		drawn := room[f.chance.Below(len(room))]
		last := -1 // the last type on which the job can run
		for _, t := range listed {
			if p.Jobs[i].Speed[t] > 0 {
				last = t
			}
		}
		if last < 0 {
			continue
		}
		give(i, last)
		if left[last] == 0 {
			listed = slices.Delete(listed, drawn, drawn+1)
		}
	}
}
