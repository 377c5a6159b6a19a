package profiling_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
	_ "github.com/tfexp/tfexp/stages/allox"     // policies
	_ "github.com/tfexp/tfexp/stages/planned"   // policies
	_ "github.com/tfexp/tfexp/stages/published" // the orders
)

var profilingAt, onGPU, profilingNumber, gantt, twoKinds = schedulertest.At, schedulertest.OnGPU, schedulertest.Number, schedulertest.Gantt,
	schedulertest.TwoKinds

func one(cores int) Cluster { return Cluster{Nodes: []Node{{Threads: cores}}} }

// trace is a Recorder that stores everything.
type trace struct {
	events    []Event
	decisions []Decision
}

func (t *trace) Event(e *Event)       { t.events = append(t.events, *e) }
func (t *trace) Decision(d *Decision) { t.decisions = append(t.decisions, *d) }

// profiled runs jobs whose policy learns from samples, on the engine of the run or a simulated one.
func profiled(t rapid.TB, r Run, byClass bool) *trace {
	t.Helper()
	if r.Engine == nil {
		engine, err := simulated.New(r.Jobs, schedulertest.Work(r.Jobs), simulated.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r.Engine = engine
	}
	tr, check := &trace{}, validate.New(r.Cluster, r.Jobs, nil)
	check.Profiling(byClass)
	r.Recorder = tr
	o, err := r.Execute(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range tr.events {
		check.Event(&e)
	}
	check.Close(&o)
	for _, v := range check.Violations() {
		t.Error(v)
	}
	return tr
}

// of sets the class of a job.
func of(class string, j Job) Job { j.Class = class; return j }

func TestProfilingOnTheCluster(t *testing.T) {
	either := func(arrival int, cores, gpu float64) Job { return onGPU(gpu, profilingAt(arrival, 2, cores)) }
	for _, c := range []struct {
		name    string
		policy  Policy
		part    float64
		by      string
		cluster Cluster
		jobs    []Job
		want    string
	}{
		// A sample takes a quarter of the run time: 2 s on cores, 1 s on the GPU. A starts on the cores and B on the
		// GPU. A is known at 3 and takes the GPU for 4 s. B is known at 4, when only the cores are free.
		{"each job", Policy{Order: SJF, Placement: Pairs}, 0.25, "job", twoKinds, []Job{either(0, 8, 4), either(0, 8, 4)}, `
			A |2211111|
			B |1.2222222222|
			`},
		// A's measured time is valid for B too. B waits until 3 and then gets the cores.
		{"one of a class", Policy{Order: SJF, Placement: Pairs}, 0.25, "class", twoKinds,
			[]Job{either(0, 8, 4), either(0, 8, 4)}, `
			A |2211111|
			B |...22222222|
			`},
		// On cores a job takes three times as long, so B is matched to the GPU after A.
		{"allox", Policy{Order: "allox"}, 0.25, "class", twoKinds, []Job{either(0, 12, 4), either(0, 12, 4)}, `
			A |22211111|
			B |........1111|
			`},
		// Half of each job runs as a sample, in the order of arrivals: A 2 s, B 3 s, and C, which arrives at 5, before
		// all known jobs. From 6 on, the jobs run in the policy's order.
		{"samples are first", Policy{Order: "srtf"}, 0.5, "job", one(1), []Job{profilingAt(0, 1, 4), profilingAt(0, 1, 6), profilingAt(5, 1, 2)}, `
			A |11......1111|
			B |..111.......111111|
			C |     111|
			`},
		// B and C arrive while A runs; samples do not pause A. B is known at 7, but C's sample of 4 s comes first.
		{"easy", Policy{Order: "srtf", Backfill: EASY}, 0.5, "job", one(2), []Job{profilingAt(0, 2, 4), profilingAt(3, 1, 2), profilingAt(3, 2, 8)}, `
			A |222222|
			B |   ...1....11|
			C |   ....2222..22222222|
			`},
		// B's sample runs before A. When B is known, no user holds resources: A arrived first, and B has no room.
		{"users", Policy{Order: "drf_sjf", Backfill: NoBackfill}, 0.5, "job", one(2), []Job{profilingAt(0, 1, 4), profilingAt(0, 2, 2)}, `
			A |11.1111|
			B |..2....22|
			`},
		// A and B are of one class, but A's measured times on cores and GPU do not apply to B, which can run only on
		// cores. At 3 A is known and gets the GPU, while B's sample runs on the cores.
		{"one of a class with the same alternatives", Policy{Order: SJF}, 0.5, "class", twoKinds,
			[]Job{either(0, 4, 2), profilingAt(0, 2, 6)}, `
			A |22111|
			B |..222222222|
			`},
		// C and D are of another class than A. C's sample is valid for D, but not for A.
		{"classes", Policy{Order: SJF}, 0.5, "class", one(2),
			[]Job{profilingAt(0, 2, 4), of("other", profilingAt(0, 2, 2)), of("other", profilingAt(0, 2, 2))}, `
			A |22.....2222|
			B |..222|
			C |.....22|
			`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.policy.Settings = Settings{"profiling": c.part, "profiled_by": c.by}
			r := Run{Policy: c.policy, Cluster: c.cluster, Jobs: profilingNumber(c.jobs)}
			for i := range r.Jobs {
				if r.Jobs[i].Class == "" {
					r.Jobs[i].Class = "either"
				}
			}
			want := strings.ReplaceAll(strings.TrimLeft(c.want, "\n"), "\t", "")
			if diff := cmp.Diff(want, gantt(r.Jobs, profiled(t, r, c.by == "class").events)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", r.Policy, diff)
			}
		})
	}
}

// The validator rejects a trace with samples that it does not expect, or with fewer samples.
func TestValidatorKnowsSamples(t *testing.T) {
	r := Run{Policy: Policy{Order: SJF, Settings: Settings{"profiling": 0.5}}, Cluster: one(1), Jobs: profilingNumber([]Job{profilingAt(0, 1, 4)})}
	events := profiled(t, r, false).events
	if v := validate.Trace(r.Cluster, r.Jobs, nil, events, nil); len(v) == 0 {
		t.Error("a sample that no policy takes is not found")
	}
	check := validate.New(r.Cluster, r.Jobs, nil)
	check.Profiling(false)
	for _, e := range events {
		if e.Kind != Profiled && (e.Kind != Start || e.At > 0) {
			check.Event(&e)
		}
	}
	if len(check.Violations()) == 0 {
		t.Error("a job that was scheduled without a sample is not found")
	}
}

func TestAnyProfilingIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policies := []Policy{
			{Order: SJF}, {Order: SJF, Placement: Pairs}, {Order: SJF, Backfill: FirstFit}, {Order: "allox"},
			{Order: "srtf"}, {Order: "srtf", Placement: Pairs}, {Order: "srsf", Backfill: EASY},
			{Order: "drf"}, {Order: "drf_sjf"}, {Order: "drf_sjf", Backfill: NoBackfill}, {Order: "each_resource"},
			{Order: "equal_share", Placement: Pairs}, {Order: "srtf", Settings: Settings{"replan": true}},
			{Order: "srtf", Placement: Pairs, Settings: Settings{"replan": true}},
		}
		p := rapid.SampledFrom(policies).Draw(t, "policy")
		by := rapid.SampledFrom([]string{"job", "class"}).Draw(t, "by")
		settings := Settings{"profiling": rapid.Float64Range(0.01, 1).Draw(t, "part"), "profiled_by": by}
		maps.Copy(settings, p.Settings)
		p.Settings = settings
		jobs := make([]Job, rapid.IntRange(1, 7).Draw(t, "jobs"))
		for i := range jobs {
			jobs[i] = profilingAt(rapid.IntRange(0, 9).Draw(t, "arrival"), rapid.IntRange(1, 2).Draw(t, "cores"),
				rapid.Float64Range(1, 9).Draw(t, "seconds"))
			jobs[i].Class = "plain"
			if (p.Settings["replan"] == nil || p.Placement == Pairs) && rapid.Bool().Draw(t, "gpu") {
				jobs[i] = onGPU(rapid.Float64Range(1, 9).Draw(t, "on a GPU"), jobs[i])
				jobs[i].Class = "either"
			}
		}
		profiled(t, Run{Policy: p, Cluster: twoKinds, Jobs: profilingNumber(jobs)}, by == "class")
	})
}

// failing is a simulated engine on which a job's first attempt fails.
type failing struct {
	*simulated.Engine
	job int
}

func (f *failing) Next(ctx context.Context, until time.Duration) (time.Duration, []Notice, error) {
	now, notices, err := f.Engine.Next(ctx, until)
	for i := range notices {
		if n := &notices[i]; n.Job == f.job && n.State == Finished {
			f.job, n.State = -1, Failed
		}
	}
	return now, notices, err
}

// TestSampleThatFails checks that, if the job that runs samples for its class fails, the next job runs the remaining
// samples.
func TestSampleThatFails(t *testing.T) {
	// A's sample of 2 s fails. B is the next of its class; then C is known as well.
	//
	//	A |22|
	//	B |..222222|
	//	C |........222|
	jobs := profilingNumber([]Job{profilingAt(0, 2, 4), profilingAt(0, 2, 4), profilingAt(0, 2, 3)})
	engine, err := simulated.New(jobs, schedulertest.Work(jobs), simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := Policy{Order: SJF, Settings: Settings{"profiling": 0.5, "profiled_by": "class"}}
	tr := profiled(t, Run{Policy: p, Cluster: one(2), Jobs: jobs, Engine: &failing{engine, 0}}, true)
	if got, want := gantt(jobs, tr.events), "A |22|\nB |..22...2222|\nC |....222|\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestProfilingReasons checks that jobs that wait for a sample say so, and that the others have the policy's reasons.
// A's sample of 2 s begins at 0 and is also valid for B and C. The sample of D, of another class, begins at 1.
func TestProfilingReasons(t *testing.T) {
	for order, want := range map[Order]string{
		SJF: `0s A: a sample of it
			1s D: a sample of it; B waits for its sample, or for that of a job like it; C needs 2 cores, 1 are free
			2.5s C: first in the order
			3.5s B: first in the order
			3.5s D: first in the order
			5.5s A: first in the order
			`,
		"allox": `0s A: a sample of it
			1s D: a sample of it; B waits for its sample, or for that of a job like it; C waits for its sample, or for that of a job like it
			2.5s B: first on cpu, position 2 from the end among 4 jobs; A is matched to cpu, position 1 from the end among 4 jobs
			4.5s C: first on cpu, position 2 from the end among 3 jobs; A is matched to cpu, position 1 from the end among 3 jobs
			5.5s A: first on cpu, position 1 from the end among 2 jobs
			5.5s D: first on cpu, position 1 from the end among 2 jobs
			`,
	} {
		p := Policy{Order: order, Settings: Settings{"profiling": 0.5, "profiled_by": "class"}}
		jobs := profilingNumber([]Job{profilingAt(0, 1, 4), profilingAt(0, 1, 2), profilingAt(0, 2, 1), of("other", profilingAt(1, 1, 3))})
		got := ""
		for _, d := range profiled(t, Run{Policy: p, Cluster: one(2), Jobs: jobs}, true).decisions {
			got += fmt.Sprintf("%v %s: %s", d.At, jobs[d.Job].Name, d.Reason)
			for _, p := range d.Passed {
				got += fmt.Sprintf("; %s %s", jobs[p.Job].Name, p.Reason)
			}
			got += "\n"
		}
		if diff := cmp.Diff(strings.ReplaceAll(want, "\t", ""), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p, diff)
		}
	}
}

// TestRefused has an engine that cannot run samples, and a policy that promises when jobs start.
func TestRefused(t *testing.T) {
	jobs := profilingNumber([]Job{profilingAt(0, 1, 4)})
	engine, err := simulated.New(jobs, schedulertest.Work(jobs), simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		policy Policy
		engine Engine
		want   string
	}{
		{Policy{Order: SJF}, struct{ Engine }{engine}, "the engine cannot run samples"},
		{Policy{Order: SJF, Backfill: "conservative"}, engine, "promises of reservations"},
	} {
		c.policy.Settings = Settings{"profiling": 0.5}
		_, err := Run{Policy: c.policy, Cluster: one(1), Jobs: jobs, Engine: c.engine, Recorder: &trace{}}.Execute(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.policy, err, c.want)
		}
	}
}
