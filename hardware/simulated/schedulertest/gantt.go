package schedulertest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
)

// At returns a job that arrives at an instant (seconds), and runs for some seconds on its requested cores.
func At(arrival, cores int, seconds float64) scheduler.Job {
	return scheduler.Job{
		Arrival: time.Duration(arrival) * time.Second, Threads: cores,
		Predicted: time.Duration(seconds * float64(time.Second)), Deadline: scheduler.Never,
	}
}

// OnGPU returns the job with a second alternative: one core and one GPU, for the given seconds.
func OnGPU(seconds float64, j scheduler.Job) scheduler.Job {
	return OnTypes(j, scheduler.Alternative{Threads: 1, GPUs: 1, Predicted: time.Duration(seconds * float64(time.Second))})
}

// TwoKinds has a node with two cores, and a node with a GPU and a core.
var TwoKinds = scheduler.Cluster{Nodes: []scheduler.Node{{Name: "cpu", Threads: 2}, {Name: "gpu", Threads: 1, GPUs: 1, GPU: "V100"}}}

// Number names the jobs A, B, C, … and numbers them.
func Number(jobs []scheduler.Job) []scheduler.Job {
	for i := range jobs {
		jobs[i].Number = i
		if jobs[i].Name == "" {
			jobs[i].Name = string(rune('A' + i))
		}
	}
	return jobs
}

// Work returns work that takes exactly the predicted times, for jobs and their alternatives.
func Work(jobs []scheduler.Job) []simulated.Scaling {
	w := make([]simulated.Scaling, len(jobs))
	for i, j := range jobs {
		w[i] = simulated.FullRequest(j.Predicted, j.Threads)
		for _, a := range j.Alternatives() {
			w[i].AddAlternative(simulated.FullRequest(a.Predicted, a.Threads))
		}
	}
	return w
}

// Simulate runs jobs with exact predictions. The test fails if the trace is not valid.
func Simulate(t *testing.T, c scheduler.Cluster, p policy.Policy, jobs []scheduler.Job, o simulated.Options) *Trace {
	t.Helper()
	engine, err := simulated.New(jobs, Work(jobs), o)
	if err != nil {
		t.Fatal(err)
	}
	tr := &Trace{Policy: p.String()}
	tr.Run = scheduler.Run{Policy: p, Cluster: c, Jobs: jobs, Engine: engine, Recorder: tr}
	if tr.Outcome, err = tr.Run.Execute(t.Context()); err != nil {
		t.Fatalf("%s: %v", p, err)
	}
	for _, v := range validate.Trace(c, jobs, nil, tr.Events, &tr.Outcome) {
		t.Errorf("%s: %v", p, v)
	}
	return tr
}

// Want compares the grants in a trace with a drawing as Gantt makes it. The drawing may be indented by tabs.
func (tr *Trace) Want(t *testing.T, drawing string) {
	t.Helper()
	drawing = strings.ReplaceAll(strings.TrimLeft(drawing, "\n"), "\t", "")
	if diff := cmp.Diff(drawing, Gantt(tr.Run.Jobs, tr.Events)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", tr.Policy, diff)
	}
}

// Gantt draws a row for each job, with a character for each second: the number of its cores, or a dot while it
// waits.
func Gantt(jobs []scheduler.Job, events []scheduler.Event) string {
	rows := make([]strings.Builder, len(jobs))
	mark := make([]string, len(jobs))
	now := time.Duration(0)
	for _, e := range events {
		for ; now < e.At; now += time.Second {
			for i := range rows {
				rows[i].WriteString(mark[i])
			}
		}
		switch e.Kind {
		case scheduler.Finish, scheduler.Fail, scheduler.Stop:
			mark[e.Job] = ""
		case scheduler.Request, scheduler.Level:
		default:
			mark[e.Job] = "."
			if n := e.Cores.Count(); n > 0 {
				mark[e.Job] = fmt.Sprintf("%x", n)
			}
		}
		if e.Kind == scheduler.Arrive {
			fmt.Fprintf(&rows[e.Job], "%s", strings.Repeat(" ", int(e.At/time.Second)))
		}
	}
	var b strings.Builder
	for i := range rows {
		fmt.Fprintf(&b, "%s |%s|\n", jobs[i].Name, rows[i].String())
	}
	return b.String()
}
