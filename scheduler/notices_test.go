package scheduler_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
)

// A gang receives the part of its grant on each node; a plain job has one part.
func TestPartsOfGrants(t *testing.T) {
	c := Cluster{Nodes: []Node{{Threads: 2, GPUs: 1}, {Threads: 4}, {Threads: 4, GPUs: 2}}}
	gang := at(0, 4, 1)
	gang.Nodes, gang.GPUs = 2, 2
	plain := at(0, 3, 1)
	out, tr := simulate(t, Run{Cluster: c, Jobs: number([]Job{gang, plain})}, nil)
	if out.Jobs[0].State != Finished || out.Jobs[1].State != Finished {
		t.Fatal(out)
	}
	parts := map[int][]Part{}
	for _, e := range tr.events {
		if e.Kind == Start {
			g := Grant{Cores: e.Cores, GPUs: e.GPUs, Layout: e.Layout}
			parts[e.Job] = g.Parts(c)
		}
	}
	want := map[int][]Part{
		0: {
			{Node: 0, Cores: CoreSet{{Lo: 0, Hi: 2}}, GPUs: CoreSet{{Lo: 0, Hi: 1}}},
			{Node: 2, Task: 1, Cores: CoreSet{{Lo: 6, Hi: 8}}, GPUs: CoreSet{{Lo: 1, Hi: 2}}},
		},
		1: {{Node: 1, Cores: CoreSet{{Lo: 2, Hi: 5}}}},
	}
	if d := cmp.Diff(want, parts); d != "" {
		t.Error(d)
	}
}

// Notices of one instant are handled in a fixed order, whatever the order in which the engine returns them.
func TestNoticesOfAnInstant(t *testing.T) {
	want := []Notice{
		{At: 1, Kind: JobProgress, Job: 9},
		{At: 2, Kind: JobEnded, Job: 1}, {At: 2, Kind: JobEnded, Job: 3},
		{At: 2, Kind: NodeDown, Node: 5}, {At: 2, Kind: NodeWarned, Node: 0}, {At: 2, Kind: NodeWarned, Node: 4},
		{At: 2, Kind: NodeUp}, {At: 2, Kind: JobProgress},
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	if slices.SortFunc(got, CompareNotices); !reflect.DeepEqual(got, want) {
		t.Errorf("%v instead of %v", got, want)
	}
}

// A cluster with nodes that come and go is refused with their names if the policy cannot handle that.
func TestNodesThatComeAndGoAreRefused(t *testing.T) {
	for kind, want := range map[NoticeKind]string{NodeUp: `"node up" for node 2`, NodeWarned: "node warned",
		NodeDown: "node down", 77: "notice 77"} {
		jobs := number([]Job{at(0, 1, 1)})
		engine := newFlaky(t, jobs)
		engine.ends = func([]Notice) []Notice { return []Notice{{Kind: kind, At: time.Millisecond, Node: 2}} }
		_, err := Run{Policy: Policy{}, Cluster: one(1), Jobs: jobs, Engine: engine}.Execute(context.Background())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
