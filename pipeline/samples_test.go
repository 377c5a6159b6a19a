package pipeline

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/language"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/results/record"
)

// What the language calls a model is one.
func TestModelsOfTheLanguageExist(t *testing.T) {
	for _, m := range language.Models {
		if _, err := estimator.ByName(m); err != nil {
			t.Error(err)
		}
	}
}

// units lists the threads of what a plan samples, and whether a job asks for
// them.
func units(p *Plan) (threads []int, asked []bool) {
	for _, u := range p.state.profiles {
		threads = append(threads, u.job.Threads.Request)
		asked = append(asked, u.asked)
	}
	return threads, asked
}

// A speed-up curve wants samples on other numbers of threads than the request,
// where the job may come to run on them.
func TestThreadsThatAreSampled(t *testing.T) {
	const curve = "\nestimate { model = \"scaling\" }\n"
	for _, c := range []struct {
		name, job, policy, more string
		want                    []int
	}{
		{"one model, one request", "threads = 4\nmalleable = true", `allocation = "max_prop"`, "", []int{4}},
		{"strict", "threads = 4\nmalleable = true", `allocation = "strict"`, curve, []int{4}},
		{"half", "threads = 4\nmalleable = true", `allocation = "max_prop"`, curve, []int{4, 2}},
		{"rigid, but sized at its start", "threads = 4", `allocation = "always_attend"`, curve, []int{4, 2}},
		{"bounds", "threads = {\nrequest = 2\nmin = 1\nmax = 4\n}\nmalleable = true", `allocation = "max_prop"`, curve, []int{2, 1, 4}},
		{"beyond the machine", "threads = {\nrequest = 2\nmax = 64\n}\nmalleable = true", `allocation = "max_prop"`, curve, []int{2, 1}},
		{"as the file says", "threads = 2", `allocation = "strict"`, curve + "profile { threads = [4, 2, 1] }", []int{2, 1, 4}},
	} {
		file := strings.Replace(realFile, "epochs  = 10", "epochs = 10\n"+c.job, 1)
		file = strings.Replace(file, `engine  = "process"`, `engine = "simulated"`, 1)
		file = strings.Replace(file, "threads = 1", "threads = 64", 1)
		file = strings.Replace(file, `order = "fcfs"`, "order = \"fcfs\"\n"+c.policy, 1)
		spec := load(t, file+c.more)
		p, err := newPlan(spec, Options{Out: t.TempDir()}, hardware.Machine{Threads: 8})
		if err != nil {
			t.Fatal(err)
		}
		got, asked := units(p)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: samples on %v threads, want %v", c.name, got, c.want)
		}
		for i := range asked {
			if asked[i] != (i == 0) {
				t.Errorf("%s: a job asks for %d threads: %v", c.name, got[i], asked[i])
			}
		}
	}
}

// The samples of a request that is swept tell of one another, where the model
// looks at them; a key says which.
func TestASweptRequestSharesItsSamples(t *testing.T) {
	file := strings.Replace(realFile, "epochs  = 10", "epochs = 10\nthreads = each.cores", 1)
	file = strings.Replace(file, `engine  = "process"`, `engine = "simulated"`, 1)
	file = strings.Replace(file, "threads = 1\n", "threads = 4\n", 1) + "\nmatrix {\ncores = [1, 2, 4]\n}\n"
	for model, want := range map[string]int{"linear": 1, "scaling": 3} {
		p := plan(t, file+"\nestimate { model = \""+model+"\" }", t.TempDir())
		if len(p.state.profiles) != 3 {
			t.Fatalf("%d job kinds are sampled, want 3", len(p.state.profiles))
		}
		j := p.state.profiles[1].job
		if got := p.sampleHashes(j, model); len(got) != want || got[0] != p.profileHash(j) {
			t.Errorf("%s looks at %d kinds of samples, want %d", model, len(got), want)
		}
		var names []string
		for _, u := range p.state.profiles {
			names = append(names, u.name)
		}
		if want := []string{"t", "t.2", "t.3"}; !slices.Equal(names, want) {
			t.Errorf("the files are called %v, want %v", names, want)
		}
	}
}

func TestSampleLengths(t *testing.T) {
	for _, c := range []struct {
		total   int
		profile experiments.Profile
		want    []int
	}{
		{100, experiments.Profile{Samples: 2, Fraction: 0.03}, []int{3, 6}},
		{10, experiments.Profile{Samples: 3, Fraction: 0.01}, []int{1, 2, 3}},
		{2, experiments.Profile{Samples: 3, Fraction: 0.5}, []int{1, 2, 2}},
		{100, experiments.Profile{Lengths: []int{5, 20}}, []int{5, 20}},
		{8, experiments.Profile{Lengths: []int{5, 20, 30}}, []int{5, 8}},
	} {
		if got := sampleLengths(c.total, c.profile); !slices.Equal(got, c.want) {
			t.Errorf("of %d by %+v: %v, want %v", c.total, c.profile, got, c.want)
		}
	}
}

// Under a budget the two shortest samples of a request come first; then other
// numbers of threads, longer samples, and repeats.
func TestTasksUnderABudget(t *testing.T) {
	s := &sampling{run: &run{Plan: &Plan{spec: &experiments.Spec{Profile: experiments.Profile{Budget: 0.05}}, state: &planState{}}}}
	s.state.profiles = []profileUnit{
		{lengths: []int{1, 2, 3}, repeats: 2, asked: true},
		{lengths: []int{1, 2, 3}, repeats: 1},
	}
	s.Profiles = make([]ProfileWork, 2)
	text := func(tasks []task) string {
		var parts []string
		for _, t := range tasks {
			parts = append(parts, strings.Repeat("other ", t.unit)+strings.Repeat("·", t.length)+strings.Repeat("'", t.repeat))
		}
		return strings.Join(parts, ", ")
	}
	needed, others := s.tasks()
	if d := cmp.Diff("·, ··", text(needed)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff("other ·, other ··, ···, other ···, ·', ··', ···'", text(others)); d != "" {
		t.Error(d)
	}
	s.spec.Profile.Budget = 0
	if needed, others := s.tasks(); len(needed) != 9 || len(others) != 0 {
		t.Errorf("without a budget %d samples are needed, and %d are not", len(needed), len(others))
	}
}

// script is a real experiment of a program that sleeps for a while, does its
// units in no time and says that they took 10 ms each.
const script = `
experiment "sampled" { replicates = 1 }

job "t" {
  command = ["sh", "-c", "sleep 0.03; printf '<TIME_WRITTER_OUTPUT>[0.02'; for i in $(seq $TFEXP_EPOCHS); do printf ', 0.01'; done; echo ', 0.005]</TIME_WRITTER_OUTPUT>'"]
  epochs  = 10
}

workload "w" {
  submit { job = job.t }
}

hardware "h" {
  engine  = "process"
  threads = 1
}

policy "fcfs" { order = "fcfs" }
`

func sampleRows(t *testing.T, dir string) []record.SampleRow {
	t.Helper()
	e, err := record.Open(filepath.Join(dir, "sampled"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := e.Samples()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Samples are as long, and as many, as the file says; they are in samples.csv
// with what the program said, and are reused.
func TestSamplesAreTaken(t *testing.T) {
	out := t.TempDir()
	file := script + "\nprofile {\nepochs = [1, 3]\nrepeats = 2\n}\n"
	runs(t, file, out, 1)
	rows := sampleRows(t, out)
	var lengths []int
	for _, r := range rows {
		lengths = append(lengths, r.Length)
		if r.Startup != 0.02 || r.Save != 0.005 || r.Wall < 0.03 || r.Cost < r.Wall || r.Units < 0.0099*float64(r.Length) {
			t.Errorf("%+v", r)
		}
	}
	if !slices.Equal(lengths, []int{1, 1, 3, 3}) {
		t.Errorf("samples of %v epochs", lengths)
	}
	p := plan(t, file, out)
	if !p.Profiles[0].Reuse {
		t.Errorf("the samples are not found again: %s", p.Profiles[0].Reason)
	}
	if est, ok := p.estimateOf(p.state.profiles[0].job); !ok || est.Slope < 0.0099 || est.Slope > 0.0101 {
		t.Errorf("the estimate is %+v, want 10 ms an epoch", est)
	}
	if raw, err := os.ReadFile(filepath.Join(p.Dir, record.AccuracyFile)); err != nil || !strings.Contains(string(raw), "linear,all,,1,1,") {
		t.Errorf("accuracy.csv: %s, %v", raw, err)
	}
}

// A budget of nearly nothing leaves the two samples that every prediction needs,
// and says that they took more. By what the program says, a cell takes 10 s: a
// budget of all of that has room for the rest.
func TestBudget(t *testing.T) {
	for budget, want := range map[string]int{"0.000001": 2, "\"100%\"": 12} {
		out := t.TempDir()
		file := strings.Replace(script, "epochs  = 10", "epochs = 1000", 1)
		o := runs(t, file+"\nprofile {\nsamples = 3\nrepeats = 4\nbudget = "+budget+"\n}\n", out, 1)
		if got := len(sampleRows(t, out)); got != want {
			t.Errorf("with a budget of %s %d samples are taken, want %d", budget, got, want)
		}
		over := slices.ContainsFunc(o.Warnings, func(w record.Warning) bool { return w.Code == "budget" })
		if over != (want == 2) {
			t.Errorf("with a budget of %s it is said that it was missed: %v", budget, over)
		}
	}
}
