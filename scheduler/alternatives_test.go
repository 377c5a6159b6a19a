package scheduler_test

import (
	"context"
	"reflect"
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
	. "github.com/tfexp/tfexp/stages/allox"
)

// onGPU and waysOf make jobs with alternatives, and their work.
var onGPU, waysOf, twoKinds = schedulertest.OnGPU, schedulertest.Work, schedulertest.TwoKinds

func sec(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func TestAlternatives(t *testing.T) {
	twoWide := func(seconds, gpu float64) Job { return onGPU(gpu, at(0, 2, seconds)) }
	for _, c := range []struct {
		name   string
		policy Policy
		jobs   []Job
		want   string
		on     string // the alternative of each job
	}{
		// Each job takes the first alternative with room, so B takes the GPU and does not wait for the cores.
		{"first", Policy{}, []Job{twoWide(4, 1), twoWide(6, 3), twoWide(2, 1)}, `
			A |2222|
			B |111|
			C |...1|
			`, "cpu gpu gpu"},
		// A, C and D would take twice as long on cores as on the GPU, so they wait for the GPU. For B waiting is not
		// worthwhile.
		{"earliest finish", Policy{Placement: "earliest_finish"}, []Job{twoWide(8, 2), twoWide(3, 2), twoWide(9, 2), twoWide(9, 2)}, `
			A |11|
			B |222|
			C |..11|
			D |....11|
			`, "gpu cpu gpu gpu"},
		// SJF orders jobs by their fastest alternatives. B goes to the GPU, because it ends there sooner than on cores.
		// A takes the cores at once.
		{"sjf, earliest finish", Policy{Order: SJF, Placement: "earliest_finish"}, []Job{twoWide(4, 4), twoWide(9, 1), twoWide(9, 2)}, `
			A |2222|
			B |1|
			C |.11|
			`, "cpu gpu gpu"},
		// C waits for the GPU, which B holds. D may pass C, because D takes nothing that C needs.
		{"easy", Policy{Backfill: EASY}, []Job{
			at(0, 1, 2), schedulertest.OnTypes(gpus(1, at(0, 1, 3))), schedulertest.OnTypes(gpus(1, at(0, 1, 1))), at(0, 1, 5)}, `
			A |11|
			B |111|
			C |...1|
			D |11111|
			`, "cpu cpu cpu cpu"},
		// Horn's rule on one machine of each kind. Two matchings minimize the sum of the finish times: first C and then
		// B on the GPU, and A on the cores.
		{"allox", Policy{Order: AlloX}, []Job{twoWide(6, 4), twoWide(9, 3), twoWide(9, 1)}, `
			A |222222|
			B |.111|
			C |1|
			`, "cpu gpu gpu"},
		// Without a time-out, C and D would pass A and B on the GPU, because they are shorter. C runs first. At 1, A
		// and B have waited longer than 0.5 s: A starts on the GPU, and B on the cores, where it takes 9 s.
		{"allox, starvation", Policy{Order: AlloX, Settings: Settings{"starvation": sec(0.5)}}, []Job{
			twoWide(9, 4), twoWide(9, 4), twoWide(9, 1), onGPU(1, at(1, 2, 9))}, `
			A |.1111|
			B |.222222222|
			C |1|
			D | ....1|
			`, "gpu cpu gpu gpu"},
		// Cores stay free if a job ends sooner when it waits for the GPU.
		{"allox waits", Policy{Order: AlloX}, []Job{twoWide(9, 2), twoWide(9, 2)}, `
			A |11|
			B |..11|
			`, "gpu gpu"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Run{Policy: c.policy, Cluster: twoKinds, Jobs: number(c.jobs)}
			o, tr := simulate(t, r, waysOf(r.Jobs))
			want := strings.ReplaceAll(strings.TrimLeft(c.want, "\n"), "\t", "")
			if diff := cmp.Diff(want, gantt(r.Jobs, tr.events)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", r.Policy, diff)
			}
			// If predictions are never corrected, the predictions of each alternative are used.
			r.Online = &Online{Units: make([]int, len(r.Jobs)), Predictor: &wild{}}
			if _, online := simulate(t, r, waysOf(r.Jobs)); !reflect.DeepEqual(online.events, tr.events) {
				t.Errorf("%s: online predictions without units change the trace:\n%s", r.Policy, gantt(r.Jobs, online.events))
			}
			var on []string
			for i, j := range r.Jobs {
				name := "cpu"
				if len(j.Alternatives()) > 0 {
					name = j.Alternatives()[o.Jobs[i].Alternative].Name
				}
				on = append(on, name)
			}
			if got := strings.Join(on, " "); got != c.on {
				t.Errorf("the jobs run on %s, want %s", got, c.on)
			}
		})
	}
}

// srtf with pairs of jobs and resources, on two cores and a GPU.
func TestPausedJobsChangeTheirAlternative(t *testing.T) {
	// A takes the GPU at 0. At 2 it has 6 s left there; B would take 2 s, and has it make way. A has done a
	// quarter of its work: on cores 12 of 16 s are left, and they are free, so it resumes there at once. C comes
	// at 5, and finds the GPU free. D comes at 6 and wants both cores for 3 s: A, with 8 s left on cores, makes
	// way, and resumes on the GPU when C has ended: 4 s there.
	//
	//	A |112222.1111|
	//	B |  11|
	//	C |     11|
	//	D |      222|
	jobs := number([]Job{
		onGPU(8, at(0, 2, 16)), onGPU(2, at(2, 2, 20)), onGPU(2, at(5, 2, 20)), at(6, 2, 3),
	})
	for _, online := range []bool{false, true} {
		r := Run{Policy: Policy{Order: "srtf", Placement: Pairs}, Cluster: twoKinds, Jobs: jobs}
		if online {
			r.Online = &Online{Units: make([]int, len(r.Jobs)), Predictor: &wild{}}
		}
		o, tr := simulate(t, r, waysOf(r.Jobs))
		want := "A |112222.1111|\nB |  11|\nC |     11|\nD |      222|\n"
		if diff := cmp.Diff(want, gantt(r.Jobs, tr.events)); diff != "" {
			t.Errorf("online %v (-want +got):\n%s", online, diff)
		}
		if a := o.Jobs[0]; a.Migrations != 2 || a.Preemptions != 2 || a.Finish != 11*time.Second {
			t.Errorf("A ends at %s after %d pauses and %d migrations, want 11s after 2 and 2", a.Finish, a.Preemptions, a.Migrations)
		}
	}

	// The cost of a change is part of the job's time. On cores it is 1 s, after which A does 3 of its 12 s there. On
	// the GPU it is 1 s before the remaining 4.5 s. On an engine that cannot move jobs, A waits for the GPU until C has
	// ended.
	for name, o := range map[string]simulated.Options{
		"A |112222.111111|\n": {Overheads: simulated.Overheads{Migrate: time.Second}},
		"A |11..1..11111|\n":  {Lacks: Capabilities{Migrate: true}},
	} {
		engine, err := simulated.New(jobs, waysOf(jobs), o)
		if err != nil {
			t.Fatal(err)
		}
		var tr trace
		r := Run{Policy: Policy{Order: "srtf", Placement: Pairs}, Cluster: twoKinds, Jobs: jobs, Engine: engine, Recorder: &tr}
		out, err := r.Execute(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range validate.Trace(r.Cluster, r.Jobs, nil, tr.events, &out) {
			t.Error(v)
		}
		if got, _, _ := strings.Cut(gantt(jobs, tr.events), "B"); got != name {
			t.Errorf("got  %swant %s", got, name)
		}
	}
}

// Under a policy that places all pairs again at each dispatch, a running job moves to where it ends sooner.
func TestRunningJobsChangeTheirAlternative(t *testing.T) {
	// A takes the GPU at 0. At 2 it has 6 s left there, or 12 on cores, where B would take 20 s, and 2 on the GPU:
	// they change. At 4 A has 10 s left on cores, or 5 on the GPU, which B has left. C comes at 5, as B did at 2. D
	// comes at 7 for both cores, when C ends, and A, with 6 s left on cores, or 3 on the GPU, goes there.
	//
	//	A |1122122111|
	//	B |  11|
	//	C |     11|
	//	D |       222|
	jobs := number([]Job{
		onGPU(8, at(0, 2, 16)), onGPU(2, at(2, 2, 20)), onGPU(2, at(5, 2, 20)), at(7, 2, 3),
	})
	r := Run{Policy: Policy{Order: "srtf", Placement: Pairs, Settings: Settings{"replan": true}}, Cluster: twoKinds, Jobs: jobs}
	for _, online := range []bool{false, true} {
		if online {
			r.Online = &Online{Units: make([]int, len(r.Jobs)), Predictor: &wild{}}
		}
		o, tr := simulate(t, r, waysOf(r.Jobs))
		want := "A |1122122111|\nB |  11|\nC |     11|\nD |       222|\n"
		if diff := cmp.Diff(want, gantt(r.Jobs, tr.events)); diff != "" {
			t.Errorf("online %v (-want +got):\n%s", online, diff)
		}
		if a := o.Jobs[0]; a.Migrations != 4 || a.Preemptions != 4 {
			t.Errorf("online %v: A has %d pauses and %d migrations, want 4 and 4", online, a.Preemptions, a.Migrations)
		}
	}

	// On an engine that cannot move jobs, A waits for the GPU.
	engine, err := simulated.New(jobs, waysOf(jobs), simulated.Options{Lacks: Capabilities{Migrate: true}})
	if err != nil {
		t.Fatal(err)
	}
	var tr trace
	r.Online, r.Engine, r.Recorder = nil, engine, &tr
	if _, err := r.Execute(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := strings.Cut(gantt(jobs, tr.events), "B"); got != "A |11..1..11111|\n" {
		t.Errorf("without migration: %s", got)
	}
}

// If alternatives need different amounts of memory, a paused job holds the memory of its last alternative on its node.
func TestAlternativesOfUnlikeMemory(t *testing.T) {
	// A has the GPU until 2. B runs on cores with 4 of the node's 10 bytes, and would need 8 bytes on the GPU. At 3 B
	// is paused for C, which takes the other 6 bytes. So B cannot use the GPU before C has ended. B has done 3 of 16 s
	// by then. On the GPU 6.5 of 8 s are left, which is less than on cores.
	a := at(0, 2, 16)
	a.Memory = 4
	a = schedulertest.OnTypes(a, Alternative{Threads: 1, GPUs: 1, Memory: 8, Predicted: 8 * time.Second})
	c := at(3, 2, 1)
	c.Memory = 6
	jobs := number([]Job{gpus(1, at(0, 1, 2)), a, c})
	r := Run{Policy: Policy{Order: "srtf", Placement: Pairs}, Jobs: jobs,
		Cluster: Cluster{Nodes: []Node{{Name: "n", Threads: 3, GPUs: 1, Memory: 10}}}}
	_, tr := simulate(t, r, waysOf(r.Jobs))
	want := "A |11|\nB |222.1111111|\nC |   2|\n"
	if diff := cmp.Diff(want, gantt(r.Jobs, tr.events)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// If users have the same progress, the first user is matched. Later the user with less progress is matched.
func TestAlphaMatchesTheLeastProgress(t *testing.T) {
	var jobs []Job
	for _, user := range []string{"ann", "ann", "bob", "bob"} {
		jobs = append(jobs, of(user, at(0, 1, 2)))
	}
	jobs[2].Predicted, jobs[3].Predicted = 4*time.Second, 4*time.Second
	for alpha, want := range map[float64]string{1: "A|11|B|..11|C|....1111|D|........1111|",
		0.5: "A|11|B|......11|C|..1111|D|........1111|"} {
		r := Run{Policy: Policy{Order: AlloX, Settings: Settings{"alpha": alpha}}, Cluster: one(1), Jobs: number(jobs)}
		_, tr := simulate(t, r, nil)
		got := strings.NewReplacer("\n", "", " |", "|").Replace(gantt(r.Jobs, tr.events))
		if got != want {
			t.Errorf("alpha %g: %s, want %s", alpha, got, want)
		}
	}
}

func drawAlternatives(t *rapid.T, c Cluster, jobs []Job) {
	for i := range jobs {
		j := &jobs[i]
		if j.Nodes > 1 || rapid.IntRange(0, 3).Draw(t, "ways") == 0 {
			continue
		}
		j.Malleable, j.MinThreads, j.MaxThreads = false, 0, 0
		*j = schedulertest.OnTypes(*j)
		for range rapid.IntRange(0, 2).Draw(t, "more ways") {
			node := c.Nodes[rapid.IntRange(0, len(c.Nodes)-1).Draw(t, "way on")]
			a := Alternative{
				Threads: rapid.IntRange(1, node.Threads+1).Draw(t, "way threads"), // sometimes more than the node has
				GPUs:    rapid.IntRange(0, node.GPUs).Draw(t, "way gpus"),
				Memory:  int64(rapid.IntRange(0, 10).Draw(t, "way memory")),
				GPU:     rapid.SampledFrom([]string{"", node.GPU, "T4"}).Draw(t, "way type"),
			}
			a.Predicted = time.Duration(rapid.IntRange(0, 9).Draw(t, "way estimate")) * time.Second
			j.Own().Alternatives = append(j.Alternatives(), a)
		}
	}
}

// Under any policy, jobs with alternatives finish, each in one of its alternatives. The trace is valid and always the
// same.
func TestAnyRunWithAlternativesIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		for i := range c.Nodes {
			c.Nodes[i].GPU = rapid.SampledFrom([]string{"", "K80", "V100"}).Draw(t, "type")
		}
		jobs, work := drawJobs(t, c, false)
		drawAlternatives(t, c, jobs)
		for i := range jobs {
			for k := range jobs[i].Alternatives() {
				run := time.Duration(rapid.IntRange(0, 9).Draw(t, "way run")) * time.Second
				work[i].AddAlternative(simulated.FullRequest(run, jobs[i].Alternatives()[k].Threads))
			}
		}
		p := drawPolicy(t)
		p.Allocation = Strict
		switch rapid.IntRange(0, 3).Draw(t, "kind of policy") {
		case 0:
			p = Policy{Order: AlloX, Settings: Settings{"alpha": rapid.SampledFrom([]float64{0.1, 0.5, 1}).Draw(t, "alpha")}}
		case 1:
			p.Placement, p.Backfill = "earliest_finish", "conservative"
			delete(p.Settings, "replan")
		case 2:
			p.Placement, p.Backfill = Pairs, FirstFit
		}
		r := Run{Policy: p, Cluster: c, Jobs: jobs}
		before := append([]Job(nil), jobs...)
		out, tr := execute(t, r, work, simulated.Options{})
		for _, v := range validate.Trace(c, jobs, nil, tr.events, &out) {
			t.Errorf("%s: %s", p, v)
		}
		for i, res := range out.Jobs {
			if res.State != Finished {
				t.Errorf("job %d is %s", i, res.State)
			}
		}
		if !reflect.DeepEqual(before, jobs) {
			t.Error("the run has changed the jobs that it was given")
		}
		again, tr2 := execute(t, r, work, simulated.Options{})
		if !reflect.DeepEqual(tr.events, tr2.events) || !reflect.DeepEqual(out, again) ||
			!reflect.DeepEqual(tr.decisions, tr2.decisions) {
			t.Errorf("%s: the same jobs give another trace", p)
		}
	})
}

func TestAlternativesThatContradict(t *testing.T) {
	plain := onGPU(1, at(0, 1, 2))
	for want, r := range map[string]Run{
		"malleable":                {Jobs: []Job{malleable(plain)}},
		"differs from its request": {Jobs: []Job{with(plain, func(j *Job) { j.Threads = 2 })}},
		"grants whole requests":    {Jobs: []Job{plain}, Policy: Policy{Allocation: MaxProp}},
		"cannot be resized":        {Jobs: []Job{plain}, Resizes: []Resize{{Job: 0, Threads: 1}}},
		"more than the cluster":    {Jobs: []Job{schedulertest.OnTypes(at(0, 9, 1), Alternative{Threads: 1, GPUs: 1, GPU: "T4"})}},
		"plans all waiting jobs":   {Jobs: []Job{plain}, Policy: Policy{Placement: "earliest_finish", Backfill: EASY}},
		"alpha":                    {Jobs: []Job{plain}, Policy: Policy{Order: AlloX, Settings: Settings{"alpha": 2.0}}},
		"decides by itself":        {Jobs: []Job{plain}, Policy: Policy{Order: AlloX, Backfill: EASY}},
		"unknown placement":        {Jobs: []Job{plain}, Policy: Policy{Placement: "best"}},
	} {
		if r.Policy == nil {
			r.Policy = Policy{}
		}
		r.Cluster, r.Jobs = twoKinds, number(r.Jobs)
		if _, err := r.Execute(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
}
