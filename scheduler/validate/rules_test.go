package validate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/validate"
)

// found validates events and returns the violations, except those about jobs without an end.
func found(c scheduler.Cluster, jobs []scheduler.Job, before func(*validate.Validator), events ...scheduler.Event) (all []string) {
	for i := range jobs {
		jobs[i].Number = i
	}
	v := validate.New(c, jobs, nil)
	if before != nil {
		before(v)
	}
	for _, e := range events {
		v.Event(&e)
	}
	for _, x := range v.Violations() {
		all = append(all, x.Text)
	}
	return all
}

func check(t *testing.T, name string, got []string, want ...string) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if strings.Contains(got[i], want[i]) {
			got[i] = want[i]
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s: %s", name, d)
	}
}

func cores(lo, hi int32) scheduler.CoreSet { return scheduler.CoreSet{{Lo: lo, Hi: hi}} }

func sec(n int) time.Duration { return time.Duration(n) * time.Second }

// The job has two workers on a core and a GPU each, and a parameter server without cores.
func TestPartsOfRoles(t *testing.T) {
	c := scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 2, GPUs: 1, GPU: "V100"}, {Threads: 2, GPUs: 1, GPU: "K80"}, {Threads: 2, GPUs: 1, GPU: "V100"}}}
	job := scheduler.Job{Name: "j", Threads: 2, GPUs: 2, Special: &scheduler.Special{Roles: []scheduler.Role{{Name: "ps", Count: 1}, {Name: "worker", Count: 2, Threads: 1, GPUs: 1, GPU: "V100"}}}}
	part := func(role string, task, node int, core, gpu int32) scheduler.Part {
		p := scheduler.Part{Role: role, Task: task, Node: node}
		if core >= 0 {
			p.Cores = cores(core, core+1)
		}
		if gpu >= 0 {
			p.GPUs = cores(gpu, gpu+1)
		}
		return p
	}
	ps, one, two := part("ps", 0, 0, -1, -1), part("worker", 0, 0, 0, 0), part("worker", 1, 2, 4, 2)
	both := scheduler.CoreSet{{Lo: 0, Hi: 1}, {Lo: 4, Hi: 5}}
	gpus := scheduler.CoreSet{{Lo: 0, Hi: 1}, {Lo: 2, Hi: 3}}
	for _, x := range []struct {
		name        string
		cores, gpus scheduler.CoreSet
		parts       []scheduler.Part
		want        []string
	}{
		{"whole", both, gpus, []scheduler.Part{ps, one, two}, nil},
		{"one twice", both, gpus, []scheduler.Part{ps, one, two, one}, []string{"has no part worker-0, or has it twice"}},
		{"an unknown role", both, gpus, []scheduler.Part{ps, one, two, part("chief", 0, 0, -1, -1)}, []string{"has no part chief-0"}},
		{"a task too many", both, gpus, []scheduler.Part{ps, one, two, part("ps", 1, 0, -1, -1)}, []string{"has no part ps-1"}},
		{"a task below 0", both, gpus, []scheduler.Part{ps, one, two, part("ps", -1, 0, -1, -1)}, []string{"has no part ps--1"}},
		{"no server", both, gpus, []scheduler.Part{one, two}, []string{"has 0 parts of role \"ps\", less than 1"}},
		{"one worker", cores(0, 1), cores(0, 1), []scheduler.Part{ps, one}, []string{"1 parts of role \"worker\", less than 2"}},
		{"a worker without its GPU", both, cores(0, 1), []scheduler.Part{ps, one, part("worker", 1, 2, 4, -1)}, []string{"part worker-1 of job \"j\" has 1 cores and 0 GPUs"}},
		{"the wrong type", scheduler.CoreSet{{Lo: 0, Hi: 1}, {Lo: 2, Hi: 3}}, cores(0, 2), []scheduler.Part{ps, one, part("worker", 1, 1, 2, 1)}, []string{"of the type \"K80\" instead of \"V100\""}},
		{"a server with a core", scheduler.CoreSet{{Lo: 0, Hi: 2}, {Lo: 4, Hi: 5}}, gpus, []scheduler.Part{part("ps", 0, 0, 1, -1), one, two}, []string{"part ps-0 of job \"j\" has 1 cores and 0 GPUs"}},
	} {
		check(t, x.name, found(c, []scheduler.Job{job}, nil, scheduler.Event{Kind: scheduler.Arrive},
			scheduler.Event{Kind: scheduler.Start, Cores: x.cores, GPUs: x.gpus, Layout: &cluster.Layout{Parts: x.parts}}), x.want...)
	}
	check(t, "no parts", found(c, []scheduler.Job{job}, nil, scheduler.Event{Kind: scheduler.Arrive},
		scheduler.Event{Kind: scheduler.Start, Cores: both, GPUs: gpus}), "has roles, but no parts")
	// An elastic role may lose parts down to its minimum number, but starts with all parts.
	job.Roles()[1].Elastic, job.Roles()[1].Min = true, 1
	whole := scheduler.Event{Kind: scheduler.Start, Cores: both, GPUs: gpus, Layout: &cluster.Layout{Parts: []scheduler.Part{ps, one, two}}}
	less := scheduler.Event{At: 1, Kind: scheduler.ResizeJob, Cores: cores(0, 1), GPUs: cores(0, 1), Layout: &cluster.Layout{Parts: []scheduler.Part{ps, one}}}
	none := scheduler.Event{At: 2, Kind: scheduler.ResizeJob, Layout: &cluster.Layout{Parts: []scheduler.Part{ps}}}
	arrive := scheduler.Event{Kind: scheduler.Arrive}
	check(t, "one less", found(c, []scheduler.Job{job}, nil, arrive, whole, less))
	check(t, "two less", found(c, []scheduler.Job{job}, nil, arrive, whole, less, none), "has 0 parts of role \"worker\", less than 1")
	less.Kind = scheduler.Start
	check(t, "starts with one", found(c, []scheduler.Job{job}, nil, arrive, less), "has 1 parts of role \"worker\", less than 2")
}

// A divided job holds its request in equal units, here a GPU with two cores.
func TestDividedJobs(t *testing.T) {
	c := scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 4, GPUs: 2, GPU: "V100"}, {Threads: 4, GPUs: 2, GPU: "K80"}, {Threads: 4, GPUs: 2, GPU: "V100"}}}
	for _, x := range []struct {
		name        string
		cores, gpus scheduler.CoreSet
		kind        string
		want        []string
	}{
		{"on one node", cores(0, 4), cores(0, 2), "", nil},
		{"less", cores(0, 2), cores(0, 1), "", []string{"gets 2 cores and 1 GPUs instead of 4 cores and 2 GPUs"}},
		{"cores apart from GPUs", scheduler.CoreSet{{Lo: 0, Hi: 3}, {Lo: 4, Hi: 5}}, scheduler.CoreSet{{Lo: 0, Hi: 1}, {Lo: 2, Hi: 3}}, "",
			[]string{"has 3 cores and 1 GPUs on node 0, which are no whole units of its 4 cores and 2 GPUs", "has 1 cores and 1 GPUs on node 1", "is on 2 nodes without parts"}},
		{"without parts", scheduler.CoreSet{{Lo: 0, Hi: 2}, {Lo: 4, Hi: 6}}, scheduler.CoreSet{{Lo: 0, Hi: 1}, {Lo: 2, Hi: 3}}, "", []string{"is on 2 nodes without parts"}},
		{"of its type", cores(0, 4), cores(0, 2), "V100", nil},
		{"of another type", cores(4, 8), cores(2, 4), "V100", []string{"is on node 1, whose GPUs are of the type \"K80\" instead of \"V100\""}},
	} {
		job := scheduler.Job{Name: "j", Threads: 4, GPUs: 2, Divided: true}
		if x.kind != "" {
			job.Own().Alternatives = []scheduler.Alternative{{Name: "gpu", Threads: 4, GPUs: 2, GPU: x.kind}}
		}
		check(t, x.name, found(c, []scheduler.Job{job}, nil, scheduler.Event{Kind: scheduler.Arrive}, scheduler.Event{Kind: scheduler.Start, Cores: x.cores, GPUs: x.gpus}), x.want...)
	}
	at := scheduler.Event{Kind: scheduler.Start, Cores: scheduler.CoreSet{{Lo: 0, Hi: 2}, {Lo: 4, Hi: 6}}, GPUs: scheduler.CoreSet{{Lo: 0, Hi: 1}, {Lo: 2, Hi: 3}}}
	left, right := scheduler.Part{Node: 0, Cores: cores(0, 2), GPUs: cores(0, 1)}, scheduler.Part{Node: 1, Cores: cores(4, 6), GPUs: cores(2, 3)}
	for _, x := range []struct {
		name  string
		parts []scheduler.Part
		want  []string
	}{
		{"two parts", []scheduler.Part{left, right}, nil},
		{"one part", []scheduler.Part{left}, []string{"", "", "has 1 parts on 2 nodes"}},
		{"one twice", []scheduler.Part{left, right, right}, []string{"", "", "", "has 3 parts on 2 nodes"}},
	} {
		at.Layout = &cluster.Layout{Parts: x.parts}
		got := found(c, []scheduler.Job{{Name: "j", Threads: 4, GPUs: 2, Divided: true}}, nil, scheduler.Event{Kind: scheduler.Arrive}, at)
		if len(x.want) == 0 && len(got) > 0 || len(x.want) > 0 && (len(got) == 0 || !strings.Contains(got[len(got)-1], x.want[len(x.want)-1])) {
			t.Errorf("%s: %q", x.name, got)
		}
	}
}

// An elastic job holds at least one GPU, and two cores with each GPU.
func TestElasticJobs(t *testing.T) {
	c := scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 8, GPUs: 4}, {Threads: 8, GPUs: 4}}}
	for _, x := range []struct {
		name        string
		cores, gpus scheduler.CoreSet
		want        []string
	}{
		{"as it asks", cores(0, 4), cores(0, 2), nil}, {"one", cores(0, 2), cores(0, 1), nil}, {"more", cores(0, 8), cores(0, 4), nil},
		{"none", cores(0, 2), nil, []string{"gets 2 cores and 0 GPUs, not 2 cores for each GPU"}},
		{"a core too many", cores(0, 3), cores(0, 1), []string{"gets 3 cores and 1 GPUs, not 2 cores for each GPU"}},
		{"on two nodes", scheduler.CoreSet{{Lo: 0, Hi: 2}, {Lo: 8, Hi: 10}}, scheduler.CoreSet{{Lo: 0, Hi: 1}, {Lo: 4, Hi: 5}}, []string{"is on 2 nodes without parts"}},
	} {
		job := scheduler.Job{Name: "j", Threads: 4, GPUs: 2, Elastic: true}
		check(t, x.name, found(c, []scheduler.Job{job}, nil, scheduler.Event{Kind: scheduler.Arrive}, scheduler.Event{Kind: scheduler.Start, Cores: x.cores, GPUs: x.gpus}), x.want...)
	}
}

// A node comes and goes while a job runs on it.
func TestLivesOfNodes(t *testing.T) {
	c := scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 1}, {Threads: 1, Supply: cluster.OnRequest}}}
	node := func(at int, kind scheduler.EventKind) scheduler.Event {
		e := scheduler.Event{At: sec(at), Kind: kind, Node: 1, Job: -1, Until: sec(9)}
		if kind == scheduler.NodeRequest {
			e.Server = &scheduler.Server{Created: sec(at)}
		}
		return e
	}
	gone := node(9, scheduler.NodeEnd)
	gone.Revoked = true
	early := gone
	early.At = sec(4)
	asked, up, warned := node(1, scheduler.NodeRequest), node(2, scheduler.NodeStart), node(4, scheduler.NodeWarning)
	arrive, start := scheduler.Event{Kind: scheduler.Arrive}, scheduler.Event{At: sec(3), Kind: scheduler.Start, Cores: cores(1, 2)}
	late := start
	late.At = sec(5)
	revoke := scheduler.Event{At: sec(9), Kind: scheduler.Revoke}
	finish := scheduler.Event{At: sec(9), Kind: scheduler.Finish}
	before := asked
	before.Server = &scheduler.Server{}
	for _, x := range []struct {
		name   string
		events []scheduler.Event
		want   []string
	}{
		{"a life", []scheduler.Event{arrive, asked, up, start, warned, gone, revoke}, nil},
		{"lost, and not noticed", []scheduler.Event{arrive, asked, up, start, warned, gone, finish}, []string{"continues, but its node was taken away"}},
		{"no server", []scheduler.Event{arrive, asked, start}, []string{"is on node 1, which has no server"}},
		{"started after a warning", []scheduler.Event{arrive, asked, up, warned, late}, []string{"starts on node 1, which is to be taken away"}},
		{"asked for twice", []scheduler.Event{asked, asked}, []string{"\"node_request\" happens to node 1, whose state does not allow it"}},
		{"up twice", []scheduler.Event{asked, up, up}, []string{"\"node_up\" happens to node 1, whose state does not allow it"}},
		{"up unasked", []scheduler.Event{up}, []string{"\"node_up\" happens to node 1, whose state does not allow it"}},
		{"warned twice", []scheduler.Event{asked, up, warned, warned}, []string{"\"node_warned\" happens to node 1, whose state does not allow it"}},
		{"warned before it is up", []scheduler.Event{asked, warned}, []string{"\"node_warned\" happens to node 1, whose state does not allow it"}},
		{"taken away too early", []scheduler.Event{asked, up, node(3, scheduler.NodeWarning), early}, []string{"is taken away before 9s, the instant in its warning"}},
		{"taken away without a warning", []scheduler.Event{asked, up, early}, nil},
		{"taken away before it is up", []scheduler.Event{asked, early}, []string{"\"node_down\" happens to node 1, whose state does not allow it"}},
		{"given back before it is up", []scheduler.Event{asked, node(3, scheduler.NodeEnd)}, nil},
		{"given back unasked", []scheduler.Event{node(3, scheduler.NodeEnd)}, []string{"\"node_down\" happens to node 1, whose state does not allow it"}},
		{"given back with a job", []scheduler.Event{arrive, asked, up, start, node(4, scheduler.NodeEnd)}, []string{"is given back while job \"j\" is on it"}},
		{"created before it is asked for", []scheduler.Event{before}, []string{"is created before it is requested"}},
		{"without a server", []scheduler.Event{{At: sec(1), Kind: scheduler.NodeRequest, Node: 1, Job: -1}}, []string{"is created before it is requested"}},
		{"a node that stands", []scheduler.Event{{Kind: scheduler.NodeStart, Node: 0, Job: -1}}, []string{"happens to node 0, which does not come and go"}},
		{"a node below 0", []scheduler.Event{{Kind: scheduler.NodeStart, Node: -1, Job: -1}}, []string{"happens to node -1, which does not come and go"}},
		{"a node too many", []scheduler.Event{{Kind: scheduler.NodeStart, Node: 2, Job: -1}}, []string{"happens to node 2, which does not come and go"}},
	} {
		check(t, x.name, found(c, []scheduler.Job{{Name: "j", Threads: 1}}, nil, x.events...), x.want...)
	}
}
