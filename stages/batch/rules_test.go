package batch_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/batch"
)

// ask is a job: when it arrives, its cores, its run time and time limit, all times in seconds, and its submission.
type ask struct {
	at, cores, run, limit int
	sub                   scheduler.Submission
}

// startsOf runs jobs on nodes with 4 cores, and returns when each started first, in seconds.
func startsOf(t *testing.T, nodes int, settings policy.Settings, blocks []schema.Settings, asks []ask) (starts []float64) {
	t.Helper()
	var c scheduler.Cluster
	for i := range nodes {
		c.Nodes = append(c.Nodes, scheduler.Node{Name: fmt.Sprintf("n-%d", i+1), Threads: 4})
	}
	var jobs []scheduler.Job
	var work []simulated.Scaling
	for i, a := range asks {
		j := scheduler.Job{Number: i, Name: fmt.Sprint(i), Class: "job", Arrival: time.Duration(a.at) * time.Second,
			Threads: a.cores, Deadline: scheduler.Never, Predicted: time.Duration(a.limit) * time.Second, Divided: true}
		sub := a.sub
		sub.Limit = j.Predicted
		j.Own().Submission = &sub
		jobs = append(jobs, j)
		work = append(work, simulated.Scaling{Scaled: time.Duration(a.run) * time.Second, Threads: a.cores})
	}
	all := policy.Settings{"backfill_interval": 5 * time.Second, "backfill_resolution": time.Second, "submit_delay": time.Second}
	maps.Copy(all, settings)
	p := policy.Policy{Order: batch.Multifactor, Backfill: batch.Periodic, Settings: all, Blocks: blocks}.Complete()
	engine, err := simulated.New(jobs, work, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := scheduler.Run{Policy: p, Cluster: c, Jobs: jobs, Engine: engine}.Execute(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i := range out.Jobs {
		starts = append(starts, out.Jobs[i].FirstStart.Seconds())
	}
	return starts
}

func TestRules(t *testing.T) {
	reserved := []schema.Settings{{Name: "reservation", Label: "course", Args: map[string]any{"from": 100 * time.Second,
		"until": 200 * time.Second}}}
	down := []schema.Settings{{Name: "reservation", Label: "down", Args: map[string]any{"from": 100 * time.Second,
		"until": 200 * time.Second, "sudden": true}}}
	classes := []schema.Settings{{Name: "qos", Label: "low", Args: map[string]any{"usage_factor": 1.0}},
		{Name: "qos", Label: "high", Args: map[string]any{"preempts": []string{"low"}, "usage_factor": 1.0}}}
	low, high := scheduler.Submission{QOS: "low", Stays: true}, scheduler.Submission{QOS: "high"}
	preempts := policy.Settings{"preemption_by": "qos", "release_stopped": 3 * time.Second}
	tests := []struct {
		name     string
		nodes    int
		settings policy.Settings
		blocks   []schema.Settings
		asks     []ask
		want     []float64 // at the latest a second after
	}{
		{"nodes of a job that ended take jobs when it is removed, all of their cores", 1,
			policy.Settings{"release": 5 * time.Second}, nil,
			[]ask{{0, 2, 20, 60, low}, {0, 1, 90, 90, low}, {21, 1, 9, 60, low}}, []float64{0, 0, 25}},
		{"a job may ask for one of several features", 3, nil, []schema.Settings{
			{Name: "node_set", Label: "a", Args: map[string]any{"names": []string{"n-2"}, "features": []string{"a"}}},
			{Name: "node_set", Label: "b", Args: map[string]any{"names": []string{"n-3"}, "features": []string{"b"}}}},
			[]ask{{0, 4, 20, 60, scheduler.Submission{Features: []string{"a|b"}}}, {0, 4, 20, 60, scheduler.Submission{Features: []string{"c|a|b"}}},
				{0, 4, 20, 60, scheduler.Submission{Features: []string{"a|b"}}}}, []float64{0, 0, 20}},
		{"the nodes of a job may have to share one of several features", 4, nil, []schema.Settings{
			{Name: "node_set", Label: "a", Args: map[string]any{"names": []string{"n-1", "n-3"}, "features": []string{"a"}}},
			{Name: "node_set", Label: "b", Args: map[string]any{"names": []string{"n-2", "n-4"}, "features": []string{"b"}}}},
			[]ask{{0, 4, 20, 60, scheduler.Submission{Features: []string{"a"}}}, {0, 4, 30, 60, scheduler.Submission{Features: []string{"b"}}},
				{0, 8, 9, 60, scheduler.Submission{Features: []string{"[a|b]"}}}}, []float64{0, 0, 20}},
		{"jobs of a partition have their nodes for themselves, now and in plans", 2, nil, []schema.Settings{
			{Name: "partition", Label: "whole", Args: map[string]any{"exclusive": true}}, {Name: "partition", Label: "main"}},
			[]ask{{0, 1, 50, 60, scheduler.Submission{Partition: "whole"}}, {1, 1, 30, 60, scheduler.Submission{Partition: "main"}},
				{2, 1, 10, 20, scheduler.Submission{Partition: "whole"}}, {3, 2, 10, 60, scheduler.Submission{Partition: "main"}},
				{4, 2, 10, 60, scheduler.Submission{Partition: "main"}}}, []float64{0, 1, 31, 5, 15}},
		{"the end of a job asks for a look at the queue, though not at once", 1, policy.Settings{"look_at_ends": false,
			"submit_delay": 3 * time.Second, "backfill_interval": time.Minute}, nil,
			[]ask{{0, 4, 20, 60, low}, {18, 4, 9, 60, low}}, []float64{3, 23}},
		{"the first node of a job that gives way is released last", 2, preempts, classes,
			[]ask{{0, 8, 90, 90, low}, {20, 4, 9, 60, high}, {21, 4, 9, 60, high}}, []float64{0, 20, 23}},
		{"a job that would not end before a reservation waits", 1, nil, reserved,
			[]ask{{0, 1, 9, 60, low}, {50, 1, 9, 60, low}, {50, 1, 9, 40, low}}, []float64{0, 200, 50}},
		{"jobs of a reservation wait for it", 1, nil, reserved,
			[]ask{{0, 1, 9, 60, scheduler.Submission{Reservation: "course"}}, {120, 1, 9, 20, low}}, []float64{100, 200}},
		{"nobody knows of nodes that will fail", 1, nil, down,
			[]ask{{50, 1, 90, 90, low}, {120, 1, 9, 20, low}}, []float64{50, 200}},
		{"jobs that fill in do not get what others gave way for", 2, preempts, classes,
			[]ask{{0, 8, 90, 90, low}, {10, 8, 9, 60, high}, {10, 1, 9, 9, low}}, []float64{0, 13, 22}},
		{"ends of running jobs are grouped for reservations", 3, policy.Settings{"backfill_grouping": 30 * time.Second},
			nil, // the first group lasts to 90, so the third job is expected at 70, and the fourth ends before
			[]ask{{0, 4, 39, 40, low}, {0, 4, 69, 70, low}, {1, 8, 9, 60, low}, {2, 4, 9, 50, low}}, []float64{0, 0, 40, 5}},
		{"a job whose start is expected where a round stops planning delays no others", 2,
			policy.Settings{"backfill_window": time.Minute}, nil, // the round at 5 plans up to 65
			[]ask{{0, 4, 39, 64, low}, {2, 8, 9, 60, low}, {3, 1, 9, 90, low}}, []float64{0, 39, 5}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := startsOf(t, test.nodes, test.settings, test.blocks, test.asks)
			for i, want := range test.want {
				if got[i] < want || got[i] > want+1.01 {
					t.Errorf("the jobs start at %v, want %v", got, test.want)
					break
				}
			}
		})
	}
}

// TestWholeSeconds has jobs follow each other on a node. In a log of whole seconds, half of them end later than it says.
func TestWholeSeconds(t *testing.T) {
	var asks []ask
	for range 400 {
		asks = append(asks, ask{at: 0, cores: 4, run: 20, limit: 60})
	}
	for _, whole := range []bool{false, true} {
		starts := startsOf(t, 1, policy.Settings{"whole_seconds": whole}, nil, asks)
		slices.Sort(starts)
		later, sum := 0, 0.0
		for i := range starts[1:] {
			more := starts[i+1] - starts[i] - 20
			if more < -1e-6 || more >= 1 {
				t.Fatalf("a job starts %.3f s after the end of the one before", more)
			}
			if sum += more; more > 1e-6 {
				later++
			}
		}
		n := float64(len(starts) - 1) // the mean of the later half is a third of a second
		if part, mean := float64(later)/n, sum/n; whole && (math.Abs(part-0.5) > 0.08 || math.Abs(mean-1.0/6) > 0.03) || !whole && later > 0 {
			t.Errorf("whole_seconds = %t: %.2f of the jobs end later, in the mean by %.3f s", whole, part, mean)
		}
	}
}

// TestPhaseOfBackfill has backfill start a job: its periods begin at another part of a second than those of the checks of
// the queue, unless the start of the batch system is given.
func TestPhaseOfBackfill(t *testing.T) {
	for phase, together := range map[string]bool{"-7.3s": true, "random": false} {
		starts := startsOf(t, 1, policy.Settings{"phase": phase}, nil, []ask{{at: 0, cores: 2, run: 90, limit: 90}, {at: 1, cores: 4, run: 9, limit: 60},
			{at: 2, cores: 2, run: 10, limit: 20}})
		between := starts[2] - starts[0]
		if off := math.Abs(between - math.Round(between)); between > 15 || (off < 1e-6) != together {
			t.Errorf("phase %s: the jobs start at %v", phase, starts)
		}
	}
}
