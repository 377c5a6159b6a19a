package scheduler

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// withRoles returns a job with a chief and one to three workers (two by default). Each worker has two cores and a GPU.
func withRoles() Job {
	return Job{Name: "roles", Threads: 5, GPUs: 2, Special: &Special{Roles: []Role{{Name: "chief", Count: 1, Threads: 1},
		{Name: "worker", Count: 2, Threads: 2, GPUs: 1, Elastic: true, Max: 3}}}}
}

// withAlternatives returns a job that takes two cores, or one core with a K80.
func withAlternatives() Job {
	return Job{Name: "ways", Threads: 2, Special: &Special{Alternatives: []Alternative{{Name: "cpu", Threads: 2},
		{Name: "gpu", Threads: 1, GPUs: 1, GPU: "K80"}}}}
}

// Invalid clusters, jobs and requests are refused, and valid ones are accepted.
func TestCheckAll(t *testing.T) {
	two := cluster.Cluster{Nodes: []cluster.Node{{Name: "a", Threads: 5, GPUs: 2, Memory: 8}, {Name: "b", Threads: 3, GPUs: 1, GPU: "K80"}}}
	gang := Job{Name: "gang", Threads: 4, Nodes: 2}
	plain := Job{Name: "plain", Threads: 2}
	asks := func(j Job, z Resize) func(*cluster.Cluster) ([]Job, []Resize) {
		return func(*cluster.Cluster) ([]Job, []Resize) { return []Job{j}, []Resize{z} }
	}
	is := func(j Job) func(*cluster.Cluster) ([]Job, []Resize) {
		return func(*cluster.Cluster) ([]Job, []Resize) { return []Job{j}, nil }
	}
	on := func(change func(*cluster.Node)) func(*cluster.Cluster) ([]Job, []Resize) {
		return func(c *cluster.Cluster) ([]Job, []Resize) { change(&c.Nodes[0]); return nil, nil }
	}
	const s = time.Second
	for _, c := range []struct {
		name    string
		of      func(*cluster.Cluster) ([]Job, []Resize)
		partial bool
		want    string // part of the error; "" for no error
	}{
		{"nothing", func(*cluster.Cluster) ([]Job, []Resize) { return nil, nil }, false, ""},
		{"less than no cores", on(func(n *cluster.Node) { n.Threads = -1 }), false, "negative capacity"},
		{"less than no GPUs", on(func(n *cluster.Node) { n.GPUs = -1 }), false, "negative capacity"},
		{"less than no memory", on(func(n *cluster.Node) { n.Memory = -1 }), false, "negative capacity"},
		{"a node without cores", on(func(n *cluster.Node) { *n = cluster.Node{} }), false, ""},
		{"no cores", func(c *cluster.Cluster) ([]Job, []Resize) { *c = cluster.Cluster{}; return nil, nil }, false, "no node has a core"},
		{"a malformed job", is(Job{}), false, "impossible request"},
		{"its number", is(Job{Number: 1, Threads: 1}), false, "number 1, but is listed at index 0"},
		{"as many cores as a node", is(Job{Threads: 5}), false, ""},
		{"more", is(Job{Name: "big", Threads: 6}), false, `more than the cluster has: job "big" asks for`},
		{"more, of which a part will do", is(Job{Threads: 6}), true, ""},
		{"of which this part will not do", is(Job{Threads: 9, MinThreads: 6}), true, "more than the cluster has"},
		{"a gang of which no part will do", is(Job{Threads: 10, Nodes: 2}), true, "more than the cluster has"},
		{"units of which no part will do", is(Job{Threads: 9, Divided: true}), true, "more than the cluster has"},
		{"a gang", is(gang), false, ""},
		{"roles", is(withRoles()), false, ""},
		{"alternatives", is(withAlternatives()), false, ""},
		{"of which a part will not do", is(withAlternatives()), true, "whole requests"},
		{"one alternative that fits", is(Job{Threads: 9, Special: &Special{Alternatives: []Alternative{{Threads: 9}, {Threads: 1}}}}),
			false, ""},
		{"none", is(Job{Threads: 6, Special: &Special{Alternatives: []Alternative{{Threads: 6}, {Threads: 1, GPU: "T4"}}}}),
			false, "more than the cluster has"},
		{"another request than the first", is(Job{Threads: 1, Special: &Special{Alternatives: []Alternative{{Threads: 2}}}}),
			false, "first alternative differs from its request"},
		{"other GPUs", is(Job{Threads: 2, GPUs: 1, Special: &Special{Alternatives: []Alternative{{Threads: 2}}}}),
			false, "first alternative differs from its request"},
		{"other memory", is(Job{Threads: 2, Memory: 1, Special: &Special{Alternatives: []Alternative{{Threads: 2}}}}),
			false, "first alternative differs from its request"},
		{"malleable", is(Job{Threads: 2, Malleable: true, Special: &Special{Alternatives: []Alternative{{Threads: 2}}}}),
			false, "cannot be malleable"},
		{"a malformed alternative", is(Job{Threads: 2, Special: &Special{Alternatives: []Alternative{{Threads: 2}, {Name: "x"}}}}),
			false, `alternative "x"`},
		{"a request", asks(plain, Resize{At: s, Threads: 1}), false, ""},
		{"at once", asks(plain, Resize{Threads: 1}), false, ""},
		{"before the start", asks(plain, Resize{At: -1, Threads: 1}), false, "threads or time are too small"},
		{"of no job", asks(plain, Resize{Job: 1, Threads: 1}), false, "no such job"},
		{"of less than no job", asks(plain, Resize{Job: -1, Threads: 1}), false, "no such job"},
		{"for nothing", asks(plain, Resize{}), false, "threads or time are too small"},
		{"of a gang", asks(gang, Resize{Threads: 2}), false, ""},
		{"for unlike nodes", asks(gang, Resize{Threads: 3}), false, "over 2 nodes"},
		{"of alternatives", asks(withAlternatives(), Resize{Threads: 1}), false, "with alternatives"},
		{"of roles", asks(withRoles(), Resize{Threads: 1}), false, "with roles"},
		{"for parts", asks(withRoles(), Resize{Role: "worker", Parts: 1}), false, ""},
		{"for all parts", asks(withRoles(), Resize{Role: "worker", Parts: 3}), false, ""},
		{"for no parts", asks(withRoles(), Resize{Role: "worker"}), false, "from 1 to 3 parts, not 0"},
		{"for too many", asks(withRoles(), Resize{Role: "worker", Parts: 4}), false, "from 1 to 3 parts, not 4"},
		{"for parts of no role", asks(withRoles(), Resize{Role: "ps", Parts: 1}), false, `no role "ps"`},
		{"for parts that stay", asks(withRoles(), Resize{Role: "chief", Parts: 1}), false, "not elastic"},
		{"for parts of no job", asks(withRoles(), Resize{Role: "worker", Job: 1, Parts: 1}), false, "no such job"},
		{"for parts of less than no job", asks(withRoles(), Resize{Role: "worker", Job: -1, Parts: 1}), false, "no such job"},
		{"for parts before the start", asks(withRoles(), Resize{Role: "worker", At: -1, Parts: 1, Threads: 1}), false,
			"threads or time are too small"},
		{"for more parts than the nodes have room for", func(c *cluster.Cluster) ([]Job, []Resize) {
			c.Nodes[1].GPUs = 0
			return []Job{withRoles()}, []Resize{{Role: "worker", Parts: 3}}
		}, false, "cannot have 3 parts"},
	} {
		on := cluster.Cluster{Nodes: slices.Clone(two.Nodes)}
		jobs, resizes := c.of(&on)
		switch err := CheckAll(on, jobs, resizes, c.partial); {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want one with %q", c.name, err, c.want)
		case errors.Is(err, ErrStuck) != strings.HasPrefix(c.want, "more than the cluster has"):
			t.Errorf("%s: stuck %v", c.name, errors.Is(err, ErrStuck))
		}
	}
}

// A request for parts of one role does not change the parts of other roles.
func TestAskParts(t *testing.T) {
	j := withRoles()
	on := cluster.Cluster{Nodes: []cluster.Node{{Threads: 9, GPUs: 9}}}
	if counts, err := j.AskParts("worker", 3, on); err != nil || !slices.Equal(counts, []int{1, 3}) {
		t.Errorf("%v, %v; want a chief and three workers", counts, err)
	}
	more := j.WithParts([]int{1, 3})
	if more.Threads != 7 || more.GPUs != 3 || more.Roles()[1].Count != 3 || j.Roles()[1].Count != 2 {
		t.Errorf("with three workers: %+v, %+v; before: %+v", more, more.Roles(), j.Roles())
	}
	j.Roles()[1].Min = 2
	if _, err := j.AskParts("worker", 1, on); err == nil {
		t.Error("fewer parts than the least are given")
	}
}

// Jobs and requests are sorted by time. At equal times, jobs are sorted by number, and requests by job.
func TestOrderOfTime(t *testing.T) {
	for _, c := range []struct {
		arrivals []time.Duration
		want     []int32
	}{
		{nil, []int32{}}, {[]time.Duration{5}, []int32{0}}, {[]time.Duration{1, 1, 2}, []int32{0, 1, 2}},
		{[]time.Duration{2, 1, 2, 1}, []int32{1, 3, 0, 2}}, {[]time.Duration{1, 3, 2}, []int32{0, 2, 1}},
	} {
		jobs := make([]Job, len(c.arrivals))
		for i, at := range c.arrivals {
			jobs[i].Arrival = at
		}
		if got := byArrival(jobs); !slices.Equal(got, c.want) {
			t.Errorf("arrivals at %d: %d, want %d", c.arrivals, got, c.want)
		}
	}
	asked := []Resize{{At: 2, Job: 0, Threads: 1}, {At: 1, Job: 1, Threads: 2}, {At: 1, Job: 0, Threads: 3}, {At: 1, Job: 1, Threads: 4}}
	got := ""
	for _, z := range resizesInOrder(asked) {
		got += fmt.Sprint(z.Threads)
	}
	if got != "3241" || asked[0].Threads != 1 {
		t.Errorf("in the order %s, want 3241; it was given as %v", got, asked)
	}
}

// A job that asks only for cores of one node is plain; a job that asks for anything else is not.
func TestPlain(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Job)
		plain  bool
	}{
		"cores": {func(*Job) {}, true}, "one node": {func(j *Job) { j.Nodes = 1 }, true},
		"retries": {func(j *Job) { j.Own().Retries = 1 }, true},
		"GPUs":    {func(j *Job) { j.GPUs = 1 }, false}, "memory": {func(j *Job) { j.Memory = 1 }, false},
		"nodes": {func(j *Job) { j.Nodes = 2 }, false}, "divided": {func(j *Job) { j.Divided = true }, false},
		"malleable": {func(j *Job) { j.Malleable = true }, false}, "elastic": {func(j *Job) { j.Elastic = true }, false},
		"roles":        {func(j *Job) { j.Own().Roles = make([]Role, 1) }, false},
		"alternatives": {func(j *Job) { j.Own().Alternatives = make([]Alternative, 1) }, false},
	} {
		j := Job{Threads: 2}
		if c.change(&j); j.Plain() != c.plain {
			t.Errorf("%s: plain %v", name, !c.plain)
		}
	}
}

// Within returns the time from arrival to deadline. If the deadline is not after the arrival, it returns a minimal
// time.
func TestWithin(t *testing.T) {
	for _, c := range []struct{ arrival, deadline, want time.Duration }{
		{5, 9, 4}, {5, 0, 0}, {5, -1, 0}, {5, math.MaxInt64, 0}, {5, 5, 1}, {5, 3, 1}, {0, 1, 1},
	} {
		if got := (&Job{Arrival: c.arrival, Deadline: c.deadline}).Within(); got != c.want {
			t.Errorf("from %d to %d: within %d, want %d", c.arrival, c.deadline, got, c.want)
		}
	}
}

// A job's request depends on the alternative.
func TestDemands(t *testing.T) {
	j := withAlternatives()
	j.Memory, j.Predicted, j.MaxThreads = 3, 7, 9
	if a := j.As(1); a.Name != "gpu" {
		t.Errorf("the second alternative is %+v", a)
	}
	if a := (&Job{Threads: 2, GPUs: 1, Memory: 3, Predicted: 7}).As(0); a.Threads != 2 || a.GPUs != 1 || a.Memory != 3 || a.Predicted != 7 {
		t.Errorf("a job without alternatives asks for %+v", a)
	}
	if d := j.DemandAs(1); d != (cluster.Demand{Threads: 1, GPUs: 1, GPU: "K80", Nodes: 1}) {
		t.Errorf("on a GPU it asks for %+v", d)
	}
	one := j.WithAlternative(j.As(1))
	if one.Threads != 1 || one.GPUs != 1 || one.Memory != 0 || one.MaxThreads != 0 || len(one.Alternatives()) != 0 ||
		len(j.Alternatives()) != 2 {
		t.Errorf("with one alternative: %+v of %+v", one, j)
	}
}
