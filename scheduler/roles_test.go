package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
)

// withRoles returns a job of two workers on two cores each, and a parameter server without cores.
func withRoles(elastic bool) Job {
	return Job{
		Name: "a", Threads: 4, Deadline: Never,
		Special: &Special{Roles: []Role{{Name: "ps", Count: 1}, {Name: "worker", Count: 2, Threads: 2, Elastic: elastic, Min: 1}}},
	}
}

// A job with roles starts with all parts at once. A part without cores is on the node of the first part with cores.
func TestRolesArePlaced(t *testing.T) {
	jobs := number([]Job{{Name: "b", Threads: 1, Deadline: Never}, withRoles(false)})
	c := Cluster{Nodes: []Node{{Threads: 2}, {Threads: 3}, {Threads: 2}}}
	work := []simulated.Scaling{simulated.FullRequest(5*time.Second, 1), simulated.FullRequest(10*time.Second, 4)}
	engine, err := simulated.New(jobs, work, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	events := &trace{}
	r := Run{Policy: Policy{Order: FCFS}, Cluster: c, Jobs: jobs, Engine: engine, Recorder: events}
	o, err := r.Execute(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range validate.Trace(c, jobs, nil, events.events, &o) {
		t.Error(v)
	}
	for _, e := range events.events {
		if e.Kind == Start && e.Job == 1 {
			got := ""
			for _, p := range e.Layout.Parts {
				got += fmt.Sprintf("%s-%d on %d: %s; ", p.Role, p.Task, p.Node, p.Cores)
			}
			if want := "ps-0 on 1: ; worker-0 on 1: 2-3; worker-1 on 2: 5-6; "; got != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
		}
	}
	if o.Jobs[1].FirstStart != 0 || o.Jobs[1].Finish != 10*time.Second {
		t.Errorf("%+v", o.Jobs[1])
	}
}

// Random jobs, some of them with roles, run under any policy with a valid trace.
func TestAnyRolesAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		jobs, work := drawJobs(t, c, false)
		most := 0
		for _, n := range c.Nodes {
			most = max(most, n.Threads)
		}
		for i := range jobs {
			if !rapid.Bool().Draw(t, "roles") {
				continue
			}
			j := &jobs[i]
			*j = Job{Number: i, Name: j.Name, Class: j.Class, Arrival: j.Arrival, Deadline: Never, Predicted: j.Predicted,
				Priority: j.Priority, User: j.User}
			servers := rapid.IntRange(0, 2).Draw(t, "servers")
			if servers > 0 {
				j.Own().Roles = append(j.Roles(), Role{Name: "ps", Count: servers})
			}
			threads := rapid.IntRange(1, most).Draw(t, "threads")
			j.Threads = threads
			j.Own().Roles = append(j.Roles(), Role{Name: "worker", Count: 1, Threads: threads})
			if more := rapid.IntRange(0, 2).Draw(t, "more"); more > 0 {
				other := Role{Name: "helper", Count: more, Threads: 1, Elastic: true, Min: 1}
				whole := *j
				whole.Own().Roles, whole.Threads = append(whole.Roles(), other), j.Threads+more
				if whole.CouldRun(c, false) {
					*j = whole
				}
			}
			work[i] = simulated.FullRequest(time.Second, j.Threads)
		}
		execute(t, Run{Policy: drawPolicy(t), Cluster: c, Jobs: jobs}, work, simulated.Options{})
	})
}
