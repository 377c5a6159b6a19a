package elastic_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/pipeline/decodetest"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	_ "github.com/tfexp/tfexp/stages/all"
)

// elasticFile is a job with 2 epochs of 1,000 steps of 8 samples, and a GPU needs 10 ms per
// sample. Averages cost nothing, and the worth of a larger batch is proportional to its
// samples.
const elasticFile = `
experiment "elastic" { replicates = 1 }

job "train" {
  command = ["train"]
  epochs  = 2
  gpus    = 1
  runtime {
    elastic {
      beta_c            = 0.01
      gradient_square   = 0
      gradient_variance = 1
      samples           = 8000
      first_batch       = 8
      max_batch         = 64
      max_per_gpu       = 8
    }
  }
}

workload "one" {
  submit { job = job.train }
}

hardware "four" {
  engine = "simulated"
  node "n" {
    threads = 4
    gpus    = 4
  }
}

policy "fcfs" { order = "fcfs" }

policy "tiresias" {
  order  = "tiresias"
  rounds = "10s"
}

policy "optimus" {
  order  = "optimus"
  rounds = "10s"
}

policy "sia" {
  order         = "sia"
  rounds        = "10s"
  restart_delay = "0s"
}

policy "pollux" {
  order         = "pollux"
  rounds        = "10s"
  restart_delay = "0s"
}
`

// TestElasticJobsOfAFile: on one GPU the job takes 2 · 1000 · 8 · 10 ms = 160 s. Optimus gives it
// all four at once: 40 s. Under Pollux and Sia it has one GPU until it knows its speed, for 10 s, then
// twice as many as it has had at most, two for 10 s and four from then on: (160 - 10 - 20) / 4 = 32.5 s
// more.
func TestElasticJobsOfAFile(t *testing.T) {
	jct := meanJCTs(t, elasticFile)
	for name, want := range map[string]float64{"fcfs": 160, "tiresias": 160, "optimus": 40, "pollux": 52.5, "sia": 52.5} {
		if got := jct[name]; math.Abs(got-want) > 0.01 {
			t.Errorf("%s: %v s, want %v", name, got, want)
		}
	}
}

// TestEndsJustAfterARound: each of two jobs takes 60.02 s on the only GPU, which is rounded to 60 s. The first has not
// ended when the round at 60 s is decided about, so the second starts at 70 s and ends at 130 s.
func TestEndsJustAfterARound(t *testing.T) {
	file := strings.NewReplacer("epochs  = 2", "epochs  = 1", "samples           = 8000", "samples = 6002\nresolution = \"1s\"",
		"{ job = job.train }", "{\n job = job.train\n count = 2\n}", "    gpus    = 4", "    gpus    = 1").Replace(elasticFile)
	if got := meanJCTs(t, file)["tiresias"]; math.Abs(got-95) > 1e-6 {
		t.Errorf("mean JCT %v s, want 95", got)
	}
}

// TestSiaTakesTheFasterType: before the job has run, all types are alike to Sia, and it has one of the
// slow GPUs for 10 s. Then it has the two fast ones: (160 - 10) / 8 = 18.75 s more.
func TestSiaTakesTheFasterType(t *testing.T) {
	source := strings.Replace(elasticFile, "  runtime {\n", "  runtime {\n    gpu_rate = { slow = 1, fast = 4 }\n", 1)
	nodes := strings.Index(source, "  node")
	policies := strings.Index(source, "policy")
	source = source[:nodes] + `
  node "slow" {
    threads = 2
    gpus    = 2
    gpu     = "slow"
  }
  node "fast" {
    threads = 2
    gpus    = 2
    gpu     = "fast"
  }
}
` + source[policies:]
	if got := meanJCTs(t, source)["sia"]; math.Abs(got-28.75) > 0.01 {
		t.Errorf("%v s, want 28.75", got)
	}
}

// ran runs an experiment, and opens its results.
func ran(t *testing.T, source string) *record.Experiment {
	t.Helper()
	spec, diags := decode.Source("small.hcl", []byte(source), decode.Options{Host: experiments.HostFacts{Threads: 2, Cores: 2}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, err := pipeline.New(spec, pipeline.Options{Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	e, err := record.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// meanJCTs runs an experiment and returns the mean JCT by policy.
func meanJCTs(t *testing.T, source string) map[string]float64 {
	t.Helper()
	e := ran(t, source)
	jct := map[string]float64{}
	for _, c := range e.Cells {
		jct[c.Policy] = measure.MeanJCT.Of(&c.Metrics)
	}
	return jct
}

// TestOptimusDividesCores: jobs of 160, 40, 60, 100 and 60 core-seconds on two nodes of two cores, rounds of 10 s.
// Optimus gives each job a core and the others to those that save most time:
//
//	 0  A has 2 of a
//	10  B and C have 1 of b each, A has most left and keeps 2
//	50  B has ended; C is resized to 2, and ends at 60
//	60  D has 2 of b, A is resized to 1, and E has 1 of a; A ends at 100
//	100 E is resized to 2; both end at 110
//
// Nobody is paused.
func TestOptimusDividesCores(t *testing.T) {
	source := "experiment \"cores\" { replicates = 1 }\n"
	submits := ""
	for _, j := range []struct {
		name              string
		arrives, coreTime int
	}{{"a", 0, 160}, {"b", 5, 40}, {"c", 5, 60}, {"d", 55, 100}, {"e", 55, 60}} {
		source += fmt.Sprintf(`
job %q {
  command   = ["train"]
  epochs    = 1
  threads   = 2
  malleable = true
  runtime {
    epoch    = "%ds"
    parallel = 1
  }
}
`, j.name, j.coreTime)
		submits += fmt.Sprintf("  submit {\n    job   = job.%s\n    start = \"%ds\"\n  }\n", j.name, j.arrives)
	}
	e := ran(t, source+"\nworkload \"jobs\" {\n"+submits+`}

hardware "nodes" {
  engine = "simulated"
  node "a" { threads = 2 }
  node "b" { threads = 2 }
}

policy "optimus" {
  order  = "optimus"
  rounds = "10s"
}
`)
	if len(e.Cells) != 1 || e.Cells[0].Error != "" {
		t.Fatalf("%+v", e.Cells)
	}
	rows, err := e.Jobs(e.Cells[0].CellRef)
	if err != nil {
		t.Fatal(err)
	}
	ends := map[string]float64{"a-1": 100, "b-1": 50, "c-1": 60, "d-1": 110, "e-1": 110}
	resizes := 0
	for _, r := range rows {
		if math.Abs(r.Finish-ends[r.Job]) > 0.01 || r.Preemptions != 0 {
			t.Errorf("%s ends at %v s, want %v, and was paused %d times", r.Job, r.Finish, ends[r.Job], r.Preemptions)
		}
		resizes += r.Resizes
	}
	if resizes != 3 || len(rows) != len(ends) {
		t.Errorf("%d jobs were resized %d times, want 3", len(rows), resizes)
	}
}

// A wrong model of the estimates is one error: the order says nothing about the model that is missing.
func TestWrongModelIsOneError(t *testing.T) {
	_, text := decodetest.Beside(t, `
experiment "e" {}
job "a" {
  builtin "softmax" {}
  epochs    = 2
  threads   = 2
  malleable = true
}
workload "w" {
  submit { job = job.a }
}
hardware "h" {
  engine  = "simulated"
  threads = 2
}
policy "optimus" {
  order  = "optimus"
  rounds = "10s"
}
estimate { model = "nope" }
`, nil)
	if strings.Count(text, "Error: ") != 1 || !strings.Contains(text, `Unknown model "nope"`) {
		t.Errorf("%s", text)
	}
}
