package scheduler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
)

// trace is a Recorder that keeps all.
type trace struct {
	events    []Event
	decisions []Decision
}

func (t *trace) Event(e *Event)       { t.events = append(t.events, *e) }
func (t *trace) Decision(d *Decision) { t.decisions = append(t.decisions, *d) }

// at makes a job that arrives at a second, and asks for some cores for some
// seconds.
func at(arrival, cores int, seconds float64) Job {
	return Job{
		Arrival: time.Duration(arrival) * time.Second, Threads: cores,
		Predicted: time.Duration(seconds * float64(time.Second)), Deadline: Never,
	}
}

// with changes a job.
func with(j Job, change func(*Job)) Job { change(&j); return j }

func malleable(j Job) Job { return with(j, func(j *Job) { j.Malleable = true }) }

func level(n int, j Job) Job { return with(j, func(j *Job) { j.Priority = n }) }

func one(cores int) Cluster { return Cluster{Nodes: []Node{{Name: "n0", Threads: cores}}} }

// number names the jobs A, B, C, … and numbers them.
func number(jobs []Job) []Job {
	for i := range jobs {
		jobs[i].Number = i
		if jobs[i].Name == "" {
			jobs[i].Name = string(rune('A' + i))
		}
	}
	return jobs
}

// works returns the true work: the predictions, which scale with the cores.
func works(jobs []Job) []simulated.Scaling {
	w := make([]simulated.Scaling, len(jobs))
	for i, j := range jobs {
		w[i] = simulated.FullRequest(j.Predicted, j.Threads)
	}
	return w
}

// simulate runs a cell, and fails the test unless its trace is valid.
func simulate(t testing.TB, r Run, work []simulated.Scaling) (Outcome, *trace) {
	t.Helper()
	if work == nil {
		work = works(r.Jobs)
	}
	engine, err := simulated.New(r.Jobs, work, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var tr trace
	if r.Policy == nil {
		r.Policy = Policy{}
	}
	r.Engine, r.Recorder = engine, &tr
	o, err := r.Execute(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range validate.Trace(r.Cluster, r.Jobs, r.Resizes, tr.events, &o) {
		t.Error(v)
	}
	return o, &tr
}

// gantt draws a row a job and a character a second: the cores that the job
// holds, or a dot while it waits.
func gantt(jobs []Job, events []Event) string {
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
		case Finish, Fail, Stop:
			mark[e.Job] = ""
		case Request, Level:
		default:
			mark[e.Job] = "."
			if n := e.Cores.Count(); n > 0 {
				mark[e.Job] = fmt.Sprintf("%x", n)
			}
		}
		if e.Kind == Arrive {
			fmt.Fprintf(&rows[e.Job], "%s", strings.Repeat(" ", int(e.At/time.Second)))
		}
	}
	var b strings.Builder
	for i := range rows {
		fmt.Fprintf(&b, "%s |%s|\n", jobs[i].Name, rows[i].String())
	}
	return b.String()
}

func TestGantt(t *testing.T) {
	for _, c := range ganttCases {
		t.Run(c.name, func(t *testing.T) {
			r := Run{Policy: c.policy, Cluster: one(c.cores), Jobs: number(append([]Job(nil), c.jobs...)), Resizes: c.resizes}
			if c.cluster != nil {
				r.Cluster = *c.cluster
			}
			work := works(r.Jobs)
			for job, took := range c.runs {
				work[job].Scaled = took
			}
			_, tr := simulate(t, r, work)
			want := strings.ReplaceAll(strings.TrimLeft(c.want, "\n"), "\t", "")
			if diff := cmp.Diff(want, gantt(r.Jobs, tr.events)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", r.Policy, diff)
			}
		})
	}
}

func due(deadline int, j Job) Job {
	return with(j, func(j *Job) { j.Deadline = time.Duration(deadline) * time.Second })
}

func of(user string, j Job) Job { return with(j, func(j *Job) { j.User = user }) }

func gang(nodes int, j Job) Job { return with(j, func(j *Job) { j.Nodes = nodes }) }

func memory(bytes int64, j Job) Job { return with(j, func(j *Job) { j.Memory = bytes }) }

func gpus(n int, j Job) Job { return with(j, func(j *Job) { j.GPUs = n }) }
