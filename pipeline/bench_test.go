package pipeline

import (
	"context"
	"testing"
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

// BenchmarkPlan10000 is reading and planning a file of 10,000 cells, none of
// which is cached (aim: 1 s).
func BenchmarkPlan10000(b *testing.B) {
	out := b.TempDir()
	for b.Loop() {
		p := plan(b, matrixFile, out)
		if len(p.Cells) != 10_000 {
			b.Fatalf("%d cells", len(p.Cells))
		}
	}
}

// BenchmarkReuse10000 is reading, planning and finding 10,000 cells finished
// (aim: 1 s).
func BenchmarkReuse10000(b *testing.B) {
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

// BenchmarkMainJobReuse is all that a second run of the main job does.
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
