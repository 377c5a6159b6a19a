package policies_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
	_ "github.com/tfexp/tfexp/stages/elastic/policies" // registers its orders
)

// amdahl is a training with a run time on one GPU; a part of its work runs on one GPU only. It is faster on some types.
type amdahl struct {
	work, serial float64
	limit        int
	faster       map[string]float64
	most, gpus   int
	typ          string
	types        []string // by GPU
}

func (a *amdahl) rate(gpu string, gpus int) float64 {
	if gpus == 0 {
		return 0
	}
	return max(a.faster[gpu], 1) / (a.serial + (1-a.serial)/float64(gpus))
}

func (a *amdahl) Hold(g scheduler.Grant) {
	a.gpus, a.typ = g.GPUs.Count(), a.types[0]
	if a.gpus > 0 {
		a.typ = a.types[g.GPUs[0].Lo]
	}
	a.most = max(a.most, a.gpus)
}

func (a *amdahl) Left(time.Duration) time.Duration {
	return time.Duration(math.Ceil(a.work / a.rate(a.typ, a.gpus) * 1e9))
}
func (a *amdahl) Remaining(passed time.Duration) time.Duration {
	return time.Duration(1e9 * (a.work - passed.Seconds()*a.rate(a.typ, a.gpus)))
}
func (a *amdahl) Advance(d time.Duration) {
	a.work = max(a.work-d.Seconds()*a.rate(a.typ, a.gpus), 0)
}
func (a *amdahl) Next() bool { return false }
func (a *amdahl) Goodput(gpu string, _, gpus int) float64 {
	if a.most == 0 {
		return 0
	}
	return a.rate(gpu, gpus)
}
func (a *amdahl) MostGPUs() int { return a.most }
func (a *amdahl) Limit() int    { return a.limit }
func (a *amdahl) StepTime(gpus, _ int) float64 {
	return 1 / a.rate("", gpus)
}
func (a *amdahl) Steps() float64 { return a.work }

type elasticEvents []scheduler.Event

func (e *elasticEvents) Event(x *scheduler.Event)   { *e = append(*e, *x) }
func (*elasticEvents) Decision(*scheduler.Decision) {}

// train runs trainings under an order, in rounds of 10 s, and checks the schedule.
func train(t *testing.T, order policy.Order, nodes []scheduler.Node, runs []*amdahl, arrivals []time.Duration, more policy.Settings) (
	scheduler.Outcome, elasticEvents) {
	t.Helper()
	c := scheduler.Cluster{Nodes: nodes}
	var types []string
	for _, n := range nodes {
		types = append(types, slices.Repeat([]string{n.GPU}, n.GPUs)...)
	}
	jobs := make([]scheduler.Job, len(runs))
	work := make([]simulated.Scaling, len(runs))
	for i, r := range runs {
		r.types = types
		jobs[i] = scheduler.Job{Number: i, Name: fmt.Sprint("j", i), Threads: 1, GPUs: 1, Elastic: true, Arrival: arrivals[i],
			Deadline: scheduler.Never}
		work[i] = simulated.Scaling{Scaled: time.Hour, Threads: 1,
			Special: &simulated.Special{Begin: func() simulated.Course { return r }}}
	}
	engine, err := simulated.New(jobs, work, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	settings := policy.Settings{"rounds": 10 * time.Second}
	maps.Copy(settings, more)
	var all elasticEvents
	out, err := scheduler.Run{Policy: policy.Policy{Order: order, Settings: settings}, Cluster: c, Jobs: jobs, Engine: engine,
		Recorder: &all}.Execute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range validate.Trace(c, jobs, nil, all, &out) {
		t.Errorf("%s: %s", order, v)
	}
	return out, all
}

// given returns the number of GPUs of each job after the decisions of an instant.
func given(all elasticEvents, at time.Duration, jobs int) []int {
	held := make([]int, jobs)
	for _, e := range all {
		if e.At <= at && e.Job >= 0 && (e.Kind != scheduler.Finish || e.At < at) {
			switch e.Kind {
			case scheduler.Start, scheduler.Resume, scheduler.ResizeJob:
				held[e.Job] = e.GPUs.Count()
			case scheduler.Pause, scheduler.Finish:
				held[e.Job] = 0
			}
		}
	}
	return held
}

// gpus returns nodes with the given numbers of GPUs.
func gpus(each ...int) (nodes []scheduler.Node) {
	for i, n := range each {
		nodes = append(nodes, scheduler.Node{Name: fmt.Sprint("n", i), Threads: max(n, 1), GPUs: n})
	}
	return nodes
}

// TestOptimusGivesWhereItSavesMost: of any jobs that come at once, each has one GPU, in the order of their arrival,
// and each further one goes to the job whose remaining time it reduces most.
func TestOptimusGivesWhereItSavesMost(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 5))
	for range 60 {
		n := 1 + random.IntN(6)
		sizes := [][]int{{4, 4}, {3}, {2, 4, 0, 2}, {1, 1, 1, 1}}[random.IntN(4)]
		all := 0
		for _, s := range sizes {
			all += s
		}
		runs, counts, free := make([]*amdahl, n), make([]int, n), all
		for i := range runs {
			runs[i] = &amdahl{work: 30 + 300*random.Float64(), serial: 0.5 * random.Float64(), limit: 1 + random.IntN(6)}
			if free > 0 {
				counts[i], free = 1, free-1
			}
		}
		for free > 0 {
			best, most := -1, 0.0
			for i, r := range runs {
				if counts[i] == 0 || counts[i] >= r.limit {
					continue
				}
				if saves := r.work * (1/r.rate("", counts[i]) - 1/r.rate("", counts[i]+1)); saves > most {
					best, most = i, saves
				}
			}
			if best < 0 {
				break
			}
			counts[best], free = counts[best]+1, free-1
		}
		_, trace := train(t, "optimus", gpus(sizes...), runs, make([]time.Duration, n), nil)
		if got := given(trace, 0, n); !slices.Equal(got, counts) {
			t.Errorf("on nodes of %v GPUs %v are given, want %v", sizes, got, counts)
		}
	}
}

// TestRoundsOfOneTraining, which needs 160 s on one GPU and is n times as fast on n, by hand: Optimus gives it all
// four at once, Pollux and Sia twice as many as it has had, round by round. A restart that is expected to cost more
// than it can save in the first rounds keeps it on fewer for longer.
func TestRoundsOfOneTraining(t *testing.T) {
	for _, c := range []struct {
		order policy.Order
		limit int
		delay time.Duration
		gpus  []int // in the rounds at 0, 10, 20 and 30 s
		want  time.Duration
	}{
		{"optimus", 8, 0, []int{4, 4, 4, 4}, 40 * time.Second},
		{"optimus", 3, 0, []int{3, 3, 3, 3}, 53333 * time.Millisecond},
		{"pollux", 8, 0, []int{1, 2, 4, 4}, 52500 * time.Millisecond},
		{"pollux", 2, 0, []int{1, 2, 2, 2}, 85 * time.Second},
		{"sia", 8, 0, []int{1, 2, 4, 4}, 52500 * time.Millisecond},
		{"sia", 2, 0, []int{1, 2, 2, 2}, 85 * time.Second},
		// a job of age a that was restarted r times keeps (a − 20·r)/(a + 20) of its gain: twice is too little at 10 and 20 s
		{"sia", 8, 20 * time.Second, []int{1, 1, 1, 2}, 0},
	} {
		run := &amdahl{work: 160, limit: c.limit}
		more := policy.Settings{"restart_delay": c.delay, "fairness": -0.5, "unserved": 1.1}
		out, trace := train(t, c.order, gpus(4), []*amdahl{run}, make([]time.Duration, 1), more)
		for i, want := range c.gpus {
			if got := given(trace, time.Duration(i)*10*time.Second, 1)[0]; got != want {
				t.Errorf("%s, at most %d, a delay of %s: %d GPUs in round %d, want %d", c.order, c.limit, c.delay, got, i, want)
			}
		}
		if end := out.Jobs[0].Finish; c.want > 0 && (end-c.want).Abs() > time.Millisecond {
			t.Errorf("%s, at most %d: it ends at %s, want %s", c.order, c.limit, end, c.want)
		}
	}
}

// TestSiaChoosesTypes: a training that is three times as fast on one type and one that is not: each gets the
// GPUs from which it gains most, in the second round, when both know their speeds.
func TestSiaChoosesTypes(t *testing.T) {
	nodes := []scheduler.Node{{Name: "old", Threads: 2, GPUs: 2, GPU: "K80"}, {Name: "none", Threads: 1},
		{Name: "new", Threads: 2, GPUs: 2, GPU: "V100"}}
	fast := &amdahl{work: 500, limit: 1, faster: map[string]float64{"V100": 3}}
	plain := &amdahl{work: 500, limit: 1}
	_, trace := train(t, "sia", nodes, []*amdahl{plain, fast}, make([]time.Duration, 2),
		policy.Settings{"restart_delay": time.Duration(0), "fairness": -0.5, "unserved": 1.1})
	for _, e := range trace {
		if e.Job == 1 && (e.Kind == scheduler.Start || e.Kind == scheduler.Resume) && e.At >= 10*time.Second && e.GPUs[0].Lo < 2 {
			t.Errorf("at %s the fast training is on GPU %d, of the slow type", e.At, e.GPUs[0].Lo)
		}
	}
	if fast.typ != "V100" {
		t.Errorf("the fast training ends on %s", fast.typ)
	}
}

// TestSiaByHand: two trainings on two old GPUs and two new ones, which are twice as fast; on n of them A is n times
// as fast as on one, and B 1/(0.4 + 0.6/n) times. A restart is taken to cost 20 s, so that before the first one
// another configuration keeps k = a/(a + 20) of its gain at age a. A gain g costs g^-0.5; the least goodput of each
// has the gain 1. Before they have run, all types are alike, and each gets one of the new GPUs, which is a gain of 2.
//
//	A on 2 new, B on 2 old ones   (4k)^-0.5 + (1.4286k)^-0.5 = 1.3367 k^-0.5
//	A on 2 old, B on 2 new ones   (2k)^-0.5 + (2.8571k)^-0.5 = 1.2987 k^-0.5
//	both as they are              2 · 2^-0.5 = 1.4142
//
// The second is 1.4226 at 100 s, where k = 5/6, and 1.4118 at 110 s, where k = 11/13. Once they have changed, both keep
// their GPUs: the total cost is 1.2987.
func TestSiaByHand(t *testing.T) {
	nodes := []scheduler.Node{{Name: "old", Threads: 2, GPUs: 2, GPU: "K80"}, {Name: "new", Threads: 2, GPUs: 2, GPU: "V100"}}
	faster := map[string]float64{"V100": 2}
	runs := []*amdahl{{work: 1000, limit: 8, faster: faster}, {work: 1000, limit: 8, serial: 0.4, faster: faster}}
	_, trace := train(t, "sia", nodes, runs, make([]time.Duration, 2),
		policy.Settings{"restart_delay": 20 * time.Second, "fairness": -0.5, "unserved": 1.1})
	for at, want := range map[time.Duration]int{0: 1, 100: 1, 110: 2, 120: 2, 380: 2} {
		if got := given(trace, at*time.Second, 2); got[0] != want || got[1] != want {
			t.Errorf("at %d s they have %v GPUs, want %d each", at, got, want)
		}
	}
	for _, e := range trace {
		if onNew := e.GPUs.Count() > 0 && e.GPUs[0].Lo >= 2; e.Kind == scheduler.Start && !onNew ||
			e.Kind == scheduler.Resume && e.At == 110*time.Second && onNew != (e.Job == 1) {
			t.Errorf("at %s job %d gets GPU %d", e.At, e.Job, e.GPUs[0].Lo)
		}
	}
}

// TestAnyTrainingsEnd: under every order that divides GPUs, all jobs end, whatever their arrivals.
func TestAnyTrainingsEnd(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 7))
	for _, order := range []policy.Order{"optimus", "pollux", "sia"} {
		for range 8 {
			n := 1 + random.IntN(8)
			runs, arrivals := make([]*amdahl, n), make([]time.Duration, n)
			for i := range runs {
				runs[i] = &amdahl{work: 10 + 200*random.Float64(), serial: 0.5 * random.Float64(), limit: 1 + random.IntN(8)}
				arrivals[i] = time.Duration(random.IntN(100)) * time.Second
			}
			out, _ := train(t, order, gpus(2, 4, 4), runs, arrivals,
				policy.Settings{"restart_delay": 5 * time.Second, "fairness": -0.5, "unserved": 1.1})
			for i, r := range out.Jobs {
				if r.State != scheduler.Finished || runs[i].most > runs[i].limit {
					t.Errorf("%s: job %d of at most %d GPUs is %s, and has had %d", order, i, runs[i].limit, r.State, runs[i].most)
				}
			}
		}
	}
}
