package scheduler_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/policy/pairs"
	"github.com/tfexp/tfexp/scheduler/validate"
)

// profiled runs jobs whose policy learns of them by samples.
func profiled(t rapid.TB, r Run, byClass bool) *trace {
	t.Helper()
	engine, err := simulated.New(r.Jobs, waysOf(r.Jobs), simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tr, check := &trace{}, validate.New(r.Cluster, r.Jobs, nil)
	check.Profiling(byClass)
	r.Engine, r.Recorder = engine, tr
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

func TestProfilingOnTheCluster(t *testing.T) {
	either := func(arrival int, cores, gpu float64) Job { return onGPU(gpu, at(arrival, 2, cores)) }
	for _, c := range []struct {
		name    string
		policy  Policy
		part    float64
		by      string
		cluster Cluster
		jobs    []Job
		want    string
	}{
		// A sample is a quarter of the run time: 2 s on cores, 1 s on the GPU. A begins on the cores, B meanwhile on the
		// GPU. A is known at 3 and takes the GPU for 4 s, B at 4, when the cores alone are free.
		{"each job", Policy{Order: SJF, Placement: pairs.Pairs}, 0.25, "job", twoKinds, []Job{either(0, 8, 4), either(0, 8, 4)}, `
			A |2211111|
			B |1.2222222222|
			`},
		// What A is found to take tells of B as well, which waits until 3 and then has the cores.
		{"one of a class", Policy{Order: SJF, Placement: pairs.Pairs}, 0.25, "class", twoKinds,
			[]Job{either(0, 8, 4), either(0, 8, 4)}, `
			A |2211111|
			B |...22222222|
			`},
		// On the cores a job takes three times as long: B is matched to the GPU as well, after A.
		{"allox", Policy{Order: AlloX}, 0.25, "class", twoKinds, []Job{either(0, 12, 4), either(0, 12, 4)}, `
			A |22211111|
			B |........1111|
			`},
		// Half of each job is run before, in the order of arrivals: A 2 s, B 3 s, and C, which comes at 5, before all jobs
		// that are known. From 6 on they run in the policy's order.
		{"samples are first", Policy{Order: SRTF}, 0.5, "job", one(1), []Job{at(0, 1, 4), at(0, 1, 6), at(5, 1, 2)}, `
			A |11......1111|
			B |..111.......111111|
			C |     111|
			`},
		// B and C come when A runs, whom samples do not pause. B is known at 7, but then C's sample of 4 s goes first.
		{"easy", Policy{Order: SRTF, Backfill: EASY}, 0.5, "job", one(2), []Job{at(0, 2, 4), at(3, 1, 2), at(3, 2, 8)}, `
			A |222222|
			B |   ...1....11|
			C |   ....2222..22222222|
			`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.policy.Settings = Settings{"profiling": c.part, "profiled_by": c.by}
			r := Run{Policy: c.policy, Cluster: c.cluster, Jobs: number(c.jobs)}
			for i := range r.Jobs {
				r.Jobs[i].Class = "either"
			}
			want := strings.ReplaceAll(strings.TrimLeft(c.want, "\n"), "\t", "")
			if diff := cmp.Diff(want, gantt(r.Jobs, profiled(t, r, c.by == "class").events)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", r.Policy, diff)
			}
		})
	}
}

// A validator that knows of no samples, or of more than there were, calls the trace false.
func TestValidatorKnowsSamples(t *testing.T) {
	r := Run{Policy: Policy{Order: SJF, Settings: Settings{"profiling": 0.5}}, Cluster: one(1), Jobs: number([]Job{at(0, 1, 4)})}
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
			{Order: SJF}, {Order: SJF, Placement: pairs.Pairs}, {Order: SJF, Backfill: FirstFit}, {Order: AlloX},
			{Order: SRTF}, {Order: SRTF, Placement: pairs.Pairs}, {Order: SRSF, Backfill: EASY},
			{Order: SRTF, Settings: Settings{"replan": true}},
			{Order: SRTF, Placement: pairs.Pairs, Settings: Settings{"replan": true}},
		}
		p := rapid.SampledFrom(policies).Draw(t, "policy")
		by := rapid.SampledFrom([]string{"job", "class"}).Draw(t, "by")
		settings := Settings{"profiling": rapid.Float64Range(0.01, 1).Draw(t, "part"), "profiled_by": by}
		for name, v := range p.Settings {
			settings[name] = v
		}
		p.Settings = settings
		jobs := make([]Job, rapid.IntRange(1, 7).Draw(t, "jobs"))
		for i := range jobs {
			jobs[i] = at(rapid.IntRange(0, 9).Draw(t, "arrival"), rapid.IntRange(1, 2).Draw(t, "cores"),
				rapid.Float64Range(1, 9).Draw(t, "seconds"))
			jobs[i].Class = "plain"
			if (p.Settings["replan"] == nil || p.Placement == pairs.Pairs) && rapid.Bool().Draw(t, "gpu") {
				jobs[i] = onGPU(rapid.Float64Range(1, 9).Draw(t, "on a GPU"), jobs[i])
				jobs[i].Class = "either"
			}
		}
		profiled(t, Run{Policy: p, Cluster: twoKinds, Jobs: number(jobs)}, by == "class")
	})
}
