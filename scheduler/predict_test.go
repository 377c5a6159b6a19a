package scheduler_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
)

// byType is an outlook in which jobs go half as fast on a K80. What is done is
// run time at full speed.
type byType struct{}

func (byType) slow(a Allotment) time.Duration {
	if a.GPU == "K80" {
		return 2
	}
	return 1
}

func (b byType) Done(_ *Job, a Allotment, stretch time.Duration) time.Duration {
	return stretch / b.slow(a)
}
func (byType) Past(_ *Job, done time.Duration) time.Duration { return done }
func (b byType) Predict(_ *Job, left time.Duration, a Allotment) time.Duration {
	return left * b.slow(a)
}

// outlooks runs jobs that take so many seconds, and returns when each starts, by
// the default outlook and by the type of GPU.
func outlooks(t *testing.T, p Policy, c Cluster, jobs []Job, seconds ...int) (plain, typed []time.Duration) {
	t.Helper()
	work := make([]simulated.Scaling, len(jobs))
	for i := range work {
		jobs[i].GPUs = max(jobs[i].Nodes, 1)
		work[i] = simulated.FullRequest(time.Duration(seconds[i])*time.Second, jobs[i].Threads)
	}
	starts := func(o Outlook) (all []time.Duration) {
		engine, err := simulated.New(jobs, work, simulated.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out, err := Run{Policy: p, Cluster: c, Jobs: number(jobs), Engine: engine, Outlook: o}.Execute(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range out.Jobs {
			all = append(all, r.FirstStart/time.Second)
		}
		return all
	}
	return starts(nil), starts(byType{})
}

// A is on the K80 and ends at 8 s; C needs both nodes. An outlook that knows of the
// K80 reserves them for 8 s, and lets D pass on the V100 when B has ended; by cores
// alone A is overdue from 4 s on, and could end at any moment.
func TestReservationsAskTheOutlook(t *testing.T) {
	cluster := Cluster{Nodes: []Node{{Threads: 1, GPUs: 1, GPU: "K80"}, {Threads: 1, GPUs: 1, GPU: "V100"}}}
	c := at(1, 2, 2)
	c.Nodes = 2
	plain, typed := outlooks(t, Policy{Backfill: EASY}, cluster, []Job{at(0, 1, 4), at(0, 1, 6), c, at(7, 1, 1)}, 8, 6, 2,
		1)
	if diff := cmp.Diff([]time.Duration{0, 0, 8, 10}, plain); diff != "" {
		t.Error("by cores:", diff)
	}
	if diff := cmp.Diff([]time.Duration{0, 0, 8, 7}, typed); diff != "" {
		t.Error("by type:", diff)
	}
}

// A has run for 4 s of its predicted 4. On a K80 that was half of it, so B, which
// takes 1 s there as it is predicted to, is shorter.
func TestWhatIsDoneAsksTheOutlook(t *testing.T) {
	cluster := Cluster{Nodes: []Node{{Threads: 1, GPUs: 1, GPU: "K80"}}}
	plain, typed := outlooks(t, Policy{Order: SRTF}, cluster, []Job{at(0, 1, 4), at(4, 1, 1)}, 8, 1)
	if diff := cmp.Diff([]time.Duration{0, 8}, plain); diff != "" {
		t.Error("by cores:", diff)
	}
	if diff := cmp.Diff([]time.Duration{0, 4}, typed); diff != "" {
		t.Error("by type:", diff)
	}
}
