package gavel_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
	"github.com/tfexp/tfexp/stages/gavel/shares"
)

var update = flag.Bool("update", false, "write the golden file of the schedules")

// TestRoundsSchedules checks that the orders make the recorded schedules, on GPUs of up to three types and on cores,
// with each setting.
func TestRoundsSchedules(t *testing.T) {
	var text strings.Builder
	for _, k := range shares.All() {
		for n := range uint64(8) {
			random := rand.New(rand.NewPCG(n, 61))
			settings := policy.Settings{"rounds": 10 * time.Second, "recompute": time.Duration(n%3) * 15 * time.Second}
			if n%4 == 1 {
				settings["give_back"] = "at_once"
			}
			if k.Tolerance && n%2 == 1 {
				settings["tolerance"] = 0.05
			}
			if k.Prices {
				settings["prices"] = []string{"v100=2.5", "k80 = 0.5"}
			}
			blind := n%4 == 3
			if blind {
				settings["blind"], settings["type_seed"] = "v100", int(n)
			} else if k.Packs && n%2 == 0 {
				settings["packing"] = true
			}
			c, jobs, work := drawn(random, blind, false)
			engine, err := simulated.New(jobs, work, simulated.Options{})
			if err != nil {
				t.Fatal(err)
			}
			check := validate.New(c, jobs, nil)
			out, err := scheduler.Run{Policy: policy.Policy{Order: k.Name, Settings: settings}, Cluster: c, Jobs: jobs, Engine: engine,
				Recorder: check, EventsOnly: true, Until: time.Hour}.Execute(t.Context())
			if err != nil {
				t.Fatalf("%s %d: %v", k.Name, n, err)
			}
			for _, v := range check.Violations() {
				t.Errorf("%s %d: %s: %s", k.Name, n, v.At, v.Text)
			}
			fmt.Fprintf(&text, "%s %d:", k.Name, n)
			for _, r := range out.Jobs {
				fmt.Fprintf(&text, " %s w%d p%d", r.Finish.Round(time.Millisecond), r.Alternative, r.Preemptions)
			}
			fmt.Fprintln(&text)
		}
	}
	schedulertest.Text(t, "testdata/rounds_schedules.txt", text.String(), *update)
}

// drawn returns random jobs on GPUs of up to three types and on cores. blind means for an order that does not know the
// types; with memory, jobs may need memory.
func drawn(random *rand.Rand, blind, memory bool) (c scheduler.Cluster, jobs []scheduler.Job, work []simulated.Scaling) {
	for i := range 3 {
		gpus := 1 + random.IntN(3)
		c.Nodes = append(c.Nodes, scheduler.Node{Name: fmt.Sprint(i), Threads: gpus + random.IntN(3), GPUs: gpus, GPU: types[i]})
		if memory {
			c.Nodes[i].Memory = 10
		}
	}
	for i := range 3 + random.IntN(7) {
		j := scheduler.Job{Number: i, Name: fmt.Sprint("j", i), Class: []string{"a", "b"}[random.IntN(2)], Threads: 1, GPUs: 1,
			Arrival: time.Duration(random.IntN(60)) * time.Second, Deadline: scheduler.Never}
		own := j.Own()
		own.Weight, own.Units = float64(random.IntN(3)), float64(random.IntN(3))*500
		if random.IntN(2) == 0 {
			j.Deadline = j.Arrival + time.Duration(60+random.IntN(200))*time.Second
		}
		keeps := map[string]float64{"a": 0.4 + 0.6*random.Float64(), "b": 0.4 + 0.6*random.Float64()}
		var w simulated.Scaling
		var ways []scheduler.Alternative
		gpus := 1
		if memory {
			gpus += random.IntN(min(2, c.Nodes[0].GPUs))
		}
		for _, gpu := range types {
			if random.IntN(5) == 0 && gpu != "v100" {
				continue
			}
			run := time.Duration(5+random.IntN(120)) * time.Second
			ways = append(ways, scheduler.Alternative{Name: gpu, Threads: 1, GPUs: gpus, GPU: gpu, Predicted: run, Beside: keeps})
			w.AddAlternative(beside(simulated.FullRequest(run, 1), keeps))
		}
		if random.IntN(6) == 0 && !blind {
			run := time.Duration(20+random.IntN(60)) * time.Second
			ways = append(ways, scheduler.Alternative{Name: "cpu", Threads: 1, Predicted: run})
			w.AddAlternative(simulated.FullRequest(run, 1))
		}
		for i := range ways {
			if memory {
				ways[i].Memory = int64(random.IntN(9))
			}
		}
		j.Threads, j.GPUs = ways[0].Threads, ways[0].GPUs
		j.Memory, own.Alternatives = ways[0].Memory, ways
		jobs, work = append(jobs, j), append(work, w)
	}
	return c, jobs, work
}

// TestRoundsNoJobOfAnyMemoryStarves checks, for each order, that every job runs. A paused job keeps its memory, and a
// job that waits for this memory is not picked in its place.
func TestRoundsNoJobOfAnyMemoryStarves(t *testing.T) {
	for _, k := range shares.All() {
		for n := range uint64(40) {
			settings := policy.Settings{"rounds": 10 * time.Second, "recompute": time.Duration(n%3) * 15 * time.Second}
			if n%4 == 1 {
				settings["give_back"] = "at_once"
			}
			blind := n%4 == 3
			if blind {
				settings["blind"], settings["type_seed"] = "v100", int(n)
			} else if k.Packs && n%2 == 0 {
				settings["packing"] = true
			}
			c, jobs, work := drawn(rand.New(rand.NewPCG(n, 67)), blind, true)
			engine, err := simulated.New(jobs, work, simulated.Options{})
			if err != nil {
				t.Fatal(err)
			}
			check := validate.New(c, jobs, nil)
			out, err := scheduler.Run{Policy: policy.Policy{Order: k.Name, Settings: settings}, Cluster: c, Jobs: jobs,
				Engine: engine, Recorder: check, EventsOnly: true, Until: 2 * time.Hour}.Execute(t.Context())
			if err != nil {
				t.Errorf("%s %d: %v", k.Name, n, err)
			}
			for _, v := range check.Violations() {
				t.Errorf("%s %d: %s: %s", k.Name, n, v.At, v.Text)
			}
			for i, j := range out.Jobs {
				if err == nil && j.State != scheduler.Finished {
					t.Errorf("%s %d: job %d is %s", k.Name, n, i, j.State)
				}
			}
		}
	}
}

// TestRoundsAPausedJobKeepsItsMemory: A and B need 6 of 10 bytes each; C arrives at 4.5 s and needs 4. From 1 s on, B
// has run less than A. But a paused job keeps its memory, so B could not start: A continues, and C has the next round.
//
//	t:  0 1 2 3 4 5 6 7 8 9 10 11
//	    A A A A A C A A A A A  B B B
func TestRoundsAPausedJobKeepsItsMemory(t *testing.T) {
	var jobs []scheduler.Job
	var work []simulated.Scaling
	for i, run := range []time.Duration{10 * time.Second, 3 * time.Second, time.Second} {
		jobs = append(jobs, scheduler.Job{Number: i, Name: fmt.Sprint(i), Threads: 1, Memory: []int64{6, 6, 4}[i], Predicted: run,
			Arrival: []time.Duration{0, 500 * time.Millisecond, 4500 * time.Millisecond}[i], Deadline: scheduler.Never})
		work = append(work, simulated.FullRequest(run, 1))
	}
	engine, err := simulated.New(jobs, work, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := scheduler.Run{
		Policy:  policy.Policy{Order: "max_min", Settings: policy.Settings{"rounds": time.Second}},
		Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 1, Memory: 10}}}, Jobs: jobs, Engine: engine,
	}.Execute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{11 * time.Second, 14 * time.Second, 6 * time.Second} {
		if got := out.Jobs[i].Finish; got != want {
			t.Errorf("job %d ends at %s, want %s", i, got, want)
		}
	}
}

// TestGlobalQueue has one job, to which max_min gives all time of the fast GPU; the hardware lists a slow GPU first.
// With a global queue the job runs for 20 s on the fast GPU. Type after type, it takes the free slow GPU in each round,
// and needs 80 s.
func TestGlobalQueue(t *testing.T) {
	for global, want := range map[bool]time.Duration{false: 80 * time.Second, true: 20 * time.Second} {
		j := scheduler.Job{Name: "a", Threads: 1, GPUs: 1, Deadline: scheduler.Never}
		own := j.Own()
		var w simulated.Scaling
		for i, gpu := range []string{"slow", "fast"} {
			run := []time.Duration{80 * time.Second, 20 * time.Second}[i]
			own.Alternatives = append(own.Alternatives,
				scheduler.Alternative{Name: gpu, Threads: 1, GPUs: 1, GPU: gpu, Predicted: run})
			w.AddAlternative(simulated.FullRequest(run, 1))
		}
		jobs := []scheduler.Job{j}
		engine, err := simulated.New(jobs, []simulated.Scaling{w}, simulated.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out, err := scheduler.Run{
			Policy:  policy.Policy{Order: "max_min", Settings: policy.Settings{"rounds": 10 * time.Second, "global_queue": global}},
			Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 1, GPUs: 1, GPU: "slow"}, {Threads: 1, GPUs: 1, GPU: "fast"}}},
			Jobs:    jobs, Engine: engine,
		}.Execute(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := out.Jobs[0].Finish; got != want {
			t.Errorf("global_queue = %t: the job ends at %s, want %s", global, got, want)
		}
	}
}
