package measure

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/tfexp/tfexp/scheduler"
)

// Grouping is a way to divide the jobs of a cell into groups with their own results.
type Grouping struct {
	// Name is the name that users write, such as "class". Doc says in a line how jobs are divided.
	Name, Doc string
	// of returns the group of a job. place orders groups of sizes.
	of func(*scheduler.Job) (name string, place int)
}

// groupings are all groupings, in the order in which they are shown.
var groupings = []Grouping{
	{"class", "the job block, or the class of a trace", func(j *scheduler.Job) (string, int) { return j.Class, 0 }},
	{"user", "who submitted the job", func(j *scheduler.Job) (string, int) { return j.User, 0 }},
	{"size", "how many GPUs the job asks for, or cores if it asks for no GPU", size},
}

// Groupings returns all groupings.
func Groupings() []Grouping { return slices.Clone(groupings) }

// GroupOf returns the name of a job's group in a grouping, even if a cell's results count that group to Others.
func GroupOf(by, class, user string, threads, gpus int) string {
	for _, g := range groupings {
		if g.Name == by {
			return title(g.of(&scheduler.Job{Class: class, User: user, Threads: threads, GPUs: gpus}))
		}
	}
	return ""
}

// gpuSizes is the place of the smallest size in GPUs, after all sizes in cores.
const gpuSizes = 64

// size returns the name and place of the size of a request. Sizes from a power of two up to the next one form a
// group.
func size(j *scheduler.Job) (string, int) {
	if j.GPUs > 0 {
		return "", gpuSizes + bits.Len(uint(j.GPUs))
	}
	return "", bits.Len(uint(max(j.Threads, 1)))
}

// title returns the title of a group, such as "2–3 cores".
func title(name string, place int) string {
	if name != "" || place == 0 {
		return name
	}
	unit := "core"
	if place > gpuSizes {
		unit, place = "GPU", place-gpuSizes
	}
	low := 1 << (place - 1)
	if low == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d–%d %ss", low, 2*low-1, unit)
}

// Others is the group of all jobs beyond the first MostGroups groups.
const (
	Others     = "others"
	MostGroups = 20
)

// Group has the results of a group of jobs of a cell.
type Group struct {
	// By is the name of the grouping; Name is the name of the group.
	By, Name string
	// Metrics has the values of the metrics with Grouped; others are unknown.
	Metrics Metrics
}

type groupJSON struct {
	By      string             `json:"by"`
	Name    string             `json:"name"`
	Metrics map[string]float64 `json:"metrics"`
}

// MarshalJSON writes the known metrics.
func (g Group) MarshalJSON() ([]byte, error) {
	out := groupJSON{g.By, g.Name, map[string]float64{}}
	for _, m := range registered {
		if v := m.Of(&g.Metrics); m.Grouped && !math.IsNaN(v) && !math.IsInf(v, 0) {
			out.Metrics[m.Name] = v
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads the output of MarshalJSON.
func (g *Group) UnmarshalJSON(raw []byte) error {
	var in groupJSON
	if err := json.Unmarshal(raw, &in); err != nil {
		return err
	}
	*g = Group{By: in.By, Name: in.Name, Metrics: Metrics{values: slices.Repeat([]float64{math.NaN()}, slots)}}
	for _, m := range registered {
		if v, ok := in.Metrics[m.Name]; ok {
			g.Metrics.Set(m, v)
		}
	}
	return nil
}

// Groups returns the groups of all groupings that have at least two. Sizes are in ascending order. Classes and users
// with the most jobs come first; after MostGroups of them the rest form one group, Others. So the groups are the same
// in all cells of a workload.
func (c *Collector) Groups() []Group {
	var all []Group
	several := c.several()
	for i, g := range groupings {
		if several[i] {
			all = append(all, c.groupsBy(g)...)
		}
	}
	return all
}

// group is a group during the summation.
type group struct {
	name        string
	place, jobs int
	first       int // number of the group's first job
	totals      Totals
}

// divide returns the groups of a grouping, and the group of each job by its number.
func (c *Collector) divide(by Grouping) (list, of []*group) {
	type key struct {
		name  string
		place int
	}
	at := map[key]*group{}
	of = make([]*group, len(c.setup.Jobs))
	for i := range c.setup.Jobs {
		var k key
		k.name, k.place = by.of(&c.setup.Jobs[i])
		g := at[k]
		if g == nil {
			g = &group{name: title(k.name, k.place), place: k.place, first: i}
			at[k] = g
			list = append(list, g)
		}
		g.jobs++
		of[i] = g
	}
	return list, of
}

func (c *Collector) groupsBy(by Grouping) []Group {
	list, of := c.divide(by)
	slices.SortFunc(list, func(a, b *group) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(b.jobs, a.jobs), cmp.Compare(a.first, b.first))
	})
	into := map[*group]*group{}
	if len(list) > MostGroups {
		others := &group{name: Others}
		for _, g := range list[MostGroups-1:] {
			into[g] = others
		}
		list = append(list[:MostGroups-1:MostGroups-1], others)
	}
	for _, g := range list {
		g.totals = Totals{Makespan: math.NaN(), collector: c}
	}
	for i, g := range of {
		if o := into[g]; o != nil {
			g = o
		}
		g.totals.addGrouped(i)
	}
	out := make([]Group, len(list))
	for i, g := range list {
		out[i] = Group{By: by.Name, Name: g.name, Metrics: Metrics{values: slices.Repeat([]float64{math.NaN()}, slots)}}
		for _, m := range registered {
			if m.Grouped {
				out[i].Metrics.Set(m, m.Compute(&g.totals))
			}
		}
	}
	return out
}

// several reports, for each grouping, whether it has several groups.
func (c *Collector) several() []bool {
	several := make([]bool, len(groupings))
	for i := range c.setup.Jobs {
		for k, by := range groupings {
			if !several[k] && i > 0 {
				name, place := by.of(&c.setup.Jobs[i])
				before, at := by.of(&c.setup.Jobs[i-1])
				several[k] = name != before || place != at
			}
		}
	}
	return several
}

// addGrouped adds a job to the sums.
func (t *Totals) addGrouped(job int) {
	a := t.collector.account(job)
	l := t.collector.lifeOf(job, a)
	t.add(&l)
	t.Jobs++
	t.Preemptions += int(a.Pauses)
	t.Resizes += int(a.Resizes)
	switch a.State() {
	case scheduler.Finished:
		t.Finished++
	case scheduler.Failed, scheduler.Stopped:
		t.Failed++
	}
}
