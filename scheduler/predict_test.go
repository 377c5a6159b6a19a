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

// firstSlow is a progress model in which the first job runs half as fast as the others. Progress is the run time at
// full speed.
type firstSlow struct{}

func (firstSlow) slow(j *Job) time.Duration {
	if j.Number == 0 {
		return 2
	}
	return 1
}

func (o firstSlow) Done(j *Job, _ int, stretch time.Duration) time.Duration {
	return stretch / o.slow(j)
}
func (firstSlow) Past(_ *Job, done time.Duration) time.Duration { return done }
func (o firstSlow) Predict(j *Job, left time.Duration, _ int) time.Duration {
	return left * o.slow(j)
}

// outlooks runs jobs with the given run times in seconds. It returns the starts of the jobs, in seconds, with the
// default progress model and with firstSlow.
func outlooks(t *testing.T, p Policy, c Cluster, jobs []Job, seconds ...int) (plain, slow []time.Duration) {
	t.Helper()
	work := make([]simulated.Scaling, len(jobs))
	for i := range work {
		jobs[i].GPUs = max(jobs[i].Nodes, 1)
		work[i] = simulated.FullRequest(time.Duration(seconds[i])*time.Second, jobs[i].Threads)
	}
	starts := func(o ProgressModel) (all []time.Duration) {
		engine, err := simulated.New(jobs, work, simulated.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out, err := Run{Policy: p, Cluster: c, Jobs: number(jobs), Engine: engine, ProgressModel: o}.Execute(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range out.Jobs {
			all = append(all, r.FirstStart/time.Second)
		}
		return all
	}
	return starts(nil), starts(firstSlow{})
}

// A runs on the K80 and ends at 8 s. C needs both nodes. With firstSlow, C has a reservation at 8 s, so D may pass it
// on the V100 when B has ended. The default model expects A to end at 4 s, and after that at any moment.
func TestReservationsAskTheOutlook(t *testing.T) {
	cluster := Cluster{Nodes: []Node{{Threads: 1, GPUs: 1, GPU: "K80"}, {Threads: 1, GPUs: 1, GPU: "V100"}}}
	c := at(1, 2, 2)
	c.Nodes = 2
	plain, slow := outlooks(t, Policy{Backfill: EASY}, cluster, []Job{at(0, 1, 4), at(0, 1, 6), c, at(7, 1, 1)}, 8, 6, 2,
		1)
	if diff := cmp.Diff([]time.Duration{0, 0, 8, 10}, plain); diff != "" {
		t.Error("by cores:", diff)
	}
	if diff := cmp.Diff([]time.Duration{0, 0, 8, 7}, slow); diff != "" {
		t.Error("by job:", diff)
	}
}

// A has run for 4 s of its predicted 4 s. On a K80 that is half of its work. So B, which takes 1 s as predicted, is
// shorter.
func TestWhatIsDoneAsksTheOutlook(t *testing.T) {
	cluster := Cluster{Nodes: []Node{{Threads: 1, GPUs: 1, GPU: "K80"}}}
	plain, slow := outlooks(t, Policy{Order: "srtf"}, cluster, []Job{at(0, 1, 4), at(4, 1, 1)}, 8, 1)
	if diff := cmp.Diff([]time.Duration{0, 8}, plain); diff != "" {
		t.Error("by cores:", diff)
	}
	if diff := cmp.Diff([]time.Duration{0, 4}, slow); diff != "" {
		t.Error("by job:", diff)
	}
}
