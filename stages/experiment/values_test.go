package experiment_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/pipeline/decodetest"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages/experiment"
)

// twoPrograms is a part of a job that runs as two programs.
type twoPrograms struct{}

func (p twoPrograms) Fewest() (experiment.SeveralPart, int) { return p, 4 }
func (twoPrograms) Request(j *scheduler.Job) {
	j.Own().Roles = []scheduler.Role{{Name: "chief", Count: 1, Threads: 4}, {Name: "worker", Count: 1, Threads: 4}}
}

// A job's demand, and the clusters that have room for it.
func TestRoom(t *testing.T) {
	two := scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 4, GPUs: 1, GPU: "v100"}, {Threads: 4, GPUs: 1, GPU: "k80"}}}
	on := func(lacks ...string) *experiment.Hardware { return &experiment.Hardware{Cluster: two, Lacks: lacks} }
	threads := func(n int) experiment.Threads { return experiment.Threads{Request: n} }
	large := &experiment.Job{Threads: threads(16)}
	parts := experiment.Job{Threads: threads(8), Parts: experiment.Parts{twoPrograms{}}}
	for _, c := range []struct {
		what                      string
		job                       experiment.Job
		hardware                  *experiment.Hardware
		fits, on, reaches, placed bool
	}{
		{"a node", experiment.Job{Threads: threads(4)}, on(), true, true, true, false},
		{"a job of the processor where GPUs are lacking", experiment.Job{Threads: threads(4)}, on("gpus"), true, true, true, false},
		{"two nodes", experiment.Job{Threads: threads(8), Nodes: 2}, on(), true, true, true, false},
		{"more than a node", experiment.Job{Threads: threads(8)}, on(), false, false, true, false},
		{"more than a node where GPUs are lacking", experiment.Job{Threads: threads(8)}, on("gpus"), false, false, true, false},
		{"more than a node, malleable", experiment.Job{Threads: threads(8), Malleable: true}, on(), false, false, false, false},
		{"more than two nodes", experiment.Job{Threads: threads(9)}, on(), false, false, false, false},
		{"more than three nodes", experiment.Job{Threads: threads(8), Nodes: 3}, on(), false, false, false, false},
		{"a GPU", experiment.Job{Threads: threads(2), GPUs: 1}, on(), true, true, true, false},
		{"two GPUs", experiment.Job{Threads: threads(2), GPUs: 2}, on(), false, false, true, false},
		{"two GPUs where they are lacking", experiment.Job{Threads: threads(2), GPUs: 2}, on("gpus"), false, false, false, false},
		{"a type of GPU", experiment.Job{Threads: threads(2), GPUs: 1, GPU: "k80"}, on(), true, true, true, true},
		{"a type that is not there", experiment.Job{Threads: threads(2), GPUs: 1, GPU: "a100"}, on(), false, false, false, true},
		{"a type where GPUs are lacking", experiment.Job{Threads: threads(2), GPUs: 1, GPU: "k80"}, on("gpus"), false, false, false, true},
		{"an alternative of its own", experiment.Job{Threads: threads(16), Alternatives: []*experiment.Job{{Threads: threads(4)}}},
			on(), true, false, false, true},
		{"no alternative", experiment.Job{Threads: threads(16), Alternatives: []*experiment.Job{large}}, on(), false, false, false, true},
		{"rates", experiment.Job{Threads: threads(4), Runtime: &experiment.Runtime{GPURates: []experiment.GPURate{{}}}},
			on(), true, true, true, true},
		{"neighbors", experiment.Job{Threads: threads(4), Runtime: &experiment.Runtime{Neighbours: []experiment.Neighbour{{}}}},
			on(), true, true, true, true},
		{"a run time", experiment.Job{Threads: threads(4), Runtime: &experiment.Runtime{}}, on(), true, true, true, false},
		{"parts", parts, on(), true, false, false, false},
	} {
		j := &c.job
		if got := []bool{j.Fits(c.hardware), j.On(c.hardware), j.Reaches(c.hardware), j.Placed()}; !slices.Equal(got,
			[]bool{c.fits, c.on, c.reaches, c.placed}) {
			t.Errorf("%s: fits, on, reaches, placed: %v", c.what, got)
		}
	}
	for name, j := range map[string]experiment.Job{"cpu": {}, "gpu": {GPUs: 1}, "half": {GPUs: 1, Alternative: "half"}} {
		if got := j.AlternativeName(); got != name {
			t.Errorf("the alternative %q is called %q", name, got)
		}
	}
}

// A job with another request keeps its class, and its bounds are widened to include the request.
func TestWithThreads(t *testing.T) {
	j := &experiment.Job{Threads: experiment.Threads{Request: 4, Inter: 2, Intra: 2, Min: 2, Max: 6}}
	if j.WithThreads(4) != j {
		t.Error("the same request makes another job")
	}
	for n, want := range map[int]experiment.Threads{
		1: {Request: 1, Inter: 1, Intra: 1, Min: 1, Max: 6},
		3: {Request: 3, Inter: 1, Intra: 3, Min: 2, Max: 6},
		8: {Request: 8, Inter: 1, Intra: 8, Min: 2, Max: 8},
	} {
		other := j.WithThreads(n)
		if other.Threads != want || other.Form != fmt.Sprintf("%dt", n) {
			t.Errorf("%d threads: %+v, form %q", n, other.Threads, other.Form)
		}
	}
	open := &experiment.Job{Threads: experiment.Threads{Request: 4}}
	if got := open.WithThreads(2).Threads; got.Max != 0 || got.Min != 0 {
		t.Errorf("a job without bounds gets %+v", got)
	}
}

// anyGPUs is a part of a run time that lets jobs train on any number of GPUs.
type anyGPUs struct{}

func (anyGPUs) Request(j *scheduler.Job) { j.Elastic = true }

// The scheduler's view of a job says whether it trains on any number of GPUs, and whether its work has an end.
func TestTemplate(t *testing.T) {
	budget := time.Minute
	elastic := &experiment.Runtime{Parts: experiment.Parts{anyGPUs{}}}
	for _, c := range []struct {
		job           experiment.Job
		elastic, open bool
	}{
		{experiment.Job{Epochs: 1}, false, false},
		{experiment.Job{Epochs: 1, Runtime: &experiment.Runtime{}}, false, false},
		{experiment.Job{Epochs: 1, Runtime: elastic}, true, false},
		{experiment.Job{Budget: &budget}, false, true},
		{experiment.Job{Budget: &budget, Steps: 1}, false, false},
		{experiment.Job{Budget: &budget, Epochs: 1}, false, false},
		{experiment.Job{}, false, false},
	} {
		if got := c.job.Template(); got.Elastic != c.elastic || c.job.Open() != c.open {
			t.Errorf("%+v: elastic %t, open %t", c.job, got.Elastic, c.job.Open())
		}
	}
}

// A type of GPU without a speed in the file has no rate: none is invented.
func TestSpeedsOfTypes(t *testing.T) {
	r := &experiment.Runtime{GPURates: []experiment.GPURate{{"k80", 1}, {"v100", 3}}}
	for gpu, want := range map[string]float64{"k80": 1, "v100": 3, "a100": 0} {
		if rate, ok := r.RateOn(gpu); rate != want || ok != (want > 0) {
			t.Errorf("%s: %v, %t", gpu, rate, ok)
		}
	}
	if rate, ok := (&experiment.Runtime{}).RateOn("k80"); rate != 1 || !ok {
		t.Errorf("without types: %v, %t", rate, ok)
	}
	r.Neighbours = []experiment.Neighbour{{"a", "", 0.5}, {"b", "v100", 0.7}, {"c", "k80", 0.9}}
	j := &experiment.Job{Threads: experiment.Threads{Request: 2}, GPUs: 1, Memory: 8, Runtime: r}
	want := scheduler.Alternative{Name: "gpu", Threads: 2, GPUs: 1, Memory: 8, GPU: "v100",
		Beside: map[string]float64{"a": 0.5, "b": 0.7}}
	if diff := cmp.Diff(want, j.RequestOn("gpu", "v100"), cmp.AllowUnexported(scheduler.Alternative{})); diff != "" {
		t.Error(diff)
	}
	if (*experiment.Runtime)(nil).Beside("v100") != nil {
		t.Error("a job without a run time has neighbors")
	}
}

// A note that several workloads share appears once.
func TestNotes(t *testing.T) {
	one := &experiment.Trace{File: "/logs/l.csv", LeftOut: "some lines"}
	one.Assumed = []string{"no zone", "no user"}
	w := &experiment.Workload{Trace: one, Submits: []experiment.Submit{{LeftOut: "a line"}, {}}}
	spec := &experiment.Spec{Cells: []experiment.Cell{{Workload: w}, {Workload: w}, {Workload: &experiment.Workload{}}}}
	if got := spec.LeftOut(); !slices.Equal(got, []string{"some lines", "a line"}) {
		t.Errorf("%q", got)
	}
	if got := spec.Assumed(); !slices.Equal(got, []string{"l.csv: no zone; no user"}) {
		t.Errorf("%q", got)
	}
	for _, file := range []string{"m.csv", "n.csv"} {
		same := &experiment.Trace{File: file, Trace: workload.Trace{Assumed: one.Assumed}}
		spec.Cells = append(spec.Cells, experiment.Cell{Workload: &experiment.Workload{Trace: same}})
	}
	if got := spec.Assumed(); !slices.Equal(got, []string{"l.csv and 2 more files: no zone; no user"}) {
		t.Errorf("%q", got)
	}
}

// Which workloads need samples, and a job's demand after a resize.
func TestWorkloads(t *testing.T) {
	known, unknown := &experiment.Job{Name: "known", Runtime: &experiment.Runtime{}}, &experiment.Job{Name: "a", GPUs: 1}
	of := func(timed bool, jobs ...*experiment.Job) *experiment.Workload {
		w := &experiment.Workload{Trace: &experiment.Trace{}}
		for _, j := range jobs {
			w.Trace.Blocks = append(w.Trace.Blocks, experiment.TraceBlock{Job: j, Timed: timed})
		}
		return w
	}
	submit := func(j *experiment.Job) *experiment.Workload {
		return &experiment.Workload{Submits: []experiment.Submit{{Job: j}}}
	}
	for i, c := range []struct {
		w       *experiment.Workload
		sampled bool
	}{
		{submit(known), false}, {submit(unknown), true}, {of(true, unknown), false}, {of(false, unknown), true},
		{of(false, known), false}, {of(false, known, unknown), true}, {&experiment.Workload{}, false},
	} {
		if c.w.Sampled() != c.sampled {
			t.Errorf("workload %d: sampled %t", i, c.w.Sampled())
		}
	}
	w := submit(unknown)
	w.Trace = &experiment.Trace{Trace: workload.Trace{Jobs: []scheduler.Job{{Name: "x", Nodes: 2, Threads: 4, Memory: 6}, {Name: "a-7"}}}}
	for name, want := range map[string]cluster.Demand{
		"x":   {Threads: 3, Nodes: 2, Memory: 6},
		"a-7": {Threads: 3, Nodes: 1},
		"a-1": {Threads: 3, Nodes: 1, GPUs: 1},
		"a-b": {Threads: 3, Nodes: 1},
		"b-1": {Threads: 3, Nodes: 1},
	} {
		if got := w.Resized(experiment.Update{Job: name, Threads: 3}); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if got := w.JobBlocks(); len(got) != 1 || got[0] != unknown {
		t.Errorf("the blocks are %v", got)
	}
	if got := of(true, known, unknown).JobBlocks(); !slices.Equal(got, []*experiment.Job{known, unknown}) {
		t.Errorf("the blocks of a trace are %v", got)
	}
}

// Replicates give the same results only if nothing is drawn at random.
func TestFixed(t *testing.T) {
	const file = `
experiment "e" {
  replicates = REPLICATES
}
job "a" {
  command = ["x"]
  epochs  = 3
  JOB
  runtime {
    epoch = EPOCH
  }
}
workload "w" {
  submit {
    job   = job.a
    count = COUNT
    interarrival = ARRIVALS
  }
}
hardware "h" {
  engine  = "simulated"
  threads = 4
  HARDWARE
}
policy "p" {
  order     = "sjf"
  estimates = ESTIMATES
}
`
	standard := []string{"REPLICATES", "3", "COUNT", "2", "ARRIVALS", `"1s"`, "EPOCH", `"1s"`, "ESTIMATES", `"oracle"`,
		"HARDWARE", "", "JOB", ""}
	for i, c := range []struct {
		set  []string
		want string
	}{
		{nil, "[w]"},
		{[]string{"REPLICATES", "1"}, "[]"},
		{[]string{"EPOCH", `exponential("1s")`}, "[]"},
		{[]string{"EPOCH", `normal("1s", "100ms")`}, "[]"},
		{[]string{"ARRIVALS", `exponential("1s")`}, "[]"},
		{[]string{"ARRIVALS", `exponential("1s")`, "COUNT", "1"}, "[]"},
		{[]string{"ESTIMATES", "noisy(0.2)"}, "[]"},
		{[]string{"ESTIMATES", "noisy(0)"}, "[w]"},
		{[]string{"HARDWARE", "noise = 0.1"}, "[]"},
	} {
		spec, diags := decode.Source("fixed.hcl", []byte(strings.NewReplacer(append(slices.Clone(c.set), standard...)...).Replace(file)),
			decode.Options{Host: decodetest.Host})
		if diags.HasErrors() {
			t.Errorf("case %d: %s", i, decodetest.Text(t, diags))
			continue
		}
		if got := fmt.Sprint(spec.Alike()); got != c.want {
			t.Errorf("%v: alike %s, want %s", c.set, got, c.want)
		}
	}
}
