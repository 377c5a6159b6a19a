package published_test

import (
	"context"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// TestSRSFOfAResizedJob: a job of 4 s on two cores has 8 core-seconds left, even when it shall have one core. The other
// job has 6 and goes first. With 4 core-seconds by its new request, the first job would pause the second and yet be
// behind it in the queue. The queue would resume the second at once, and this would repeat without end.
func TestSRSFOfAResizedJob(t *testing.T) {
	job := func(number, threads int, predicted time.Duration) scheduler.Job {
		return scheduler.Job{Number: number, Name: string(rune('A' + number)), Threads: threads, Predicted: predicted,
			Deadline: scheduler.Never}
	}
	jobs := []scheduler.Job{job(0, 1, time.Second), job(1, 2, 4*time.Second), job(2, 2, 3*time.Second)}
	jobs[2].Malleable = true
	var work []simulated.Scaling
	for _, j := range jobs {
		work = append(work, simulated.FullRequest(j.Predicted, j.Threads))
	}
	engine, err := simulated.New(jobs, work, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := scheduler.Run{
		Policy: policy.Policy{Order: "srsf", Allocation: policy.MaxProp, Preemption: policy.PausePreemption,
			Victims: policy.LongestRun},
		Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 2}}}, Jobs: jobs, Engine: engine,
		Resizes: []scheduler.Resize{{Job: 1, Threads: 1}},
	}.Execute(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range out.Jobs {
		if r.State != scheduler.Finished || r.Preemptions != 0 {
			t.Errorf("job %s: %s, paused %d times", jobs[i].Name, r.State, r.Preemptions)
		}
	}
}
