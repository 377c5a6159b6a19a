package policies_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
)

var update = flag.Bool("update", false, "write the golden file of the schedules")

// fates says of each job when it ended, and how often it was paused and resized: "52.5s p1 r2".
func fates(out scheduler.Outcome) string {
	var texts []string
	for _, j := range out.Jobs {
		texts = append(texts, fmt.Sprintf("%s p%d r%d", j.Finish.Round(time.Microsecond), j.Preemptions, j.Resizes))
	}
	return strings.Join(texts, ", ")
}

// elasticReasons collects the reasons of all decisions, each once, in their order.
type elasticReasons struct {
	elasticEvents
	seen  map[string]bool
	texts []string
}

func (r *elasticReasons) Decision(d *scheduler.Decision) {
	for _, p := range append(d.Passed, scheduler.Passed{Reason: d.Reason}) {
		if !r.seen[p.Reason] {
			r.seen[p.Reason] = true
			r.texts = append(r.texts, p.Reason)
		}
	}
}

// drawnTrainings returns random trainings, and nodes with GPUs of two types.
func drawnTrainings(random *rand.Rand) (nodes []scheduler.Node, runs []*amdahl, arrivals []time.Duration) {
	for i := range 2 + random.IntN(2) {
		n := 1 + random.IntN(4)
		nodes = append(nodes, scheduler.Node{Name: fmt.Sprint("n", i), Threads: n, GPUs: n, GPU: []string{"K80", "V100"}[random.IntN(2)]})
	}
	for range 3 + random.IntN(8) {
		runs = append(runs, &amdahl{work: 10 + 300*random.Float64(), serial: 0.5 * random.Float64(), limit: 1 + random.IntN(8),
			faster: map[string]float64{"V100": 1 + 2*random.Float64()}})
		arrivals = append(arrivals, time.Duration(random.IntN(120))*time.Second)
	}
	return nodes, runs, arrivals
}

// onCores runs malleable jobs on nodes without GPUs under an order, in rounds of 10 s.
func onCores(t *testing.T, order policy.Order, random *rand.Rand, more policy.Settings) (scheduler.Outcome, []string) {
	t.Helper()
	var c scheduler.Cluster
	for i := range 1 + random.IntN(3) {
		c.Nodes = append(c.Nodes, scheduler.Node{Name: fmt.Sprint("n", i), Threads: 2 + random.IntN(6), Memory: 10})
	}
	var jobs []scheduler.Job
	var work []simulated.Scaling
	for i := range 3 + random.IntN(8) {
		run := time.Duration(5+random.IntN(100)) * time.Second
		j := scheduler.Job{Number: i, Name: fmt.Sprint("j", i), Threads: 1 + random.IntN(c.Nodes[0].Threads), Predicted: run,
			Malleable: order != "tiresias" || random.IntN(4) > 0, Memory: int64(random.IntN(7)), Deadline: scheduler.Never,
			Arrival: time.Duration(random.IntN(60)) * time.Second}
		if random.IntN(2) == 0 {
			j.MaxThreads = j.Threads + random.IntN(6)
		}
		jobs = append(jobs, j)
		work = append(work, simulated.Scaling{Scaled: run, Threads: j.Threads, Parallel: 1})
	}
	engine, err := simulated.New(jobs, work, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	settings := policy.Settings{"rounds": 10 * time.Second}
	maps.Copy(settings, more)
	all := elasticReasons{seen: map[string]bool{}}
	out, err := scheduler.Run{Policy: policy.Policy{Order: order, Settings: settings}, Cluster: c, Jobs: jobs, Engine: engine,
		Recorder: &all, Until: time.Hour}.Execute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range validate.Trace(c, jobs, nil, all.elasticEvents, &out) {
		t.Errorf("%s: %s", order, v)
	}
	return out, all.texts
}

// TestSchedules: the orders produce the same schedules as before, on GPUs of two types and on cores.
func TestElasticSchedules(t *testing.T) {
	var text strings.Builder
	for _, order := range []policy.Order{"optimus", "pollux", "sia", "tiresias"} {
		for n := range uint64(12) {
			random := rand.New(rand.NewPCG(n, 41))
			more := policy.Settings{"restart_delay": time.Duration(n%3) * 7 * time.Second, "fairness": -0.5 - float64(n%2), "unserved": 1.1,
				"demotion": time.Duration(20+10*n) * time.Second, "promotion": float64(n % 3)}
			if order != "tiresias" {
				nodes, runs, arrivals := drawnTrainings(random)
				out, _ := train(t, order, nodes, runs, arrivals, more)
				fmt.Fprintf(&text, "%s on GPUs %d: %s\n", order, n, fates(out))
			}
			out, why := onCores(t, order, random, more)
			fmt.Fprintf(&text, "%s on cores %d: %s\n", order, n, fates(out))
			if n == 0 {
				fmt.Fprintf(&text, "\t%s\n", strings.Join(why, "\n\t"))
			}
		}
	}
	schedulertest.Text(t, "testdata/elastic_schedules.txt", text.String(), *update)
}
