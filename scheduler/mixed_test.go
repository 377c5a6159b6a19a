package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/ledger"
	. "github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
	. "github.com/tfexp/tfexp/stages/allox"
)

// faulty is a simulated engine on which attempts fail. The engine below it sees each attempt of a job as a separate
// job.
type faulty struct {
	*simulated.Engine
	jobOf   []int        // by attempt: the job
	first   []int        // by job: the number of its first attempt
	begun   []int        // by job: number of attempts so far
	fails   []int        // by job: number of attempts that fail at their end
	refused map[int]bool // jobs that cannot start
}

func newFaulty(t *rapid.T, jobs []Job, work []simulated.Scaling, fails []int, refused map[int]bool,
	o simulated.Options) *faulty {
	f := &faulty{begun: make([]int, len(jobs)), fails: fails, refused: refused}
	var attempts []Job
	var works []simulated.Scaling
	for i, j := range jobs {
		f.first = append(f.first, len(attempts))
		for n := range j.Retries() + 1 {
			a := j
			a.Number, a.Name = len(attempts), fmt.Sprintf("%s.%d", j.Name, n)
			attempts, works, f.jobOf = append(attempts, a), append(works, work[i]), append(f.jobOf, i)
		}
	}
	var err error
	if f.Engine, err = simulated.New(attempts, works, o); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *faulty) attempt(job int) int { return f.first[job] + f.begun[job] - 1 }

func (f *faulty) Start(job int, g Grant) error {
	if f.refused[job] {
		return errors.New("no such program")
	}
	f.begun[job]++
	return f.Engine.Start(f.attempt(job), g)
}
func (f *faulty) Pause(job int) error           { return f.Engine.Pause(f.attempt(job)) }
func (f *faulty) Resume(job int, g Grant) error { return f.Engine.Resume(f.attempt(job), g) }
func (f *faulty) Migrate(job int, g Grant) error {
	return f.Engine.Migrate(f.attempt(job), g)
}
func (f *faulty) Resize(job int, g Grant) error { return f.Engine.Resize(f.attempt(job), g) }
func (f *faulty) Stop(job int) error            { return f.Engine.Stop(f.attempt(job)) }

func (f *faulty) Next(ctx context.Context, until time.Duration) (time.Duration, []Notice, error) {
	now, ended, err := f.Engine.Next(ctx, until)
	for i := range ended {
		e := &ended[i]
		e.Job = f.jobOf[e.Job]
		if e.State == Finished && f.begun[e.Job] <= f.fails[e.Job] {
			e.State, e.Reason = Failed, "exit status 1"
		}
	}
	return now, ended, err
}

func (f *faulty) Watch(units []int) {
	all := make([]int, len(f.jobOf))
	for i, j := range f.jobOf {
		all[i] = units[j]
	}
	f.Engine.Watch(all)
}

// mixed is a run that combines all features, with the data to repeat it.
type mixed struct {
	Run
	work    []simulated.Scaling
	options simulated.Options
	fails   []int
	refused map[int]bool
	units   []int // nil without online predictions
}

func drawMixed(t *rapid.T) mixed {
	var m mixed
	m.Cluster = drawCluster(t)
	for i := range m.Cluster.Nodes {
		m.Cluster.Nodes[i].GPU = rapid.SampledFrom([]string{"", "K80", "V100"}).Draw(t, "type")
	}
	m.Jobs, m.work = drawJobs(t, m.Cluster, false)
	p := drawPolicy(t)
	switch rapid.IntRange(0, 4).Draw(t, "kind of policy") {
	case 0:
		p = Policy{Order: AlloX, Settings: Settings{"alpha": rapid.SampledFrom([]float64{0.1, 0.5, 1}).Draw(t, "alpha")}}
	case 1:
		p.Placement, p.Backfill, p.Allocation = "earliest_finish", "conservative", Strict
		delete(p.Settings, "replan")
	case 2:
		p.Allocation = Strict
	case 3:
		p.Placement, p.Backfill, p.Allocation = Pairs, FirstFit, Strict
	}
	m.Policy = p
	if p.Allocation == Strict || p.Allocation == "" {
		drawAlternatives(t, m.Cluster, m.Jobs)
	}
	m.refused = map[int]bool{}
	for i := range m.Jobs {
		j := &m.Jobs[i]
		for _, a := range j.Alternatives() {
			run := time.Duration(rapid.IntRange(0, 9).Draw(t, "way run")) * time.Second
			m.work[i].AddAlternative(simulated.FullRequest(run, a.Threads))
		}
		j.Own().Retries = rapid.IntRange(0, 2).Draw(t, "retries")
		m.fails = append(m.fails, rapid.SampledFrom([]int{0, 0, 1, 2, 3}).Draw(t, "fails"))
		m.refused[i] = rapid.IntRange(0, 9).Draw(t, "refused") == 0
	}
	for _, z := range drawResizes(t, m.Jobs) {
		if len(m.Jobs[z.Job].Alternatives()) == 0 {
			m.Resizes = append(m.Resizes, z)
		}
	}
	m.options.Seed = rapid.Int64().Draw(t, "seed")
	if rapid.Bool().Draw(t, "noisy") {
		m.options.Noise, m.options.Overheads = 0.2, simulated.Overheads{Start: 7e6, Pause: 1e6, Resume: 2e6, Resize: 3e6}
	}
	if rapid.Bool().Draw(t, "contention") {
		m.options.Contention = &simulated.Contention{Slowdown: crowding, Cluster: m.Cluster}
	}
	if rapid.Bool().Draw(t, "online") {
		m.units = rapid.SliceOfN(rapid.IntRange(0, 40), len(m.Jobs), len(m.Jobs)).Draw(t, "units")
	}
	if rapid.Bool().Draw(t, "closes") {
		m.Until = time.Duration(rapid.IntRange(1, 40).Draw(t, "until")) * time.Second
	}
	return m
}

func (m mixed) execute(t *rapid.T) (Outcome, *trace) {
	var tr trace
	r := m.Run
	r.Engine, r.Recorder = newFaulty(t, m.Jobs, m.work, m.fails, m.refused, m.options), &tr
	if m.units != nil {
		r.Online = &Online{Units: m.units, Predictor: &wild{}}
	}
	out, err := r.Execute(context.Background())
	if err != nil {
		t.Fatalf("%s: %v", m.Policy, err)
	}
	return out, &tr
}

// All features are combined: alternatives, retries, jobs that cannot start, resize requests, gangs, memory, contention,
// online predictions and a horizon. The trace is valid, each job ends as it must, and the same seed gives the same
// trace.
func TestAnyMixtureIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMixed(t)
		out, tr := m.execute(t)
		for _, v := range validate.Trace(m.Cluster, m.Jobs, m.Resizes, tr.events, &out) {
			t.Errorf("%s: %s", m.Policy, v)
		}
		replay(t, m.Jobs, tr.events, out)
		for i, r := range out.Jobs {
			want, restarts := Finished, min(m.fails[i], m.Jobs[i].Retries())
			switch {
			case m.refused[i]:
				want, restarts = Failed, 0
			case m.fails[i] > m.Jobs[i].Retries():
				want = Failed
			}
			closed := m.Until > 0 && (r.State == Stopped && r.Finish == m.Until || r.State == Pending &&
				m.Jobs[i].Arrival > m.Until)
			if !closed && (r.State != want || r.Restarts != restarts) {
				t.Errorf("%s: job %d is %s after %d restarts, want %s after %d", m.Policy, i, r.State, r.Restarts, want, restarts)
			}
		}
		again, tr2 := m.execute(t)
		if !reflect.DeepEqual(tr.events, tr2.events) || !reflect.DeepEqual(out, again) ||
			!reflect.DeepEqual(tr.decisions, tr2.decisions) {
			t.Errorf("%s: the same seed gives another trace", m.Policy)
		}
	})
}

// replay checks that a ledger of the events agrees with the results of the jobs.
func replay(t *rapid.T, jobs []Job, events []Event, out Outcome) {
	l := ledger.New(len(jobs))
	service := make([]time.Duration, len(jobs))
	for i := range events {
		service[events[i].Job] += l.Event(&events[i]).Held
	}
	for i, r := range out.Jobs {
		j := l.Job(i)
		if j.State() != r.State || j.FirstStart != r.FirstStart || j.End() != r.Finish || service[i] != r.Service ||
			int(j.Pauses) != r.Preemptions || int(j.Resizes) != r.Resizes || int(j.Retries) != r.Restarts {
			t.Errorf("job %d: %+v, %s of service; the run says %+v", i, *j, service[i], r)
		}
	}
	if cores, gpus := l.Held(); cores != 0 || gpus != 0 {
		t.Errorf("%d cores and %d GPUs are held at the end", cores, gpus)
	}
}
