package policies

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/elastic/division"
)

type tiresiasSettings struct {
	// The GPU time (time × number of GPUs) after which a job moves to the second queue.
	//
	//	demotion = "57600s"
	Demotion time.Duration `arg:"demotion,positive" default:"3250s"`
	// The ratio of waiting time to run time at which a job returns from the second queue to the first. Both times count
	// since the job last entered the first queue; the time before it ran does not count as waiting. 0 for never.
	//
	//	promotion = 8
	Promotion float64 `arg:"promotion" default:"0" min:"0" max:"1e6"`
}

var _ = register(policy.Choice{
	Name: "tiresias", Title: "Tiresias",
	Doc:   "two queues by attained GPU time",
	Place: 40, Settings: schema.Described[tiresiasSettings](source), Version: 3,
}, Needs{}, newTiresias, true)

// tiresias is the state of the order tiresias: two-dimensional least attained service in two queues.
type tiresias struct {
	tiresiasSettings
	queues [2][]int32
	lives  []attained
}

// attained is a job's service since it last entered the first queue. Its waiting time counts only after its first
// start.
type attained struct {
	known, runs bool
	ran, waited time.Duration
	looked      time.Duration
	second      bool // the job is in the second queue
}

func newTiresias(s policy.Setup) decider {
	t := &tiresias{lives: make([]attained, len(s.Run.Jobs))}
	s.Policy.Settings.Fill(&t.tiresiasSettings)
	return t
}

func (t *tiresias) ended(j int32) {
	for q := range t.queues {
		t.queues[q] = slices.DeleteFunc(t.queues[q], func(k int32) bool { return k == j })
	}
}

// decide implements decider.
func (t *tiresias) decide(p *planner, v scheduler.View, jobs []int32) (division.Division, error) {
	for _, j := range jobs {
		t.count(j, p.begun(v.Now()), p.demand(v.Job(j).Job()), p.at[j] != nil)
	}
	free := division.Total(p.capacity)
	place := map[int32]int{}
	for i, j := range jobs {
		place[j] = i
	}
	target := make(division.Division, len(jobs))
	var starting []int32
	for _, q := range t.queues {
		for _, j := range q {
			i, ok := place[j]
			gpus := p.demand(v.Job(j).Job())
			if !ok || gpus == 0 {
				continue
			}
			if t.lives[j].runs = gpus <= free; !t.lives[j].runs {
				continue
			}
			free -= gpus
			if target[i] = p.at[j]; target[i] == nil {
				starting = append(starting, j)
			}
		}
	}
	left := division.Free(p.capacity, target)
	for _, j := range starting {
		target[place[j]] = division.PlaceMostFree(left, p.demand(v.Job(j).Job()))
	}
	return target, nil
}

// count adds the service or the waiting time of a job since the last round, and moves the job to its queue.
func (t *tiresias) count(j int32, now time.Duration, gpus int, held bool) {
	a := &t.lives[j]
	a.runs = a.runs && held // a job that was chosen does not run if free GPUs were too scattered
	passed := now - a.looked
	a.looked = now
	switch {
	case !a.known:
		a.known = true
		t.queues[0] = append(t.queues[0], j)
	case a.runs:
		a.ran += passed
		if !a.second && scheduler.CoreTime(a.ran, gpus) >= t.Demotion {
			t.move(j, a, 1)
		}
	case a.ran > 0:
		a.waited += passed
		if a.second && t.Promotion > 0 && float64(a.waited) >= t.Promotion*float64(a.ran) {
			a.ran, a.waited = 0, 0
			t.move(j, a, 0)
		}
	}
}

// move puts a job at the end of a queue.
func (t *tiresias) move(j int32, a *attained, to int) {
	t.ended(j)
	a.second = to == 1
	t.queues[to] = append(t.queues[to], j)
}
