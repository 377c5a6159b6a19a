package gavel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// reasons records decisions: the action, its job, its time and its reason.
type roundsReasons []string

func (*roundsReasons) Event(*scheduler.Event) {}
func (r *roundsReasons) Decision(d *scheduler.Decision) {
	*r = append(*r, fmt.Sprintf("%s %s %d: %s", d.At, d.Kind, d.Job, d.Reason))
}

// decided returns the decisions of the first 31 s, on GPUs with one node each.
func decided(t *testing.T, jobs []scheduler.Job, work []simulated.Scaling, packs bool, gpus ...string) roundsReasons {
	t.Helper()
	engine, err := simulated.New(jobs, work, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := packed()
	p.Settings["packing"] = packs
	var c scheduler.Cluster
	for _, gpu := range gpus {
		c.Nodes = append(c.Nodes, scheduler.Node{Name: gpu, Threads: 2, GPUs: 1, GPU: gpu})
	}
	var got roundsReasons
	_, err = scheduler.Run{Policy: p, Jobs: jobs, Engine: engine, Recorder: &got, Until: 31 * time.Second,
		Cluster: c}.Execute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestRoundsReasons has A and B share a GPU. C arrives at 5 s, has no known speed next to A or B, and runs alone in the
// round from 20 s. D runs alone, and moves to the fast GPU after E has ended there.
func TestRoundsReasons(t *testing.T) {
	a, workA := sharing(0, "a", 30*time.Second, map[string]float64{"b": 0.8})
	b, workB := sharing(1, "b", 30*time.Second, map[string]float64{"a": 0.8})
	c, workC := sharing(2, "c", 30*time.Second, nil)
	c.Arrival = 5 * time.Second
	got := decided(t, []scheduler.Job{a, b, c}, []simulated.Scaling{workA, workB, workC}, true, "v100")
	if want := (roundsReasons{
		"0s start 0: has the next place on v100", "0s start 1: shares v100 with a0",
		"20s pause 0: is not chosen for this round", "20s pause 1: is not chosen for this round",
		"20s start 2: has the next place on v100", "30s pause 2: is not chosen for this round",
		"30s resume 0: has the next place on v100", "30s resume 1: shares v100 with a0",
	}); !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	jobs, work := make([]scheduler.Job, 2), make([]simulated.Scaling, 2)
	for i, times := range [][]time.Duration{{5 * time.Second, 50 * time.Second}, {10 * time.Second, 20 * time.Second}} {
		jobs[i] = scheduler.Job{Number: i, Name: []string{"e", "d"}[i], Threads: 1, GPUs: 1, Deadline: scheduler.Never}
		for k, run := range times {
			gpu := []string{"fast", "slow"}[k]
			jobs[i].Own().Alternatives = append(jobs[i].Alternatives(), scheduler.Alternative{Name: gpu, Threads: 1,
				GPUs: 1, GPU: gpu, Predicted: run})
			work[i].AddAlternative(simulated.FullRequest(run, 1))
		}
	}
	got = decided(t, jobs, work, false, "fast", "slow")
	if want := (roundsReasons{
		"0s start 0: has the next place on fast", "0s start 1: has the next place on slow",
		"10s pause 1: goes on with fast in this round", "10s resume 1: has the next place on fast",
	}); !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

// TestBlindToNoType checks that cores are a device type if a job can run without GPUs.
func TestBlindToNoType(t *testing.T) {
	for gpus, ok := range map[int]bool{0: true, 1: false} {
		jobs := []scheduler.Job{{Name: "a", Threads: 1, GPUs: gpus, Predicted: time.Second, Deadline: scheduler.Never}}
		engine, err := simulated.New(jobs, []simulated.Scaling{simulated.FullRequest(time.Second, 1)},
			simulated.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = scheduler.Run{Policy: policy.Policy{Order: "max_min",
			Settings: policy.Settings{"rounds": time.Second, "blind": "cores"}},
			Cluster: clusterOf(1), Jobs: jobs, Engine: engine}.Execute(t.Context())
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "is not a type of device") {
			t.Errorf("with %d GPUs: %v", gpus, err)
		}
	}
}
