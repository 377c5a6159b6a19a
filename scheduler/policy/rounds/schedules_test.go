package rounds_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/schedulertest"
	"github.com/tfexp/tfexp/scheduler/shares"
	"github.com/tfexp/tfexp/scheduler/validate"
)

var update = flag.Bool("update", false, "write the golden file of the schedules")

// TestSchedules: the orders come to the schedules that they came to before, on GPUs of up to three types and on cores,
// with each of their settings.
func TestSchedules(t *testing.T) {
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
			var c scheduler.Cluster
			for i := range 3 {
				gpus := 1 + random.IntN(3)
				c.Nodes = append(c.Nodes, scheduler.Node{Name: fmt.Sprint(i), Threads: gpus + random.IntN(3), GPUs: gpus, GPU: types[i]})
			}
			var jobs []scheduler.Job
			var work []simulated.Scaling
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
				for _, gpu := range types {
					if random.IntN(5) == 0 && gpu != "v100" {
						continue
					}
					run := time.Duration(5+random.IntN(120)) * time.Second
					ways = append(ways, scheduler.Alternative{Name: gpu, Threads: 1, GPUs: 1, GPU: gpu, Predicted: run, Beside: keeps})
					w.AddAlternative(beside(simulated.FullRequest(run, 1), keeps))
				}
				if random.IntN(6) == 0 && !blind {
					run := time.Duration(20+random.IntN(60)) * time.Second
					ways = append(ways, scheduler.Alternative{Name: "cpu", Threads: 1, Predicted: run})
					w.AddAlternative(simulated.FullRequest(run, 1))
				}
				j.Threads, j.GPUs = ways[0].Threads, ways[0].GPUs
				own.Alternatives = ways
				jobs, work = append(jobs, j), append(work, w)
			}
			engine, err := simulated.New(jobs, work, simulated.Options{})
			if err != nil {
				t.Fatal(err)
			}
			check := validate.New(c, jobs, nil)
			out, err := scheduler.Run{Policy: policy.Policy{Order: policy.Order(k.Name), Settings: settings}, Cluster: c, Jobs: jobs, Engine: engine,
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
	schedulertest.Text(t, "testdata/schedules.txt", text.String(), *update)
}
