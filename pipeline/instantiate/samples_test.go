package instantiate

import (
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
)

// realFile is an experiment of one job block that runs for real.
const realFile = `
experiment "real" {
  replicates = 1
}

job "t" {
  command = ["true"]
  epochs  = 10
}

workload "w" {
  submit {
    job   = job.t
    count = 2
  }
}

hardware "h" {
  engine  = "process"
  threads = 1
}

policy "fcfs" {
  order = "fcfs"
}

policy "rr" {
  order   = "round_robin"
  quantum = "1s"
}
`

func loadSmall(t testing.TB, source string) *experiment.Spec {
	t.Helper()
	spec, diags := decode.Source("small.hcl", []byte(source), decode.Options{
		Host: experiments.HostFacts{Threads: 2, Cores: 2},
	})
	if diags.HasErrors() {
		var b strings.Builder
		diags.Render(&b, false)
		t.Fatal(b.String())
	}
	return spec
}

// units lists the threads of a plan's samples, and whether a job asks for them.
func units(x *Experiment) (threads []int, asked []bool) {
	for _, u := range x.units {
		threads = append(threads, u.Threads)
		asked = append(asked, u.Asked)
	}
	return threads, asked
}

// The model of a speed-up curve needs samples on other numbers of threads than the request, if the job can run on them.
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
		{"bounds", "threads = {\nrequest = 2\nmin = 1\nmax = 4\n}\nmalleable = true", `allocation = "max_prop"`, curve,
			[]int{2, 1, 4}},
		{"beyond the machine", "threads = {\nrequest = 2\nmax = 64\n}\nmalleable = true", `allocation = "max_prop"`, curve,
			[]int{2, 1}},
		{"as the file says", "threads = 2", `allocation = "strict"`, curve + "profile { threads = [4, 2, 1] }",
			[]int{2, 1, 4}},
	} {
		file := strings.Replace(realFile, "epochs  = 10", "epochs = 10\n"+c.job, 1)
		file = strings.Replace(file, `engine  = "process"`, `engine = "simulated"`, 1)
		file = strings.Replace(file, "threads = 1", "threads = 64", 1)
		file = strings.Replace(file, `order = "fcfs"`, "order = \"fcfs\"\n"+c.policy, 1)
		spec := loadSmall(t, file+c.more)
		x, err := New(spec, hardware.Machine{Threads: 8})
		if err != nil {
			t.Fatal(err)
		}
		x.Plan()
		got, asked := units(x)
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

// If the values of an axis change a job's request, its samples are used for all requests, if the model supports this.
// The key of a cell names these samples.
func TestASweptRequestSharesItsSamples(t *testing.T) {
	file := strings.Replace(realFile, "epochs  = 10", "epochs = 10\nthreads = each.cores", 1)
	file = strings.Replace(file, `engine  = "process"`, `engine = "simulated"`, 1)
	file = strings.Replace(file, "threads = 1\n", "threads = 4\n", 1) + "\nmatrix {\ncores = [1, 2, 4]\n}\n"
	for model, want := range map[string]int{"linear": 1, "scaling": 3} {
		x, err := New(loadSmall(t, file+"\nestimate { model = \""+model+"\" }"), hardware.Machine{Threads: 4})
		if err != nil {
			t.Fatal(err)
		}
		x.Plan()
		if len(x.units) != 3 {
			t.Fatalf("%d jobs are sampled, want 3", len(x.units))
		}
		j := x.sampledJob[x.units[1]]
		if got := x.sampleHashes(j, model); len(got) != want || got[0] != x.profileHash(j) {
			t.Errorf("%s looks at %d kinds of samples, want %d", model, len(got), want)
		}
		var names []string
		for _, u := range x.units {
			names = append(names, u.Name)
		}
		if want := []string{"t", "t.2", "t.3"}; !slices.Equal(names, want) {
			t.Errorf("the files are called %v, want %v", names, want)
		}
	}
}

// A cell outside the matrix has its own samples if its policy uses estimates. If only its prediction would use them, it
// has none.
func TestSamplesOfCellsBeyondTheMatrix(t *testing.T) {
	x, err := New(loadSmall(t, realFile+"\npolicy \"sjf\" { order = \"sjf\" }\n"), hardware.Machine{Threads: 8})
	if err != nil {
		t.Fatal(err)
	}
	x.Plan()
	if len(x.units) != 1 {
		t.Fatalf("%d jobs are sampled, want 1", len(x.units))
	}
	for _, c := range x.Cells() {
		at := c.point
		w := *at.Workload
		w.Submits = slices.Clone(w.Submits)
		longer := *w.Submits[0].Job
		longer.Epochs = 1000
		w.Submits[0].Job = &longer
		at.Workload = &w
		before := len(x.units)
		added := &Cell{x: x, point: at, Ref: c.Ref}
		x.Added([]*Cell{added, c})
		x.Added([]*Cell{added})
		want := 0
		if c.Policy.Name == "sjf" {
			want = 1
		}
		if got := len(x.units) - before; got != want {
			t.Errorf("%s: %d further jobs are sampled, want %d", c.Policy.Name, got, want)
		}
	}
	if name := x.units[1].Name; name != "t.2" {
		t.Errorf("the samples of the added job are called %q", name)
	}
}

// Copies of a job are sampled side by side if there is room, once for all cells of a hardware. The simulation of a real
// cell includes their contention, and its key shows this.
func TestJobsSideBySide(t *testing.T) {
	if len(hardware.AllowedCPUs()) < 2 {
		t.Skip("jobs side by side need two CPUs")
	}
	file := strings.Replace(realFile, "threads = 1", "threads = 2", 1)
	x, err := New(loadSmall(t, file), hardware.Machine{Threads: 8})
	if err != nil {
		t.Fatal(err)
	}
	x.Plan()
	units := x.units
	if len(units) != 2 || units[0].Copies != 0 || units[1].Copies != 2 || units[1].Cores != 2 || units[1].Asked ||
		len(units[1].Lengths) != 1 || units[1].Hash == units[0].Hash {
		t.Fatalf("%d units: %+v", len(units), units)
	}
	if !slices.Contains(x.Cells()[0].Needs(), units[1].Hash) {
		t.Error("the cells do not need the sample of jobs side by side")
	}
	length := units[1].Lengths[0]
	x.SetSamples(units[0].Hash, []estimator.Sample{{Length: length, Threads: 1, Wall: 1},
		{Length: 2 * length, Threads: 1, Wall: 2}})
	alone, key, err := x.Cells()[0].Twin(stages.Seen{})
	if err != nil || alone.Simulation.Contention != nil || strings.Contains(key, "contention") {
		t.Fatalf("without the sample: %+v, %v\n%s", alone.Simulation.Contention, err, key)
	}
	x.SetSamples(units[1].Hash, []estimator.Sample{{Length: length, Threads: 1, Wall: 1.5, Others: 1, Total: 2}})
	twin, key, err := x.Cells()[0].Twin(stages.Seen{})
	if err != nil || twin.Simulation.Contention == nil || !strings.Contains(key, "contention serial") {
		t.Fatalf("%+v, %v\n%s", twin.Simulation.Contention, err, key)
	}
	if got := twin.Simulation.Contention.Law.Slowdown(1, 1, 2); got < 1.4 || got > 1.6 {
		t.Errorf("two jobs slow each other down %g times, measured 1.5", got)
	}
	if twin.Setup.Cell.Key == alone.Setup.Cell.Key {
		t.Error("the simulation has the key that it had without contention")
	}
	none, err := New(loadSmall(t, file+"\nprofile { contention = \"none\" }\n"), hardware.Machine{Threads: 8})
	if err != nil {
		t.Fatal(err)
	}
	if none.Plan(); len(none.units) != 1 {
		t.Errorf("%d units where contention is not measured", len(none.units))
	}
}
