package scheduler_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
)

// meanPace predicts from the mean time of a job's finished units. It assumes progress in proportion to cores.
type meanPace struct {
	jobs  []Job
	units []int
	done  []int
	spent []time.Duration // by job: core time of finished units
	told  []learnt
}

// learnt is a recorded call of Learn.
type learnt struct {
	Job, Units int
	Held       []Held
}

func newMeanPace(jobs []Job, units []int) *meanPace {
	return &meanPace{jobs: jobs, units: units, done: make([]int, len(jobs)), spent: make([]time.Duration, len(jobs))}
}

func (m *meanPace) Forget(job int) { m.done[job], m.spent[job] = 0, 0 }

func (m *meanPace) Learn(job, units int, _ []Loss, held []Held) time.Duration {
	m.told = append(m.told, learnt{job, units, append([]Held(nil), held...)})
	m.done[job] += units
	for _, h := range held {
		m.spent[job] += h.Time * time.Duration(h.Cores)
	}
	return m.spent[job] / time.Duration(m.jobs[job].Threads) *
		time.Duration(m.units[job]-m.done[job]) / time.Duration(m.done[job])
}

// online runs jobs with the given actual run times on their full requests, and numbers of units, with online
// predictions.
func online(t *testing.T, p Policy, cores int, jobs []Job, actual []float64, units []int, resizes ...Resize) (Outcome,
	*trace, *meanPace) {
	t.Helper()
	jobs = number(jobs)
	work := make([]simulated.Scaling, len(jobs))
	for i := range work {
		work[i] = simulated.FullRequest(time.Duration(actual[i]*float64(time.Second)), jobs[i].Threads)
	}
	engine, err := simulated.New(jobs, work, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var tr trace
	m := newMeanPace(jobs, units)
	r := Run{Policy: p, Cluster: one(cores), Jobs: jobs, Resizes: resizes, Engine: engine, Recorder: &tr}
	if units != nil {
		r.Online = &Online{Units: units, Predictor: m}
	}
	out, err := r.Execute(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range validate.Trace(one(cores), jobs, resizes, tr.events, &out) {
		t.Error(v)
	}
	return out, &tr, m
}

func finishes(out Outcome) []time.Duration {
	var f []time.Duration
	for _, r := range out.Jobs {
		f = append(f, r.Finish/time.Second)
	}
	return f
}

// A is predicted to take 2 s and takes 10, in ten units; B takes 5 s, as predicted.
//
//	offline: AAAAAAAAAABBBBB   at 3 A is overdue: any moment now, for seven seconds
//	online:  AAABBBBBAAAAAAA   after its first unit A has 9 s left, so B goes first
func TestOnlineFindsOutWhoIsShorter(t *testing.T) {
	jobs := []Job{at(0, 1, 2), at(3, 1, 5)}
	out, _, _ := online(t, Policy{Order: "srtf"}, 1, jobs, []float64{10, 5}, nil)
	if diff := cmp.Diff([]time.Duration{10, 15}, finishes(out)); diff != "" {
		t.Error("offline:", diff)
	}
	out, tr, _ := online(t, Policy{Order: "srtf"}, 1, jobs, []float64{10, 5}, []int{10, 5})
	if diff := cmp.Diff([]time.Duration{15, 8}, finishes(out)); diff != "" {
		t.Error("online:", diff)
	}
	var said []string
	for _, e := range tr.events {
		if e.Kind == Predict && e.Job == 0 {
			said = append(said, e.At.String()+": "+e.Detail())
		}
	}
	want := []string{
		"1s: 1 of 10 units are done: 9s left on the full request, before 1s",
		"2s: 2 of 10 units are done: 8s left on the full request, before 8s",
		"9s: 4 of 10 units are done: 6s left on the full request, before 6s",
		"13s: 8 of 10 units are done: 2s left on the full request, before 2s",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
}

// A progress report leads to a dispatch even without another event. A is predicted to take 1 s, B 4 s. A's first unit
// of two takes 8 s. Then B takes A's place.
//
//	AAAAAAAABBBBAAAAAAAA
func TestNewsLeadsToDispatch(t *testing.T) {
	out, _, _ := online(t, Policy{Order: "srtf"}, 1, []Job{at(0, 1, 1), at(0, 1, 4)}, []float64{16, 4}, []int{2, 4})
	if diff := cmp.Diff([]time.Duration{20, 12}, finishes(out)); diff != "" {
		t.Error(diff)
	}
}

// A has 8 units of 1 s on its 4 cores. After 2.5 s it gets 2 cores, on which a unit takes 2 s. So its third and
// fourth units, which are reported together, take 0.5 s on 4 cores and 3 s on 2. While A is paused for B, which is
// shorter, A holds nothing.
func TestWhatAUnitHeld(t *testing.T) {
	jobs := []Job{malleable(at(0, 4, 8)), at(9, 4, 1)}
	_, _, m := online(t, Policy{Order: "srtf"}, 4, jobs, []float64{8, 1}, []int{8, 1},
		Resize{At: 2500 * time.Millisecond, Job: 0, Threads: 2})
	want := []learnt{
		{0, 1, []Held{{Time: time.Second, Cores: 4}}},
		{0, 1, []Held{{Time: time.Second, Cores: 4}}},
		{0, 2, []Held{{Time: 500 * time.Millisecond, Cores: 4}, {Time: 3 * time.Second, Cores: 2}}},
	}
	if diff := cmp.Diff(want, m.told); diff != "" {
		t.Error(diff)
	}
	// 10 units; B holds the core from 3 to 5 s: units 3 and 4 take 0.5 + 1.5 s
	jobs = []Job{at(0, 1, 10), at(3, 1, 2)}
	out, _, m := online(t, Policy{Order: "srtf"}, 1, jobs, []float64{10, 2}, []int{10, 0})
	if diff := cmp.Diff([]time.Duration{12, 5}, finishes(out)); diff != "" {
		t.Error(diff)
	}
	want = []learnt{
		{0, 1, []Held{{Time: time.Second, Cores: 1}}}, {0, 1, []Held{{Time: time.Second, Cores: 1}}},
		{0, 2, []Held{{Time: 2 * time.Second, Cores: 1}}}, {0, 4, []Held{{Time: 4 * time.Second, Cores: 1}}},
	}
	if diff := cmp.Diff(want, m.told); diff != "" {
		t.Error(diff)
	}
}

// EASY's reservation follows: A holds 1 of 2 cores and is predicted to take 2
// s, but takes 8. B needs both. C, on one core for 5 s, would delay B's start
// at 2 s, until A's first unit shows that B cannot start before 8 s.
//
//	core 0  AAAAAAAABB
//	core 1   CCCCC  BB    (offline C comes last, at 10 s)
func TestReservationsFollow(t *testing.T) {
	jobs := []Job{at(0, 1, 2), at(0, 2, 2), at(0, 1, 5)}
	p := Policy{Order: FCFS, Backfill: EASY}
	out, _, _ := online(t, p, 2, jobs, []float64{8, 2, 5}, []int{8, 2, 5})
	if diff := cmp.Diff([]time.Duration{8, 10, 6}, []time.Duration{
		out.Jobs[0].Finish / time.Second, out.Jobs[1].Finish / time.Second, out.Jobs[2].Finish / time.Second}); diff != "" {
		t.Error(diff)
	}
	if start := out.Jobs[2].FirstStart; start != time.Second {
		t.Errorf("C starts at %s", start)
	}
	p.Backfill = "conservative"
	if out, _, _ := online(t, p, 2, jobs, []float64{8, 2, 5}, []int{8, 2, 5}); out.Jobs[2].FirstStart != time.Second {
		t.Errorf("conservative: C starts at %s", out.Jobs[2].FirstStart)
	}
}

// Online predictions on an engine without progress reports are an error. Otherwise predictions would silently never
// change.
func TestOnlineNeedsReports(t *testing.T) {
	jobs := number([]Job{at(0, 1, 1)})
	r := Run{Policy: Policy{}, Cluster: one(1), Jobs: jobs, Engine: newFlaky(t, jobs).Engine,
		Online: &Online{Units: []int{1}, Predictor: newMeanPace(jobs, []int{1})}}
	type silent struct{ Engine }
	r.Engine = silent{r.Engine}
	if _, err := r.Execute(context.Background()); err == nil {
		t.Error("it ran")
	}
}

// wild makes random predictions.
type wild struct{ n time.Duration }

func (w *wild) Forget(int) {}

func (w *wild) Learn(job, units int, _ []Loss, held []Held) time.Duration {
	w.n = (w.n*6364136223846793005 + 1442695040888963407) // Knuth's linear congruential generator
	return w.n % (20 * time.Second)                       // negative values mean unknown
}

// With any predictions, a run is valid, ends, and is the same each time.
func TestAnyOnlineRunIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		jobs, work := drawJobs(t, c, false)
		units := rapid.SliceOfN(rapid.IntRange(0, 40), len(jobs), len(jobs)).Draw(t, "units")
		r := Run{Policy: drawPolicy(t), Cluster: c, Jobs: jobs, Resizes: drawResizes(t, jobs)}
		o := simulated.Options{Overheads: simulated.Overheads{Start: 7e6, Pause: 1e6, Resume: 2e6, Resize: 3e6}}
		r.Online = &Online{Units: units, Predictor: &wild{}}
		out, tr := execute(t, r, work, o)
		for _, v := range validate.Trace(c, jobs, r.Resizes, tr.events, &out) {
			t.Errorf("%s: %s", r.Policy, v)
		}
		r.Online = &Online{Units: units, Predictor: &wild{}}
		again, tr2 := execute(t, r, work, o)
		if !reflect.DeepEqual(tr.events, tr2.events) || !reflect.DeepEqual(out, again) {
			t.Errorf("%s: the same predictions give another trace", r.Policy)
		}
	})
}
