package measure

import (
	"math"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// Metrics are sorted by rank and name. Each view shows them by their place in this view.
func TestOrderOfMetrics(t *testing.T) {
	all := AllMetrics()
	for i := 1; i < len(all); i++ {
		if a, b := all[i-1], all[i]; a.Rank > b.Rank || a.Rank == b.Rank && a.Name >= b.Name {
			t.Errorf("%s, rank %d, is before %s, rank %d", a.Name, a.Rank, b.Name, b.Rank)
		}
	}
	for name, place := range map[string]func(Shown) int{"cells": InCells, "summary": InSummary, "fidelity": InFidelity} {
		shown := ShownIn(place)
		for i := range shown {
			if at := place(shown[i].Shown); at == 0 || i > 0 && at < place(shown[i-1].Shown) {
				t.Errorf("%s: %s has place %d", name, shown[i].Name, at)
			}
		}
	}
	var v Metrics
	for text, want := range map[string]float64{"2.5": 2.5, "": math.NaN()} {
		if err := MeanJCT.Read(&v, text); err != nil || MeanJCT.Of(&v) != want && !math.IsNaN(want) || math.IsNaN(want) != math.IsNaN(MeanJCT.Of(&v)) {
			t.Errorf("%q is %g: %v", text, MeanJCT.Of(&v), err)
		}
	}
	if err := MeanJCT.Read(&v, "x"); err == nil {
		t.Error("a word is a number")
	}
}

// TestStoppedJobsHaveFailed: stopped jobs count as failed. A reader of the outcomes may end the loop at any job.
func TestStoppedJobsHaveFailed(t *testing.T) {
	s := Setup{Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 3}}}}
	for i, name := range []string{"a", "b", "c"} {
		s.Jobs = append(s.Jobs, scheduler.Job{Number: i, Name: name, Threads: 1})
	}
	c := NewCollector(s)
	for i, end := range []scheduler.EventKind{scheduler.Finish, scheduler.Fail, scheduler.Stop} {
		c.Event(&scheduler.Event{Kind: scheduler.Arrive, Job: i})
		c.Event(&scheduler.Event{Kind: scheduler.Start, Job: i, Cores: scheduler.CoreSet{{Lo: int32(i), Hi: int32(i) + 1}}})
		c.Event(&scheduler.Event{Kind: end, Job: i, At: time.Second})
	}
	if got := c.totals(); got.Failed != 2 || got.Finished != 1 || got.Jobs != 3 {
		t.Errorf("%d failed, %d finished of %d", got.Failed, got.Finished, got.Jobs)
	}
	var names string
	for o := range c.totals().Outcomes() {
		if names += o.Job; len(names) == 2 {
			break
		}
	}
	if names != "ab" {
		t.Errorf("%q", names)
	}
}

// A GPU belongs to the node with its number: the numbers of a node end where the numbers of the next one begin.
func TestTypedNodes(t *testing.T) {
	s := Setup{Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{GPUs: 2, GPU: "K80"}, {GPUs: 1}, {}, {GPUs: 1, GPU: "V100"}}}}
	for gpu, want := range []int32{1, 1, 0, 4, 0} {
		if got := s.typedNode(scheduler.CoreSet{{Lo: int32(gpu), Hi: int32(gpu) + 1}}); got != want {
			t.Errorf("GPU %d is on node %d, want %d", gpu, got, want)
		}
	}
	if s.typedNode(nil) != 0 {
		t.Error("no GPU has a type")
	}
	for name, want := range map[string]bool{"gpu:V100": true, "V100": false, ":V100": true, "gpu:XV100": false, "gpuV100": false, "gpu": false} {
		if got := hasType(name, "V100"); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if hasType("gpu:", "") {
		t.Error("no type is in the name")
	}
}
