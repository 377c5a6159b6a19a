package measure_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/scheduler"
)

const second = time.Second

func cores(lo, hi int32) scheduler.CoreSet { return scheduler.CoreSet{{Lo: lo, Hi: hi}} }

// twoJobs returns the setup and the events of resultstest.TwoJobs.
func twoJobs() (measure.Setup, []scheduler.Event) {
	s, events := resultstest.TwoJobs()
	return s.Setup, events
}

func collect(s measure.Setup, events []scheduler.Event) *measure.Collector {
	c := measure.NewCollector(s)
	for _, e := range events {
		c.Event(&e)
	}
	return c
}

func TestRowsByHand(t *testing.T) {
	setup, events := twoJobs()
	setup.Jobs[0].Deadline = 4 * time.Second
	c := collect(setup, events)
	c.SetFinal(0, measure.Unreported.Then(0.5, 0.75).Then(0.25, math.NaN()))
	c.SetMoney(0, measure.ServerCost{Cost: 1.5, Revocations: math.NaN()})
	c.SetMoney(1, measure.ServerCost{Cost: 0.25, Revocations: 2})
	want := []measure.Outcome{
		{
			Job: "a-1", Class: "a",
			JobTimes: measure.JobTimes{Arrival: 0, FirstStart: 0, Finish: 5, FirstRunDelay: 0, Waiting: 1, Service: 4, JCT: 5},
			Slowdown: 1.25, BoundedSlowdown: 1, FinishTime: 5 / 5.6, Resource: "cpu", ThreadsRequested: 2, ThreadsMean: 2, Preemptions: 1,
			State: "finished", Predicted: 5, PredictionErrorPct: 25, ResizeOverhead: -1,
			FinalAccuracy: 0.75, FinalLoss: 0.25, ServerCost: measure.ServerCost{Cost: 1.5, Revocations: math.NaN()},
			Recovery: measure.Recovery{LostWork: math.NaN(), CheckpointTime: math.NaN(), RestoreTime: math.NaN()}, Lateness: 1,
			BudgetUse: measure.BudgetUse{Budget: math.NaN(), BudgetUsed: math.NaN(), Scoring: math.NaN()},
		},
		{
			Job: "b-1", Class: "b",
			JobTimes: measure.JobTimes{Arrival: 1, FirstStart: 2, Finish: 3, FirstRunDelay: 1, Waiting: 1, Service: 1, JCT: 2},
			Slowdown: 2, BoundedSlowdown: 1, FinishTime: 2, Resource: "cpu", ThreadsRequested: 1, ThreadsMean: 1,
			State: "finished", Predicted: 0.5, PredictionErrorPct: -50, ResizeOverhead: -1,
			FinalAccuracy: math.NaN(), FinalLoss: math.NaN(), ServerCost: measure.ServerCost{Cost: 0.25, Revocations: 2},
			Recovery: measure.Recovery{LostWork: math.NaN(), CheckpointTime: math.NaN(), RestoreTime: math.NaN()}, Lateness: math.NaN(),
			BudgetUse: measure.BudgetUse{Budget: math.NaN(), BudgetUsed: math.NaN(), Scoring: math.NaN()},
		},
	}
	if d := cmp.Diff(want, []measure.Outcome{c.Outcome(0), c.Outcome(1)}, cmpopts.EquateNaNs()); d != "" {
		t.Error(d)
	}
	wantMetrics := map[string]float64{
		// 9 of 10 core-seconds
		"jobs": 2, "finished": 2, "failed": 0, "makespan_s": 5, "throughput_per_h": 1440, "utilization": 0.9,
		"mean_jct_s": 3.5, "median_jct_s": 3.5, "p95_jct_s": 4.85, "mean_waiting_s": 1, "median_waiting_s": 1, "p95_waiting_s": 1, "max_waiting_s": 1, "mean_first_run_delay_s": 0.5, "mean_service_s": 2.5,
		"mean_slowdown": 1.625, "p95_slowdown": 1.9625, "jain_fairness": 3.25 * 3.25 / (2 * (1.25*1.25 + 4)),
		"preemptions": 1, "resizes": 0, "mean_bounded_slowdown": 1, "final_accuracy": 0.75, "final_loss": 0.25, "cost_usd": 1.75, "revocations": 2,
		"gpu_utilization": math.NaN(), // there are no GPUs
		"gpu_fragments":   math.NaN(), "gpu_fragmentation": math.NaN(),
		// All nodes are static.
		"lost_work_s": math.NaN(), "checkpoint_s": math.NaN(), "reconfigurations": 0, "migrations": 1, "profiling_s": 0,
		// The deadline of the first job is after 4 s.
		"missed_deadlines": 1, "lateness_s": 1,
		// While the first job was there, there were 1, 2, 2, 1, 1 jobs: 1.4 on average. That part of two cores is
		// 1/0.7 of one: for 4 s on both it would have taken 5.6 s. Next to one other, the second has the core that it
		// requests.
		"max_finish_time_ratio": 2, "mean_finish_time_ratio": (5/5.6 + 2) / 2,
		"jain_finish_time": (5/5.6 + 2) * (5/5.6 + 2) / (2 * (5/5.6*5/5.6 + 4)),
	}
	values, all := c.Metrics(), measure.AllMetrics()
	if len(all) != len(wantMetrics) {
		t.Errorf("%d metrics, want %d", len(all), len(wantMetrics))
	}
	for _, m := range all {
		if got, want := m.Of(&values), wantMetrics[m.Name]; math.IsNaN(got) != math.IsNaN(want) ||
			math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", m.Name, got, want)
		}
	}
}

func TestFailedAndUnfinished(t *testing.T) {
	s, events := twoJobs()
	events = append(events[:5:5], scheduler.Event{At: 2500 * time.Millisecond, Kind: scheduler.Fail, Job: 1,
		Reason: "exit status 1"})
	c := collect(s, events)
	a, b := c.Outcome(0), c.Outcome(1)
	if a.State != "paused" || a.Finish >= 0 || a.JCT >= 0 || a.Waiting != 0.5 || a.Service != 2 ||
		!math.IsNaN(a.Slowdown) {
		t.Errorf("the unfinished job: %+v", a)
	}
	if b.State != "failed" || b.Finish != 2.5 || b.JCT != 1.5 || b.Waiting+b.Service != b.JCT || !math.IsNaN(b.Slowdown) ||
		!math.IsNaN(b.PredictionErrorPct) {
		t.Errorf("the failed job: %+v", b)
	}
	m := c.Metrics()
	if measure.Failed.Of(&m) != 1 || measure.Finished.Of(&m) != 0 || measure.Makespan.Of(&m) != 2.5 ||
		measure.Throughput.Of(&m) != 0 ||
		!math.IsNaN(measure.MeanJCT.Of(&m)) || !math.IsNaN(measure.JainFairness.Of(&m)) {
		t.Errorf("metrics: %+v", m)
	}
	if d := cmp.Diff([]measure.Failure{{Job: "b-1", At: 2.5, Reason: "exit status 1"}}, c.Failures()); d != "" {
		t.Error(d)
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(raw, []byte(`"mean_jct_s":null`)) {
		t.Errorf("JSON is %s", raw)
	}
	var back measure.Metrics
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(back); err != nil || !bytes.Equal(raw, again) {
		t.Errorf("%s came back as %s, %v", raw, again, err)
	}
}

func TestNothingHappened(t *testing.T) {
	raw, err := json.Marshal(collect(measure.Setup{}, nil).Metrics())
	if err != nil || bytes.Contains(raw, []byte("NaN")) {
		t.Errorf("%s, %v", raw, err)
	}
}

// TestResizedJob: a job runs for 1 s on two cores, then for 2 s on one core.
func TestResizedJob(t *testing.T) {
	s, _ := twoJobs()
	s.Jobs = s.Jobs[:1]
	r := collect(s, []scheduler.Event{
		{Kind: scheduler.Arrive}, {Kind: scheduler.Start, Cores: cores(0, 2)},
		{At: second, Kind: scheduler.Request}, {At: second, Kind: scheduler.ResizeJob, Cores: cores(1, 2)},
		{At: 3 * second, Kind: scheduler.Finish},
	}).Outcome(0)
	if r.Resizes != 1 || r.Service != 3 || math.Abs(r.ThreadsMean-4.0/3) > 1e-12 || !math.IsNaN(r.PredictionErrorPct) {
		t.Errorf("%+v", r)
	}
}

// TestPrintedTimesAddUp: waiting + service = JCT, and the other sums, hold in the digits of the table, for any
// instants.
func TestPrintedTimesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		now := time.Duration(rng.Int64N(int64(100 * second)))
		s := measure.Setup{Jobs: []scheduler.Job{{Name: "a-1", Class: "a", Threads: 1, Arrival: now}}}
		events := []scheduler.Event{{At: now, Kind: scheduler.Arrive}}
		step := func(kind scheduler.EventKind, c scheduler.CoreSet) {
			now += time.Duration(rng.Int64N(int64(second)))
			events = append(events, scheduler.Event{At: now, Kind: kind, Cores: c})
		}
		step(scheduler.Start, cores(0, 1))
		for range rng.IntN(50) {
			step(scheduler.Pause, nil)
			step(scheduler.Resume, cores(0, 1))
		}
		step(scheduler.Finish, nil)
		raw, err := json.Marshal(record.JobRow{Outcome: collect(s, events).Outcome(0)})
		if err != nil {
			t.Fatal(err)
		}
		var row map[string]any
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&row); err != nil {
			t.Fatal(err)
		}
		micros := func(name string) int64 {
			v := row[name].(json.Number).String()
			n, err := strconv.ParseInt(v[:len(v)-7]+v[len(v)-6:], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if micros("waiting_s")+micros("service_s") != micros("jct_s") {
			t.Fatalf("waiting %v + service %v is not JCT %v", row["waiting_s"], row["service_s"], row["jct_s"])
		}
		if micros("finish_s")-micros("arrival_s") != micros("jct_s") ||
			micros("first_start_s")-micros("arrival_s") != micros("first_run_delay_s") {
			t.Fatalf("times do not add up: %s", raw)
		}
	})
}

func BenchmarkCollector(b *testing.B) {
	const n = 100_000
	s := measure.Setup{Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: n}}}}
	for i := range n {
		s.Jobs = append(s.Jobs, scheduler.Job{Number: i, Threads: 1})
	}
	b.ReportAllocs()
	for b.Loop() {
		c := measure.NewCollector(s)
		for i := range n {
			c.Event(&scheduler.Event{Kind: scheduler.Arrive, Job: i})
			c.Event(&scheduler.Event{Kind: scheduler.Start, Job: i, Cores: scheduler.CoreSet{{Lo: int32(i), Hi: int32(i + 1)}}})
			c.Event(&scheduler.Event{At: second, Kind: scheduler.Finish, Job: i})
		}
		c.Metrics()
	}
}
