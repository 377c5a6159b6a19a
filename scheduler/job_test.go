package scheduler

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Each invalid property of a job is a separate error, and valid jobs are accepted.
func TestCheck(t *testing.T) {
	roles := func(change func(*Role)) func(*Job) {
		return func(j *Job) {
			j.Threads, j.GPUs = 5, 2
			j.Own().Roles = []Role{{Name: "chief", Count: 1, Threads: 1}, {Name: "worker", Count: 2, Threads: 2, GPUs: 1, Min: 1}}
			change(&j.Roles()[1])
		}
	}
	for _, c := range []struct {
		name   string
		change func(*Job)
		want   string // part of the error; "" for no error
	}{
		{"plain", func(*Job) {}, ""},
		{"number", func(j *Job) { j.Number = 2 }, "number 2, but is listed at index 1"},
		{"threads", func(j *Job) { j.Threads = 0 }, "impossible request"},
		{"GPUs", func(j *Job) { j.GPUs = -1 }, "impossible request"},
		{"memory", func(j *Job) { j.Memory = -1 }, "impossible request"},
		{"nodes", func(j *Job) { j.Nodes = -1 }, "impossible request"},
		{"retries", func(j *Job) { j.Own().Retries = -1 }, "impossible request"},
		{"arrival", func(j *Job) { j.Arrival = -1 }, "before the start"},
		{"least below 0", func(j *Job) { j.MinThreads = -1 }, "outside its limits"},
		{"least above", func(j *Job) { j.MinThreads = 5 }, "outside its limits"},
		{"least", func(j *Job) { j.MinThreads = 4 }, ""},
		{"most below", func(j *Job) { j.MaxThreads = 3 }, "outside its limits"},
		{"most", func(j *Job) { j.MaxThreads = 4 }, ""},
		{"a gang", func(j *Job) { j.Nodes, j.GPUs = 2, 2 }, ""},
		{"a gang of unlike threads", func(j *Job) { j.Nodes = 3 }, "over 3 nodes"},
		{"a gang of unlike GPUs", func(j *Job) { j.Nodes, j.GPUs = 2, 1 }, "over 2 nodes"},
		{"divided", func(j *Job) { j.Divided = true }, ""},
		{"divided and malleable", func(j *Job) { j.Divided, j.Malleable = true, true }, "divided"},
		{"divided and elastic", func(j *Job) { j.Divided, j.Elastic = true, true }, "divided"},
		{"divided gang", func(j *Job) { j.Divided, j.Nodes = true, 2 }, "divided"},
		{"roles", roles(func(*Role) {}), ""},
		{"divided with roles", func(j *Job) { roles(func(*Role) {})(j); j.Divided = true }, "divided"},
		{"no part", roles(func(r *Role) { r.Count = 0 }), "impossible request: "},
		{"role's threads", roles(func(r *Role) { r.Threads = -1 }), "impossible request: "},
		{"role's GPUs", roles(func(r *Role) { r.GPUs = -1 }), "impossible request: "},
		{"role's least", roles(func(r *Role) { r.Min = -1 }), "impossible request: "},
		{"role's least above", roles(func(r *Role) { r.Min = 3 }), "impossible request: "},
		{"role's all", roles(func(r *Role) { r.Min = 2 }), ""},
		{"role's most", roles(func(r *Role) { r.Max = -1 }), "impossible request: "},
		{"other threads", roles(func(r *Role) { r.Threads = 3 }), "not add up to its request"},
		{"other GPUs", roles(func(r *Role) { r.GPUs = 0 }), "not add up to its request"},
		{"malleable roles", func(j *Job) { roles(func(*Role) {})(j); j.Malleable = true }, "not add up to its request"},
		{"roles with memory", func(j *Job) { roles(func(*Role) {})(j); j.Memory = 1 }, "not add up to its request"},
		{"a gang of roles", func(j *Job) {
			roles(func(r *Role) { r.Threads = 1; r.Count = 3; r.GPUs = 2 })(j)
			j.Threads, j.GPUs, j.Nodes = 4, 6, 2
		}, "not add up to its request"},
		{"alternatives of roles", func(j *Job) {
			roles(func(*Role) {})(j)
			j.Own().Alternatives = []Alternative{{Threads: 1}}
		}, "not add up to its request"},
	} {
		j := Job{Number: 1, Name: "j", Threads: 4}
		c.change(&j)
		switch err := j.Check(1); {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want one with %q", c.name, err, c.want)
		}
	}
}

// The needs of a job's parts add up to its whole request, and no part is larger than the need per node.
func TestNeeds(t *testing.T) {
	for _, c := range []struct {
		job   Job
		want  cluster.Room
		nodes int
	}{
		{Job{Threads: 4, GPUs: 2, Memory: 7}, cluster.Room{Cores: 4, GPUs: 2, Memory: 7}, 1},
		{Job{Threads: 4, GPUs: 2, Memory: 7, Nodes: 2}, cluster.Room{Cores: 2, GPUs: 1, Memory: 4}, 2},
		{Job{Threads: 4, GPUs: 2, Memory: 7, Divided: true}, cluster.Room{Cores: 2, GPUs: 1, Memory: 4}, 2},
		{Job{Threads: 3, Memory: 7, Divided: true}, cluster.Room{Cores: 1, Memory: 3}, 3},
	} {
		need, n := c.job.Needs(int32(c.job.Threads))
		if need != c.want || n != c.nodes {
			t.Errorf("%+v needs %+v on %d nodes", c.job, need, n)
		}
	}
	j := Job{Special: &Special{Roles: []Role{{Count: 1, Threads: 3}, {Count: 2, Threads: 1, GPUs: 2}}}}
	if need, n := j.Needs(5); need.Cores != 3 || need.GPUs != 2 || n != 3 || len(need.Parts.Each) != 3 {
		t.Errorf("roles need %+v on %d nodes", need, n)
	}
}

// A job continues without parts of elastic roles that are not vital, as long as the minimum number is left.
func TestSurvives(t *testing.T) {
	j := Job{Special: &Special{Roles: []Role{{Name: "chief", Count: 1}, {Name: "worker", Count: 3, Elastic: true, Min: 2}, {Name: "ps", Count: 1,
		Elastic: true, Vital: true}, {Name: "extra", Count: 1, Elastic: true}}}}
	parts := []cluster.Part{{Role: "chief", Node: 0}, {Role: "worker", Node: 1}, {Role: "worker", Task: 1, Node: 2},
		{Role: "worker", Task: 2, Node: 2}, {Role: "ps", Node: 3}, {Role: "extra", Node: 4}}
	for node, want := range []bool{false, true, false, false, true, true} {
		if j.Survives(parts, node) != want {
			t.Errorf("the loss of node %d: survives %v", node, !want)
		}
	}
}

// Long lists are cut, and end with the number of elements that are not shown.
func TestList(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "0", 2: "0; 1", 8: "0; 1; 2; 3; 4; 5; 6; 7", 10: "0; 1; 2; 3; 4; 5; 6; 7; and 2 more"} {
		var l shortList
		for i := range n {
			l.Add(fmt.Sprint(i))
		}
		if got := l.String(); got != want {
			t.Errorf("%d items: %q", n, got)
		}
	}
}

// TestPartsAreAddedOrDropped checks that for each role a job either lacks parts or has too many, but not both. It keeps
// as many of its parts as its roles need.
func TestPartsAreAddedOrDropped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := Job{Special: &Special{Roles: []Role{{Name: "ps"}, {Name: "worker"}}}}
		var held []cluster.Part
		counts := map[string]int{}
		for i := range j.Roles() {
			r := &j.Roles()[i]
			r.Count = rapid.IntRange(1, 4).Draw(t, "count")
			for task := range 5 {
				if task == 0 || rapid.Bool().Draw(t, "held") {
					held = append(held, cluster.Part{Role: r.Name, Task: task})
					counts[r.Name]++
				}
			}
		}
		keep, drop := j.surplus(held)
		lacks := j.Missing(keep)
		for _, r := range j.Roles() {
			of := func(parts []cluster.Part) (tasks []int) {
				for _, p := range parts {
					if p.Role == r.Name {
						tasks = append(tasks, p.Task)
					}
				}
				return tasks
			}
			kept, dropped, added := of(keep), of(drop), of(lacks)
			if len(kept) != min(counts[r.Name], r.Count) || len(kept)+len(dropped) != counts[r.Name] ||
				len(kept)+len(added) != r.Count {
				t.Errorf("of %d %s, %d are wanted: %v stay, %v end, %v start", counts[r.Name], r.Name, r.Count, kept, dropped,
					added)
			}
			if len(dropped) > 0 && slices.Max(kept) > slices.Min(dropped) {
				t.Errorf("%v stay, %v end", kept, dropped)
			}
			for task := range slices.Max(append(added, 0)) {
				if !slices.Contains(kept, task) && !slices.Contains(added, task) {
					t.Errorf("%v start beside %v", added, kept)
				}
			}
			slices.Sort(added)
			if all := slices.Sorted(slices.Values(slices.Concat(kept, added))); len(slices.Compact(all)) != r.Count {
				t.Errorf("%v start beside %v", added, kept)
			}
		}
	})
}
