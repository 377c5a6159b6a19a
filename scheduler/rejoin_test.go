package scheduler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	. "github.com/tfexp/tfexp/scheduler/policy"
	_ "github.com/tfexp/tfexp/scheduler/supply" // registers the support of nodes that come and go
	"github.com/tfexp/tfexp/scheduler/validate"
	"github.com/tfexp/tfexp/stages/servers/market"
)

// workers returns a job of two workers on a core each. It can run with one of them.
func workers(arrival time.Duration) Job {
	return Job{
		Name: "a", Threads: 2, Arrival: arrival, Deadline: Never,
		Special: &Special{Roles: []Role{{Name: "worker", Count: 2, Threads: 1, Elastic: true, Min: 1, Max: 3}, {Name: "ps", Count: 1}}},
	}
}

// layouts returns the layouts of the first job in a trace, each with its time.
func layouts(events []Event) string {
	var b strings.Builder
	for _, e := range events {
		if e.Job != 0 || e.Layout == nil {
			continue
		}
		fmt.Fprintf(&b, "%s:", e.At)
		for _, p := range e.Layout.Parts {
			fmt.Fprintf(&b, " %s-%d@%d", p.Role, p.Task, p.Node)
		}
		b.WriteString("\n")
	}
	return strings.TrimSpace(b.String())
}

// rejoining runs jobs on nodes with the given availabilities; nil means a node that stays. Jobs progress in proportion
// to their cores.
func rejoining(t *testing.T, supply cluster.Supply, jobs []Job, work []time.Duration, resizes []Resize,
	nodes ...*market.Availability) (Outcome, []Event) {
	t.Helper()
	var c Cluster
	var terms []*market.Terms
	for i, a := range nodes {
		n := Node{Name: fmt.Sprint("n", i), Threads: 1}
		if a == nil {
			terms = append(terms, nil)
		} else {
			n.Supply, n.Idle = supply, time.Minute
			terms = append(terms, &market.Terms{Market: market.Spot, Availability: a})
		}
		c.Nodes = append(c.Nodes, n)
	}
	fleet, err := market.NewFleet(c, terms, 1)
	if err != nil {
		t.Fatal(err)
	}
	var of []simulated.Scaling
	saves := make([]*simulated.Checkpoint, len(jobs))
	for i, w := range work {
		of = append(of, simulated.FullRequest(w, jobs[i].Threads))
		saves[i] = &simulated.Checkpoint{Every: 4 * time.Second}
	}
	opts := simulated.Options{Cluster: c, Checkpoints: saves}
	if c.Changes() {
		opts.Fleet = fleet
	}
	engine, err := simulated.New(jobs, of, opts)
	if err != nil {
		t.Fatal(err)
	}
	events := &trace{}
	o, err := Run{Policy: Policy{Order: FCFS, Backfill: FirstFit}, Cluster: c, Jobs: jobs, Resizes: resizes,
		Engine:   engine,
		Recorder: events}.Execute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range validate.Trace(c, jobs, resizes, events.events, &o) {
		t.Error(v)
	}
	return o, events.events
}

// A worker that was lost with its node starts again when the node is back, whatever the supply of the node. Meanwhile
// the job is half as fast.
func TestLostPartRejoins(t *testing.T) {
	for _, supply := range []cluster.Supply{cluster.Fixed, cluster.OnRequest} {
		o, events := rejoining(t, supply, number([]Job{workers(0)}), []time.Duration{30 * time.Second}, nil,
			nil, lives(10*time.Second, 100*time.Second))
		want := "0s: worker-0@0 worker-1@1 ps-0@0\n10s: worker-0@0 ps-0@0\n11s: worker-0@0 worker-1@1 ps-0@0"
		if got := layouts(events); got != want {
			t.Errorf("%d: got\n%s\nwant\n%s", supply, got, want)
		}
		if r := o.Jobs[0]; r.Finish != 30*time.Second+500*time.Millisecond || r.Resizes != 2 || r.Revocations != 0 ||
			r.LostWork != 0 {
			t.Errorf("%d: %+v", supply, r)
		}
	}
}

// A waiting job gets room before a lost part does. The part gets room afterwards, also on another node than before.
func TestWaitingJobsComeBeforeLostParts(t *testing.T) {
	jobs := number([]Job{workers(0), {Name: "b", Threads: 1, Arrival: 5 * time.Second, Deadline: Never}})
	_, events := rejoining(t, cluster.Fixed, jobs, []time.Duration{60 * time.Second, 10 * time.Second}, nil,
		nil, lives(10*time.Second, 100*time.Second))
	want := "0s: worker-0@0 worker-1@1 ps-0@0\n10s: worker-0@0 ps-0@0\n21s: worker-0@0 worker-1@1 ps-0@0"
	if got := layouts(events); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	jobs = number([]Job{workers(0), {Name: "b", Threads: 1, Arrival: time.Second, Deadline: Never}})
	_, events = rejoining(t, cluster.Fixed, jobs, []time.Duration{60 * time.Second, 12 * time.Second}, nil,
		nil, lives(10*time.Second, time.Second, 100*time.Second), nil)
	want = "0s: worker-0@0 worker-1@1 ps-0@0\n10s: worker-0@0 ps-0@0\n" +
		"11s: worker-0@0 worker-1@1 ps-0@0\n12s: worker-0@0 ps-0@0\n13s: worker-0@0 worker-1@1 ps-0@0"
	if got := layouts(events); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Parts of a vital role do not come back: their loss ends the attempt.
func TestVitalPartEndsAttempt(t *testing.T) {
	j := workers(0)
	j.Roles()[0].Vital = true
	o, events := rejoining(t, cluster.Fixed, number([]Job{j}), []time.Duration{30 * time.Second}, nil,
		nil, lives(10*time.Second, 100*time.Second))
	if r := o.Jobs[0]; r.Revocations != 1 || r.LostWork != 2*time.Second || r.Finish != 33*time.Second {
		t.Errorf("%+v\n%s", r, layouts(events))
	}
}

// A rule for checkpoint intervals receives the mean time between losses of the vital servers of the job.
func TestRuleKnowsVitalServers(t *testing.T) {
	for _, elastic := range []bool{true, false} {
		j := workers(0)
		j.Roles()[0].Elastic, j.Roles()[0].Min = elastic, 0
		c := Cluster{Nodes: []Node{{Name: "a", Threads: 1, Supply: cluster.Fixed}, {Name: "b", Threads: 1, Supply: cluster.Fixed}}}
		terms := []*market.Terms{{Life: market.Exponential{Mean: time.Hour}}, {Life: market.Exponential{Mean: time.Hour}}}
		fleet, err := market.NewFleet(c, terms, 3)
		if err != nil {
			t.Fatal(err)
		}
		var told time.Duration
		save := &simulated.Checkpoint{Rule: intervalFunc(func(_, between time.Duration) time.Duration {
			told = between
			return time.Minute
		})}
		jobs := number([]Job{j})
		engine, err := simulated.New(jobs, []simulated.Scaling{simulated.FullRequest(time.Second, 2)},
			simulated.Options{Cluster: c, Fleet: fleet, Checkpoints: []*simulated.Checkpoint{save}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (Run{Policy: Policy{Order: FCFS}, Cluster: c, Jobs: jobs,
			Engine: engine}).Execute(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want := map[bool]time.Duration{true: time.Hour, false: 30 * time.Minute}[elastic]; told != want {
			t.Errorf("elastic %t: the rule is told %s, want %s", elastic, told, want)
		}
	}
}

// Another number of workers can be requested while a job runs. It also holds for later attempts.
func TestPartsAreAskedFor(t *testing.T) {
	ask := func(at, parts int) Resize {
		return Resize{At: time.Duration(at) * time.Second, Role: "worker", Parts: parts}
	}
	jobs := number([]Job{workers(0), {Name: "b", Threads: 1, Arrival: 6 * time.Second, Deadline: Never}})
	_, events := rejoining(t, cluster.Fixed, jobs, []time.Duration{60 * time.Second, 2 * time.Second},
		[]Resize{ask(2, 3), ask(4, 1), ask(6, 3)}, nil, nil, nil)
	want := "0s: worker-0@0 worker-1@1 ps-0@0\n2s: worker-0@0 worker-1@1 worker-2@2 ps-0@0\n4s: worker-0@0 ps-0@0\n" +
		"6s: worker-0@0 worker-1@1 worker-2@2 ps-0@0" // parts that are requested come before waiting jobs
	if got := layouts(events); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	_, events = rejoining(t, cluster.Fixed, number([]Job{workers(0)}), []time.Duration{30 * time.Second}, []Resize{ask(2, 1)},
		lives(10*time.Second, 100*time.Second), nil)
	want = "0s: worker-0@0 worker-1@1 ps-0@0\n2s: worker-0@0 ps-0@0\n10s: worker-0@1 ps-0@1"
	if got := layouts(events); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// After a loss, the request is for as many parts as are left. So none of them ends, and none is replaced.
	three, early := workers(0), ask(0, 2)
	early.At = 10*time.Second + time.Second/2 // before the node is back
	three.Threads, three.Roles()[0].Count, three.Roles()[0].Min = 3, 3, 2
	_, events = rejoining(t, cluster.Fixed, number([]Job{three}), []time.Duration{30 * time.Second}, []Resize{early, ask(20, 3)},
		nil, lives(10*time.Second, 100*time.Second), nil)
	want = "0s: worker-0@0 worker-1@1 worker-2@2 ps-0@0\n10s: worker-0@0 worker-2@2 ps-0@0\n" +
		"20s: worker-0@0 worker-1@1 worker-2@2 ps-0@0"
	if got := layouts(events); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, z := range []Resize{ask(1, 4), ask(1, 0), {Role: "ps", Parts: 2}, {Role: "chief", Parts: 1}} {
		r := Run{Policy: Policy{Order: FCFS}, Cluster: Cluster{Nodes: []Node{{Threads: 4}}}, Jobs: number([]Job{workers(0)}),
			Resizes: []Resize{z}}
		if _, err := r.Execute(t.Context()); err == nil || !strings.Contains(err.Error(), "role") {
			t.Errorf("%+v: %v", z, err)
		}
	}
}

// TestAnyRejoiningIsValid runs jobs with elastic roles on random servers under any policy, with random requests for
// parts. Each role has its own type of GPU.
func TestAnyRejoiningIsValid(t *testing.T) {
	rejoined := 0
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		jobs, work := drawJobs(t, c, true)
		terms := make([]*market.Terms, len(c.Nodes))
		for i := range c.Nodes {
			n := &c.Nodes[i]
			n.Name, n.GPU = fmt.Sprint("n", i), rapid.SampledFrom([]string{"K80", "V100"}).Draw(t, "type")
			n.Supply = rapid.SampledFrom([]cluster.Supply{cluster.Standing, cluster.Fixed, cluster.OnRequest}).Draw(t, "supply")
			terms[i] = &market.Terms{
				Market:  market.Spot,
				Warning: time.Duration(rapid.IntRange(0, 3).Draw(t, "warning")) * time.Second,
				Delay:   time.Duration(rapid.IntRange(0, 3).Draw(t, "delay")) * time.Second,
				Replace: market.Same, Limit: 30,
				Life: market.Exponential{Mean: time.Duration(rapid.IntRange(2, 20).Draw(t, "life")) * time.Second},
			}
		}
		saves := make([]*simulated.Checkpoint, len(jobs))
		var resizes []Resize
		for i := range jobs {
			j := &jobs[i]
			count := rapid.IntRange(1, 3).Draw(t, "workers")
			role := Role{Name: "worker", Count: count, Threads: rapid.IntRange(1, 2).Draw(t, "threads"), Elastic: true,
				Min: rapid.IntRange(1, count).Draw(t, "min"), Max: count + 1, Vital: rapid.IntRange(0, 4).Draw(t, "vital") == 0}
			if rapid.Bool().Draw(t, "on GPUs") {
				role.GPUs, role.GPU = 1, rapid.SampledFrom([]string{"", "K80", "V100"}).Draw(t, "gpu")
			}
			whole := Job{Number: i, Name: j.Name, Arrival: j.Arrival, Deadline: Never, Predicted: j.Predicted,
				Priority: j.Priority,
				Special:  &Special{Roles: []Role{{Name: "ps", Count: 1}, role}}}
			whole = whole.WithParts([]int{1, count})
			if !whole.CouldRun(c, false) {
				continue
			}
			*j = whole
			work[i] = simulated.FullRequest(time.Duration(rapid.IntRange(1, 20).Draw(t, "run"))*time.Second, j.Threads)
			if rapid.Bool().Draw(t, "saves") {
				saves[i] = &simulated.Checkpoint{Every: time.Duration(rapid.IntRange(1, 4000).Draw(t, "every")) * time.Millisecond}
			}
			n := rapid.IntRange(role.Min, role.Max).Draw(t, "asked")
			if _, err := j.AskParts("worker", n, c); err == nil {
				at := time.Duration(rapid.IntRange(0, 20).Draw(t, "at")) * time.Second
				resizes = append(resizes, Resize{At: at, Job: i, Role: "worker", Parts: n})
			}
		}
		fleet, err := market.NewFleet(c, terms, int64(rapid.IntRange(0, 1000).Draw(t, "seed")))
		if err != nil {
			t.Fatal(err)
		}
		r := Run{Policy: drawPolicy(t), Cluster: c, Jobs: jobs, Resizes: resizes}
		out, events := execute(t, r, work, simulated.Options{Fleet: fleet, Cluster: c, Checkpoints: saves})
		for _, v := range validate.Trace(c, jobs, resizes, events.events, &out) {
			t.Errorf("%s: %s", r.Policy, v)
		}
		held := make([]int, len(jobs))
		for _, e := range events.events {
			if e.Layout == nil {
				continue
			}
			if n := len(e.Layout.Parts); e.Kind == ResizeJob && n > held[e.Job] {
				rejoined++
			}
			held[e.Job] = len(e.Layout.Parts)
		}
	})
	if rejoined == 0 {
		t.Error("no part has rejoined in any of the runs")
	}
}

// crashing is an engine on which parts of job 0 fail by themselves at given times.
type crashing struct {
	*simulated.Engine
	crashes []Notice
}

func (c *crashing) Next(ctx context.Context, until time.Duration) (time.Duration, []Notice, error) {
	if len(c.crashes) > 0 {
		until = min(until, c.crashes[0].At)
	}
	now, news, err := c.Engine.Next(ctx, until)
	for len(c.crashes) > 0 && c.crashes[0].At <= now {
		news, c.crashes = append(news, c.crashes[0]), c.crashes[1:]
	}
	return now, news, err
}

// A worker that fails by itself stays away for the rest of the attempt, and other jobs may use its core. A request for
// parts brings it back. The failure of a part without which the job cannot run ends the job.
func TestPartFailsByItself(t *testing.T) {
	crash := func(at time.Duration, role string, task int) Notice {
		return Notice{Kind: PartEnded, At: at, Role: role, Task: task, Reason: "killed"}
	}
	spared := "0s: worker-0@0 worker-1@0 ps-0@0\n10s: worker-0@0 ps-0@0"
	for name, test := range map[string]struct {
		crashes []Notice
		resizes []Resize
		layouts string
		state   State
		finish  time.Duration
	}{
		"a worker": {[]Notice{crash(10*time.Second, "worker", 1)}, nil, spared, Finished, 30 * time.Second},
		"a worker that is asked for again": {[]Notice{crash(10*time.Second, "worker", 1)},
			[]Resize{{At: 16 * time.Second, Role: "worker", Parts: 2}},
			spared + "\n16s: worker-0@0 worker-1@0 ps-0@0", Finished, 23 * time.Second},
		"after the end": {[]Notice{crash(20*time.Second, "worker", 1)}, nil, spared[:strings.Index(spared, "\n")],
			Finished, 20 * time.Second},
		"the first worker": {[]Notice{crash(10*time.Second, "worker", 0)}, nil, spared[:strings.Index(spared, "\n")], Stopped,
			10 * time.Second},
		"a part of a role that is not elastic": {[]Notice{crash(10*time.Second, "ps", 0)}, nil,
			spared[:strings.Index(spared, "\n")], Stopped, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			jobs := number([]Job{workers(0), {Name: "b", Threads: 1, Arrival: 2 * time.Second, Deadline: Never}})
			c := Cluster{Nodes: []Node{{Name: "n", Threads: 2}}}
			works := []simulated.Scaling{simulated.FullRequest(20*time.Second, 2), simulated.FullRequest(5*time.Second, 1)}
			e, err := simulated.New(jobs, works, simulated.Options{Cluster: c})
			if err != nil {
				t.Fatal(err)
			}
			events := &trace{}
			o, err := Run{Policy: Policy{Order: FCFS}, Cluster: c, Jobs: jobs, Resizes: test.resizes,
				Engine:   &crashing{e, test.crashes},
				Recorder: events}.Execute(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range validate.Trace(c, jobs, test.resizes, events.events, &o) {
				t.Error(v)
			}
			if got := layouts(events.events); got != test.layouts {
				t.Errorf("got\n%s\nwant\n%s", got, test.layouts)
			}
			if r := o.Jobs[0]; r.State != test.state || r.Finish != test.finish {
				t.Errorf("%s at %s, want %s at %s", r.State, r.Finish, test.state, test.finish)
			}
			if b := o.Jobs[1]; b.FirstStart != test.crashes[0].At {
				t.Errorf("b starts at %s", b.FirstStart)
			}
		})
	}
}
