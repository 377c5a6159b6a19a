package pipeline

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// elasticFile is a job with 2 epochs of 1,000 steps of 8 samples, each of which a GPU needs
// 10 ms for. Averages cost nothing, and larger batches are worth as much as they have samples.
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

// meanJCTs runs an experiment and returns the mean JCT by policy.
func meanJCTs(t *testing.T, source string) map[string]float64 {
	t.Helper()
	p := plan(t, source, t.TempDir())
	if _, err := p.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	e, err := record.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	jct := map[string]float64{}
	for _, c := range e.Cells {
		jct[c.Policy] = measure.MeanJCT.Of(&c.Metrics)
	}
	return jct
}
