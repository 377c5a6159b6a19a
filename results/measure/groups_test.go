package measure_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/scheduler"
)

// one runs jobs one after another, each for a second.
func one(jobs []scheduler.Job) *measure.Collector {
	c := measure.NewCollector(measure.Setup{Jobs: jobs, Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 8}}}})
	for i := range jobs {
		c.Event(&scheduler.Event{Kind: scheduler.Arrive, Job: i})
	}
	for i := range jobs {
		at := time.Duration(i) * second
		c.Event(&scheduler.Event{At: at, Kind: scheduler.Start, Job: i, Cores: cores(0, int32(jobs[i].Threads))})
		c.Event(&scheduler.Event{At: at + second, Kind: scheduler.Finish, Job: i})
	}
	return c
}

func groupNames(groups []measure.Group) []string {
	var names []string
	for _, g := range groups {
		names = append(names, fmt.Sprintf("%s %s: %d", g.By, g.Name, measure.Jobs.CountOf(&g.Metrics)))
	}
	return names
}

func TestGroups(t *testing.T) {
	c := one([]scheduler.Job{
		{Name: "a", Class: "long", Threads: 3, User: "u"}, {Name: "b", Class: "short", Threads: 1, User: "u"},
		{Name: "c", Class: "short", Threads: 2, User: "u"}, {Name: "d", Class: "short", Threads: 8, User: "u"},
	})
	groups := c.Groups()
	want := []string{"class short: 3", "class long: 1", "size 1 core: 1", "size 2–3 cores: 2", "size 8–15 cores: 1"}
	if d := cmp.Diff(want, groupNames(groups)); d != "" {
		t.Fatal(d) // there is one user
	}
	// They end at 1, 2, 3 and 4 s.
	for i, jct := range []float64{3, 1, 2, 2, 4} {
		if got := measure.MeanJCT.Of(&groups[i].Metrics); got != jct {
			t.Errorf("mean JCT of %s is %v, want %v", groups[i].Name, got, jct)
		}
	}
	if v := measure.Makespan.Of(&groups[0].Metrics); !math.IsNaN(v) {
		t.Errorf("the makespan of a class is %v, want none", v)
	}
	raw, err := json.Marshal(groups)
	if err != nil {
		t.Fatal(err)
	}
	var back []measure.Group
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	for i := range groups {
		for _, m := range measure.AllMetrics() {
			if a, b := m.Of(&groups[i].Metrics), m.Of(&back[i].Metrics); a != b && !(math.IsNaN(a) && math.IsNaN(b)) {
				t.Errorf("%s of %s came back as %v, not %v", m.Name, groups[i].Name, b, a)
			}
		}
	}
}

// TestManyGroups: if there are many users, the users with the fewest jobs are one group. No job is lost.
func TestManyGroups(t *testing.T) {
	var jobs []scheduler.Job
	for u := range 30 {
		for n := range 1 + u {
			jobs = append(jobs, scheduler.Job{Name: fmt.Sprintf("%d-%d", u, n), Class: "j", Threads: 1,
				User: fmt.Sprint("u", u)})
		}
	}
	groups := one(jobs).Groups()
	if len(groups) != measure.MostGroups || groups[0].Name != "u29" || groups[len(groups)-1].Name != measure.Others {
		t.Fatalf("groups are %v", groupNames(groups))
	}
	sum := 0
	for _, g := range groups {
		sum += measure.Finished.CountOf(&g.Metrics)
	}
	if sum != len(jobs) {
		t.Errorf("%d jobs are in the groups, want %d", sum, len(jobs))
	}
}

// TestMeansOverJobs: a metric is the mean of the values that its function OfJob returns.
func TestMeansOverJobs(t *testing.T) {
	setup, events := twoJobs()
	c := collect(setup, events)
	values := c.Metrics()
	for _, m := range measure.AllMetrics() {
		if m.OfJob == nil {
			continue
		}
		sum := 0.0
		for job := range setup.Jobs {
			o := c.Outcome(job)
			sum += m.OfJob(&o)
		}
		if mean := sum / float64(len(setup.Jobs)); math.Abs(mean-m.Of(&values)) > 1e-9 {
			t.Errorf("%s is %v, the mean over jobs %v", m.Name, m.Of(&values), mean)
		}
	}
}

// Of three jobs, one of each class fails. The third job takes no time, and the error of its
// prediction is unknown.
func TestFailedInGroups(t *testing.T) {
	s := measure.Setup{Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 3}}}, Jobs: []scheduler.Job{
		{Number: 0, Name: "a", Class: "x", Threads: 1}, {Number: 1, Name: "b", Class: "y", Threads: 1},
		{Number: 2, Name: "c", Class: "y", Threads: 1, Predicted: second}}}
	var events []scheduler.Event
	for i := range s.Jobs {
		events = append(events, scheduler.Event{Kind: scheduler.Arrive, Job: i},
			scheduler.Event{Kind: scheduler.Start, Job: i, Cores: cores(int32(i), int32(i+1))})
	}
	c := collect(s, append(events, scheduler.Event{Kind: scheduler.Finish, Job: 2},
		scheduler.Event{At: second, Kind: scheduler.Fail, Job: 0}, scheduler.Event{At: second, Kind: scheduler.Fail, Job: 1}))
	failed, _ := measure.MetricByName("failed")
	groups := c.Groups()
	var got []int
	for _, g := range groups {
		got = append(got, failed.CountOf(&g.Metrics))
	}
	if len(groups) != 2 || got[0] != 1 || got[1] != 1 {
		t.Errorf("%v of %v failed", got, groupNames(groups))
	}
	if r := c.Outcome(2); r.State != "finished" || r.Service != 0 || !math.IsNaN(r.PredictionErrorPct) {
		t.Errorf("%+v", r)
	}
}
