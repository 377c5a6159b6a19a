package pipeline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/pipeline/decode"
)

// matrixFile is a matrix of 10,000 cells: two axes of 100 values.
const matrixFile = `
experiment "large" {
  replicates = 1
}

job "short" {
  builtin "softmax" {}
  epochs = 2
  runtime {
    epoch = "100ms"
  }
}

workload "many" {
  submit {
    job          = job.short
    count        = 2
    interarrival = "${each.gap}ms"
  }
}

hardware "sim" {
  engine  = "simulated"
  threads = 2
}

policy "rr" {
  order   = "round_robin"
  quantum = "${each.quantum}ms"
}

matrix {
  gap     = range(1, 101)
  quantum = range(1, 101)
}

plot "metrics" {}
`

// BenchmarkPlan10000 reads and plans a file of 10,000 cells, without cached
// ones (aim: 1 s).
func BenchmarkPlan10000(b *testing.B) {
	out := b.TempDir()
	for b.Loop() {
		p := plan(b, matrixFile, out)
		if len(p.Cells) != 10_000 {
			b.Fatalf("%d cells", len(p.Cells))
		}
	}
}

const spotFile = `
experiment "spot" { replicates = 2 }
job "a" {
  command = ["train"]
  epochs  = 10
  runtime { epoch = "10m" }
  checkpoint { every = "10m" }
}
workload "w" {
  submit { job = job.a }
}
hardware "h" {
  engine = "simulated"
  node "spot" {
    count    = 10000
    threads  = 1
    market   = "spot"
    lifetime = survival("lives.csv")
  }
}
policy "fcfs" { order = "fcfs" }
`

// BenchmarkPlanSpotNodes reads and plans a file of 10,000 spot nodes with measured lifetimes (aim: 1 s).
func BenchmarkPlanSpotNodes(b *testing.B) {
	var lives strings.Builder
	lives.WriteString("lifetime_s,revoked\n")
	for i := range 500 {
		fmt.Fprintf(&lives, "%d,%d\n", 60+i*i, i%2)
	}
	out := b.TempDir()
	if err := os.WriteFile(filepath.Join(out, "lives.csv"), []byte(lives.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	source := strings.Replace(spotFile, "lives.csv", filepath.Join(out, "lives.csv"), 1)
	for b.Loop() {
		if p := plan(b, source, filepath.Join(out, "results")); len(p.Cells) != 2 {
			b.Fatalf("%d cells", len(p.Cells))
		}
	}
}

// BenchmarkReuse10000 reads and plans a file of 10,000 cells that have all finished (aim: 1 s).
func BenchmarkReuse10000(b *testing.B) {
	large(b)
	out := b.TempDir()
	if _, err := plan(b, matrixFile, out).Run(context.Background()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		p := plan(b, matrixFile, out)
		for i := range p.Work {
			if !p.Work[i].Reuse {
				b.Fatalf("%s: %s", p.Cells[i].Cell, p.Work[i].Reason)
			}
		}
	}
}

// BenchmarkMainJobReuse runs the main job's experiment a second time, when all its results are cached.
func BenchmarkMainJobReuse(b *testing.B) {
	out := b.TempDir()
	if _, err := plan(b, simulatedFile, out).Run(context.Background()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := plan(b, simulatedFile, out).Run(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkManyJobs runs one cell of 100,000 or 1,000,000 jobs at a load of 0.95 on 1,024 cores. It either writes all
// files, pictures and the report, or records only the metrics.
func BenchmarkManyJobs(b *testing.B) {
	for _, jobs := range []string{"100000", "1000000"} {
		for _, backfill := range []string{"none", "easy"} {
			for _, records := range []string{"all", "metrics"} {
				b.Run("jobs="+jobs+"/"+backfill+"/"+records, func(b *testing.B) {
					if jobs == "1000000" {
						large(b)
					}
					benchmarkFile(b, "testdata/million.hcl", 1, "backfill="+backfill, "records="+records, "jobs="+jobs)
				})
			}
		}
	}
}

// large skips a benchmark that is too long to run after every change.
func large(b *testing.B) {
	b.Helper()
	if testing.Short() {
		b.Skip("a large size: make bench-large")
	}
}

// BenchmarkThousandCells runs 1,000 simulated cells of 1,000 jobs each, with the report (aim: 30 s on two cores).
func BenchmarkThousandCells(b *testing.B) {
	large(b)
	benchmarkFile(b, "testdata/thousand.hcl", 1000)
}

// BenchmarkManyCells runs many simulated cells of 10 jobs each, with all files, tables, pictures and the report. The
// time per cell must not grow with their number.
func BenchmarkManyCells(b *testing.B) {
	for _, cells := range []int{1000, 4000, 10_000} {
		b.Run(fmt.Sprintf("cells=%d", cells), func(b *testing.B) {
			if cells > 1000 {
				large(b)
			}
			benchmarkFile(b, "../experiments/slurm_array.hcl", cells, fmt.Sprintf("replicates=%d", cells/20), "jobs=10")
			b.ReportMetric(b.Elapsed().Seconds()/float64(cells*b.N)*1e3, "ms/cell")
		})
	}
}

// BenchmarkMetricsCells runs 1,000 simulated cells of 10 or 1,000 jobs with records = "metrics".
func BenchmarkMetricsCells(b *testing.B) {
	for _, jobs := range []string{"10", "1000"} {
		b.Run("jobs="+jobs, func(b *testing.B) {
			benchmarkFile(b, "../experiments/slurm_array.hcl", 1000, "replicates=50", "records=metrics", "jobs="+jobs)
			b.ReportMetric(b.Elapsed().Seconds()/float64(1000*b.N)*1e3, "ms/cell")
		})
	}
}

// benchmarkFile runs a file with the given number of cells, without cached results.
func benchmarkFile(b *testing.B, file string, cells int, vars ...string) {
	b.Helper()
	for b.Loop() {
		spec, diags := decode.File(file, decode.Options{Vars: vars})
		if diags.HasErrors() {
			b.Fatal(diags)
		}
		p, err := New(spec, Options{Out: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		o, err := p.Run(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if o.Ran != cells || o.Failed > 0 {
			b.Fatalf("%d cells ran, %d failed", o.Ran, o.Failed)
		}
	}
}
