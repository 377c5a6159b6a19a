package scheduler_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
)

// trace is a Recorder that keeps all events and decisions.
type trace struct {
	events    []Event
	decisions []Decision
}

func (t *trace) Event(e *Event)       { t.events = append(t.events, *e) }
func (t *trace) Decision(d *Decision) { t.decisions = append(t.decisions, *d) }

// at and number make jobs; gantt draws their schedule.
var at, number, gantt = schedulertest.At, schedulertest.Number, schedulertest.Gantt

// with changes a job.
func with(j Job, change func(*Job)) Job { change(&j); return j }

func malleable(j Job) Job { return with(j, func(j *Job) { j.Malleable = true }) }

func level(n int, j Job) Job { return with(j, func(j *Job) { j.Priority = n }) }

func one(cores int) Cluster { return Cluster{Nodes: []Node{{Name: "n0", Threads: cores}}} }

// works returns work that takes the predicted time and speeds up in proportion to cores.
func works(jobs []Job) []simulated.Scaling {
	w := make([]simulated.Scaling, len(jobs))
	for i, j := range jobs {
		w[i] = simulated.FullRequest(j.Predicted, j.Threads)
	}
	return w
}

// simulate runs jobs on the simulated engine, and fails the test unless the trace is valid.
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
