package strategies_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages/servers/market"
	"github.com/tfexp/tfexp/stages/servers/rental"
	"github.com/tfexp/tfexp/stages/servers/strategies"
)

type provisionEvents []scheduler.Event

func (e *provisionEvents) Event(one *scheduler.Event)   { *e = append(*e, *one) }
func (e *provisionEvents) Decision(*scheduler.Decision) {}

// TestStrategiesInTheKernel runs every strategy on spot servers, which come and go at any instant, and on on-demand
// servers. Each job can meet its deadline if it starts at once. Strategies that plan by deadlines miss no deadline,
// and no trace breaks a rule of renting. With servers of one market only, no server of the other market is rented.
func TestStrategiesInTheKernel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := func(name string, lo, hi int) time.Duration {
			return time.Duration(rapid.IntRange(lo, hi).Draw(t, name)) * time.Second
		}
		tick, startup, restore := seconds("tick", 10, 600), seconds("startup", 0, 200), seconds("restore", 0, 30)
		every, cost := seconds("every", 20, 900), seconds("cost", 0, 5)
		changeover := startup + restore + every + cost
		n := rapid.IntRange(1, 3).Draw(t, "jobs")
		var c scheduler.Cluster
		var terms []*market.Terms
		regions := rapid.IntRange(1, 2).Draw(t, "regions")
		node := func(kind, region string, a *market.Availability) {
			c.Nodes = append(c.Nodes, scheduler.Node{
				Name: fmt.Sprint(kind, len(c.Nodes)), Threads: 1, Supply: cluster.OnRequest, Market: kind, Region: region,
			})
			terms = append(terms, &market.Terms{Market: kind, Region: region, Startup: workload.Span{Mean: startup},
				Availability: a})
		}
		for r := range regions {
			a := &market.Availability{Times: []time.Duration{0}, Servers: []int{rapid.IntRange(0, 1).Draw(t, "first")}}
			for at := time.Duration(0); len(a.Times) < rapid.IntRange(1, 40).Draw(t, "changes"); {
				at += seconds("until", 1, 4000)
				a.Times, a.Servers = append(a.Times, at), append(a.Servers, 1-a.Servers[len(a.Servers)-1])
			}
			node(market.Spot, fmt.Sprint("r", r), a)
		}
		for range n {
			node(market.OnDemand, "r0", nil)
		}
		jobs := make([]scheduler.Job, n)
		work := make([]simulated.Scaling, n)
		saves := make([]*simulated.Checkpoint, n)
		for i := range jobs { // a job may lose a server that is on its way to one before it in the queue: a start more
			length := seconds("length", 100, 20000)
			saves[i] = &simulated.Checkpoint{Every: every, Cost: cost, Restore: restore}
			whole := length + length/every*cost
			arrival := seconds("arrival", 0, 3000)
			jobs[i] = scheduler.Job{
				Number: i, Name: fmt.Sprint("j", i), Threads: 1, Predicted: whole, Special: &scheduler.Special{Changeover: changeover}, Arrival: arrival,
				Deadline: arrival + whole + time.Duration(n)*changeover + 2*tick + seconds("slack", 0, 20000),
			}
			work[i] = simulated.FullRequest(length, 1)
		}
		name := rapid.SampledFrom([]string{
			"on_demand", "spot", "greedy", "uniform_progress", "failover", "patient",
		}).Draw(t, "strategy")
		fleet, err := market.NewFleet(c, terms, 1)
		if err != nil {
			t.Fatal(err)
		}
		engine, err := simulated.New(jobs, work, simulated.Options{Fleet: fleet, Cluster: c, Checkpoints: saves})
		if err != nil {
			t.Fatal(err)
		}
		p := policy.Policy{Order: policy.FCFS, Added: map[policy.Question]string{strategies.Provisioning: name}, Settings: policy.Settings{"tick": tick}}
		var trace provisionEvents
		out, err := scheduler.Run{Policy: p, Cluster: c, Jobs: jobs, Engine: engine,
			Recorder: &trace}.Execute(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		check := validate.New(c, jobs, nil)
		check.Add(rental.Rule(c, scheduler.JobSet{List: jobs}, strategies.Markets(&p), nil))
		for _, e := range trace {
			check.Event(&e)
		}
		check.Close(&out)
		for _, v := range check.Violations() {
			t.Errorf("%s: %s", name, v)
		}
		for i, r := range out.Jobs {
			if name != "spot" && name != "failover" && (r.State != scheduler.Finished || r.Finish > jobs[i].Deadline) {
				t.Errorf("%s: job %d %s at %s, deadline %s", name, i, r.State, r.Finish, jobs[i].Deadline)
				for _, e := range trace {
					t.Logf("%s %s node %d job %d %s", e.At, e.Kind, e.Node, e.Job, e.Reason)
				}
			}
		}
	})
}
