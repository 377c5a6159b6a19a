package pipeline

import (
	"context"
	"math"
	"slices"
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

policy "pollux" {
  order         = "pollux"
  rounds        = "10s"
  restart_delay = "0s"
}
`

// TestElasticJobsOfAFile: on one GPU the job takes 2 · 1000 · 8 · 10 ms = 160 s. Optimus gives it
// all four at once: 40 s. Under Pollux it has one GPU until it knows its speed, for 10 s, then
// twice as many as it has had at most, two for 10 s and four from then on: (160 - 10 - 20) / 4 = 32.5 s
// more.
func TestElasticJobsOfAFile(t *testing.T) {
	p := plan(t, elasticFile, t.TempDir())
	if _, err := p.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	e, err := record.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		policy string
		jct    float64
	}{{"fcfs", 160}, {"tiresias", 160}, {"optimus", 40}, {"pollux", 52.5}} {
		i := slices.IndexFunc(e.Cells, func(c record.Cell) bool { return c.Policy == want.policy })
		if i < 0 {
			t.Fatalf("there is no cell of %s", want.policy)
		}
		if got := measure.MeanJCT.Of(&e.Cells[i].Metrics); math.Abs(got-want.jct) > 0.01 {
			t.Errorf("%s: %v s, want %v", want.policy, got, want.jct)
		}
	}
}
