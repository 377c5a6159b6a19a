package scheduler_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	. "github.com/tfexp/tfexp/scheduler"
)

// A gang is told which part of its grant is on which node; a plain job has one part.
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
