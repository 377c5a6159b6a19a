package measure_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/workload"
	_ "github.com/tfexp/tfexp/stages/published" // the orders
)

// loaded runs n jobs on a number of cores, with arrivals at a load and run
// times drawn from a distribution, and returns the measured load.
func loaded(t *testing.T, p policy.Policy, n, cores int, load float64, seed int64,
	length func(z float64) float64) measure.OfferedLoad {
	t.Helper()
	rng := workload.Stream(seed, "load", fmt.Sprint(load))
	jobs := make([]scheduler.Job, n)
	work := make([]simulated.Scaling, n)
	alone := make([]time.Duration, n)
	now := 0.0
	for i := range jobs {
		now += rng.ExpFloat64() / (load * float64(cores))
		alone[i] = time.Duration(1e9 * length(rng.ExpFloat64()))
		work[i] = simulated.FullRequest(alone[i], 1)
		jobs[i] = scheduler.Job{Number: i, Name: fmt.Sprintf("job-%d", i), Threads: 1, Deadline: scheduler.Never,
			Arrival: time.Duration(now * 1e9), Predicted: alone[i]}
	}
	engine, err := simulated.New(jobs, work, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cluster := scheduler.Cluster{Nodes: []scheduler.Node{{Name: "n", Threads: cores}}}
	c := measure.NewCollector(measure.Setup{Cluster: cluster, Jobs: jobs, Alone: alone})
	if _, err := (scheduler.Run{Policy: p, Cluster: cluster, Jobs: jobs, Engine: engine, Recorder: c,
		EventsOnly: true}).Execute(context.Background()); err != nil {
		t.Fatal(err)
	}
	return c.Load(false)
}

func exponential(z float64) float64 { return z }
func constant(float64) float64      { return 1 }

// Queues are called saturated at loads above 1, and not at loads below 1.
func TestSaturation(t *testing.T) {
	rr := policy.Policy{Order: policy.RoundRobin, Settings: policy.Settings{"quantum": 2 * time.Second}}
	for _, c := range []struct {
		name     string
		policy   policy.Policy
		n, cores int
		load     float64
		length   func(float64) float64
		seeds    int
		low, top int // of the seeds: saturated
	}{
		{"M/M/1 at 0.9", policy.Policy{}, 10_000, 1, 0.9, exponential, 40, 0, 0},
		{"M/M/1 at 0.9, few jobs", policy.Policy{}, 300, 1, 0.9, exponential, 100, 0, 1},
		{"M/M/1 at 0.95", policy.Policy{}, 3000, 1, 0.95, exponential, 100, 0, 1},
		{"M/M/1 at 1", policy.Policy{}, 1000, 1, 1, exponential, 200, 0, 8},
		{"M/M/1 at 1.1", policy.Policy{}, 10_000, 1, 1.1, exponential, 40, 40, 40},
		{"M/D/1 at 0.9", policy.Policy{}, 1000, 1, 0.9, constant, 40, 0, 0},
		{"M/D/1 at 1.1", policy.Policy{}, 10_000, 1, 1.1, constant, 40, 40, 40},
		{"M/M/64 at 0.9", policy.Policy{}, 10_000, 64, 0.9, exponential, 20, 0, 0},
		{"M/M/64 at 1.1", policy.Policy{}, 10_000, 64, 1.1, exponential, 20, 20, 20},
		{"more cores than jobs", policy.Policy{}, 200, 1000, 1.5, exponential, 5, 0, 0},
		{"in turns at 0.9", rr, 3000, 1, 0.9, exponential, 20, 0, 0},
		{"in turns at 1.3", rr, 3000, 1, 1.3, exponential, 20, 20, 20},
		{"shortest first at 0.9", policy.Policy{Order: "srtf"}, 3000, 1, 0.9, exponential, 20, 0, 0},
		{"shortest first at 1.3", policy.Policy{Order: "srtf"}, 3000, 1, 1.3, exponential, 20, 20, 20},
		{"too few to tell", policy.Policy{}, 99, 1, 5, exponential, 5, 0, 0},
	} {
		if c.top == 0 || c.low == c.seeds { // which a quarter of the seeds shows as well
			c.seeds = need.Cases(max(5, c.seeds/4), c.seeds)
			c.low, c.top = min(c.low, c.seeds), min(c.top, c.seeds)
		}
		saturated, offered := 0, 0.0
		for seed := range c.seeds {
			l := loaded(t, c.policy, c.n, c.cores, c.load, int64(seed), c.length)
			offered += l.Offered / float64(c.seeds)
			if l.Saturated {
				saturated++
			}
		}
		if saturated < c.low || saturated > c.top {
			t.Errorf("%s: %d of %d are saturated, want %d to %d", c.name, saturated, c.seeds, c.low, c.top)
		}
		if offered < 0.9*c.load || offered > 1.1*c.load {
			t.Errorf("%s: the offered load is %.3f on average", c.name, offered)
		}
	}
}

// If all jobs arrive at once, there is no offered load. If they arrive early and the queue empties, the cell is not
// saturated.
func TestBatchesAreNotSaturated(t *testing.T) {
	for _, late := range []time.Duration{0, time.Hour} {
		jobs := make([]scheduler.Job, 300)
		work := make([]simulated.Scaling, len(jobs))
		for i := range jobs {
			jobs[i] = scheduler.Job{Number: i, Name: fmt.Sprintf("job-%d", i), Threads: 1, Deadline: scheduler.Never,
				Predicted: time.Second}
			work[i] = simulated.FullRequest(time.Minute, 1)
		}
		jobs[299].Arrival = late
		engine, err := simulated.New(jobs, work, simulated.Options{})
		if err != nil {
			t.Fatal(err)
		}
		cluster := scheduler.Cluster{Nodes: []scheduler.Node{{Name: "n", Threads: 2}}}
		c := measure.NewCollector(measure.Setup{Cluster: cluster, Jobs: jobs})
		if _, err := (scheduler.Run{Policy: policy.Policy{}, Cluster: cluster, Jobs: jobs, Engine: engine, Recorder: c,
			EventsOnly: true}).Execute(context.Background()); err != nil {
			t.Fatal(err)
		}
		if l := c.Load(false); l.Saturated || (late == 0) == (l.Offered > 0) {
			t.Errorf("the last job at %s: %+v", late, l)
		}
	}
}

// The offered load is the load of the scarcer resource. Of four GPUs, jobs that need two of them for 10 and 20 s
// before the last one arrives at 20 s ask for 60 of 80 s; of eight cores for 30 of 160 s.
func TestOfferedLoadOfGPUs(t *testing.T) {
	s := measure.Setup{Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 8, GPUs: 4}}},
		Alone: []time.Duration{10 * second, 20 * second, 40 * second}}
	for i := range 3 {
		s.Jobs = append(s.Jobs, scheduler.Job{Number: i, Threads: 1, GPUs: 2, Arrival: time.Duration(i) * 10 * second})
	}
	for _, gpus := range []int{2, 0} {
		want := 0.75
		if gpus == 0 {
			want = 30.0 / 160
		}
		for i := range s.Jobs {
			s.Jobs[i].GPUs = gpus
		}
		if l := collect(s, nil).Load(false); l.Offered != want {
			t.Errorf("with %d GPUs a job the load is %v, want %v", gpus, l.Offered, want)
		}
	}
	s.Jobs = s.Jobs[:2]
	if l := collect(s, nil).Load(false); l.Offered != 10.0/80 {
		t.Errorf("of two jobs, the first of which asks for one of eight cores all of the time, the load is %v", l.Offered)
	}
}
