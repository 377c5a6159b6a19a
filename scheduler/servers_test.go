package scheduler_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	. "github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/supply"
	"github.com/tfexp/tfexp/scheduler/validate"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages/servers/market"
)

// rented runs jobs on servers with the given terms, and returns the outcome and the trace as lines.
func rented(t testing.TB, r Run, work []simulated.Scaling, terms []*market.Terms, saves []*simulated.Checkpoint,
	seed int64) (Outcome, []string) {
	t.Helper()
	fleet, err := market.NewFleet(r.Cluster, terms, seed)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := simulated.New(r.Jobs, work, simulated.Options{Fleet: fleet, Cluster: r.Cluster, Checkpoints: saves})
	if err != nil {
		t.Fatal(err)
	}
	events := &trace{}
	r.Engine, r.Recorder = engine, events
	o, err := r.Execute(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range validate.Trace(r.Cluster, r.Jobs, r.Resizes, events.events, &o) {
		t.Error(v)
	}
	var lines []string
	for _, e := range events.events {
		who := ""
		if e.Kind.OfNode() {
			who = r.Cluster.Nodes[e.Node].Name
		} else {
			who = r.Jobs[e.Job].Name
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", e.At, e.Kind, who, e.Detail())))
	}
	return o, lines
}

// lives returns an availability in which successive servers live for the given times.
func lives(each ...time.Duration) *market.Availability {
	a := &market.Availability{}
	at := time.Duration(0)
	for _, d := range each {
		a.Times = append(a.Times, at, at+d)
		a.Servers = append(a.Servers, 1, 0)
		at += d + time.Second
	}
	a.Times, a.Servers = append(a.Times, at), append(a.Servers, 1)
	return a
}

// A node on request is requested when a job waits. It is lost and requested again. The job resumes from its last
// checkpoint. An idle node is given back.
func TestServerIsLost(t *testing.T) {
	jobs := number([]Job{{Name: "a", Threads: 1, Arrival: 5 * time.Second, Deadline: Never}})
	c := Cluster{Nodes: []Node{{Name: "n", Threads: 2, Supply: cluster.OnRequest, Idle: 3 * time.Second}}}
	terms := []*market.Terms{{
		Market: market.Spot, Startup: workload.Span{Mean: 2 * time.Second}, Warning: time.Second,
		Availability: lives(30*time.Second, 100*time.Second),
	}}
	saves := []*simulated.Checkpoint{{Every: 10 * time.Second, Cost: 2 * time.Second, Restore: time.Second}}
	work := []simulated.Scaling{simulated.FullRequest(30*time.Second, 1)}
	o, lines := rented(t, Run{Policy: Policy{Order: FCFS}, Cluster: c, Jobs: jobs}, work, terms, saves, 1)
	got := strings.Join(lines, "\n")
	for _, line := range []string{
		"5s node_request n", "7s node_up n", "7s start a", "29s node_warned n until 30s", "30s node_down n taken away",
		"30s revoke a node \"n\" was lost", "30s node_request n", "33s node_up n", "33s start a",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is missing in\n%s", line, got)
		}
	}
	// Between 7 and 30 s the job does 10 s of work, a checkpoint of 2 s, and nearly 10 s of work, which are lost. Then
	// it restores for 1 s and does 20 s of work with a checkpoint after 10.
	r := o.Jobs[0]
	if r.Finish != 56*time.Second || r.LostWork != 10*time.Second || r.Revocations != 1 || r.Restore != time.Second ||
		r.Checkpoints != 5*time.Second {
		t.Errorf("%+v\n%s", r, got)
	}
}

// A job that can write a checkpoint leaves its server at the warning, even long before the loss.
func TestJobLeavesAtTheWarning(t *testing.T) {
	jobs := number([]Job{{Name: "a", Threads: 1, Deadline: Never}})
	c := Cluster{Nodes: []Node{{Name: "n", Threads: 1, Supply: cluster.Fixed}, {Name: "stays", Threads: 1}}}
	terms := []*market.Terms{{Market: market.Spot, Warning: 15 * time.Second,
		Availability: lives(25*time.Second, 100*time.Second)}, nil}
	work := []simulated.Scaling{simulated.FullRequest(30*time.Second, 1)}
	for cost, want := range map[time.Duration]struct {
		line   string
		finish time.Duration
	}{
		time.Second:      {`10s revoke a node "n" is to be taken away`, 31 * time.Second},
		30 * time.Second: {`25s revoke a node "n" was lost`, 55 * time.Second},
	} {
		saves := []*simulated.Checkpoint{{Every: time.Hour, Cost: cost}}
		o, lines := rented(t, Run{Policy: Policy{Order: FCFS}, Cluster: c, Jobs: jobs}, work, terms, saves, 1)
		if got := strings.Join(lines, "\n"); !strings.Contains(got, want.line) || o.Jobs[0].Finish != want.finish ||
			o.Jobs[0].Revocations != 1 {
			t.Errorf("a checkpoint of %s: finished at %s, want %s and %q:\n%s", cost, o.Jobs[0].Finish, want.finish, want.line,
				got)
		}
	}
}

// TestAnyLossIsValid runs random jobs on random servers under any policy. The trace is valid.
func TestAnyLossIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		jobs, work := drawJobs(t, c, false)
		terms := make([]*market.Terms, len(c.Nodes))
		for i := range c.Nodes {
			n := &c.Nodes[i]
			n.Name = fmt.Sprint("n", i)
			n.Supply = rapid.SampledFrom([]cluster.Supply{cluster.Standing, cluster.Fixed, cluster.OnRequest}).Draw(t, "supply")
			n.Idle = time.Duration(rapid.IntRange(0, 5).Draw(t, "idle")) * time.Second
			terms[i] = &market.Terms{
				Market:  market.Spot,
				Startup: workload.Span{Mean: time.Duration(rapid.IntRange(0, 3).Draw(t, "startup")) * time.Second},
				Warning: time.Duration(rapid.IntRange(0, 3).Draw(t, "warning")) * time.Second,
				Delay:   time.Duration(rapid.IntRange(0, 3).Draw(t, "delay")) * time.Second,
				Replace: rapid.SampledFrom([]string{market.Same, market.WithOnDemand, market.Never}).Draw(t, "replace"),
				Limit:   rapid.IntRange(1, 30).Draw(t, "limit"),
				Life:    market.Exponential{Mean: time.Duration(rapid.IntRange(3, 30).Draw(t, "life")) * time.Second},
			}
		}
		saves := make([]*simulated.Checkpoint, len(jobs))
		for i := range saves {
			if rapid.Bool().Draw(t, "saves") {
				saves[i] = &simulated.Checkpoint{
					Every: time.Duration(rapid.IntRange(1, 4000).Draw(t, "every")) * time.Millisecond,
					Cost:  time.Duration(rapid.IntRange(0, 500).Draw(t, "cost")) * time.Millisecond,
				}
			}
		}
		r := Run{Policy: drawPolicy(t), Cluster: c, Jobs: jobs, Resizes: drawResizes(t, jobs)}
		fleet, err := market.NewFleet(c, terms, int64(rapid.IntRange(0, 1000).Draw(t, "seed")))
		if err != nil {
			t.Fatal(err)
		}
		out, events := execute(t, r, work, simulated.Options{Fleet: fleet, Cluster: c, Checkpoints: saves})
		for _, v := range validate.Trace(c, jobs, r.Resizes, events.events, &out) {
			t.Errorf("%s: %s", r.Policy, v)
		}
	})
}

// TestExpectedTimeIsDalys runs a job with random losses. It compares the mean run time with Daly's formula.
func TestExpectedTimeIsDalys(t *testing.T) {
	const mean, cost, restore, work = time.Hour, 10 * time.Second, time.Minute, 10 * time.Hour
	every := supply.DalyInterval(cost, mean)
	jobs := number([]Job{{Threads: 1, Deadline: Never}})
	c := Cluster{Nodes: []Node{{Name: "n", Threads: 1, Supply: cluster.Fixed}}}
	terms := []*market.Terms{{Market: market.Spot, Life: market.Exponential{Mean: mean}}}
	saves := []*simulated.Checkpoint{{Rule: intervalFunc(supply.DalyInterval), Cost: cost, Restore: restore}}
	scaling := []simulated.Scaling{simulated.FullRequest(work, 1)}
	const runs = 10_000
	sum := 0.0
	for seed := range int64(runs) {
		fleet, _ := market.NewFleet(c, terms, seed)
		engine, err := simulated.New(jobs, scaling, simulated.Options{Fleet: fleet, Cluster: c, Checkpoints: saves})
		if err != nil {
			t.Fatal(err)
		}
		o, err := Run{Policy: Policy{Order: FCFS}, Cluster: c, Jobs: jobs, Engine: engine}.Execute(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		sum += o.Jobs[0].Finish.Seconds()
	}
	got, want := sum/runs, supply.ExpectedCheckpointCost(work, every, cost, restore, mean).Seconds()
	t.Logf("%d runs: %.1f s, by the formula %.1f s (%+.2f%%)", runs, got, want, 100*(got/want-1))
	if math.Abs(got/want-1) > 0.01 {
		t.Errorf("the mean of %d runs is %.1f s, the formula says %.1f s", runs, got, want)
	}
}

// TestManyLosses runs a hundred thousand jobs with as many events of nodes.
func TestManyLosses(t *testing.T) {
	o, took, nodes := manyLosses(t)
	t.Logf("%d jobs, %d events of nodes: %s", len(o.Jobs), nodes, took)
	if nodes < 100_000 {
		t.Errorf("only %d events of nodes", nodes)
	}
}

type nodeEvents struct{ nodes int }

func (c *nodeEvents) Event(e *Event) {
	if e.Kind.OfNode() {
		c.nodes++
	}
}
func (c *nodeEvents) Decision(*Decision) {}

func manyLosses(t testing.TB) (Outcome, time.Duration, int) {
	const nodes = 50
	jobs := poisson(100_000, nodes*4, 0.7, 5)
	c := Cluster{}
	var terms []*market.Terms
	work := make([]simulated.Scaling, len(jobs))
	saves := make([]*simulated.Checkpoint, len(jobs))
	var span time.Duration
	for i := range jobs {
		jobs[i].Threads = min(jobs[i].Threads, 4)
		work[i] = simulated.FullRequest(jobs[i].Predicted, jobs[i].Threads)
		saves[i] = &simulated.Checkpoint{Every: jobs[i].Predicted/8 + 1}
		span = max(span, jobs[i].Arrival)
	}
	for i := range nodes {
		c.Nodes = append(c.Nodes, Node{Name: fmt.Sprint("n", i), Threads: 4, Supply: cluster.Fixed})
		terms = append(terms, &market.Terms{Market: market.Spot, Life: market.Exponential{Mean: span / 700}})
	}
	fleet, _ := market.NewFleet(c, terms, 1)
	engine, err := simulated.New(jobs, work, simulated.Options{Fleet: fleet, Cluster: c, Checkpoints: saves})
	if err != nil {
		t.Fatal(err)
	}
	count := &nodeEvents{}
	begin := time.Now()
	o, err := Run{
		Policy: Policy{Order: FCFS, Backfill: FirstFit}, Cluster: c, Jobs: jobs, Engine: engine, Recorder: count, EventsOnly: true,
	}.Execute(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return o, time.Since(begin), count.nodes
}

func BenchmarkLosses(b *testing.B) {
	for b.Loop() {
		manyLosses(b)
	}
}

// intervalFunc implements simulated.IntervalRule by a function.
type intervalFunc func(cost, between time.Duration) time.Duration

func (f intervalFunc) Interval(cost, between time.Duration) time.Duration { return f(cost, between) }
