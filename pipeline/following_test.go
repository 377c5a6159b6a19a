package pipeline

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfexp/tfexp/results/record"
)

// The plan of a finished run lists all its cells, also if plan.json was written before cells followed from the results,
// and the cache has all of them.
func TestRestoredCellsAreInThePlan(t *testing.T) {
	was := maxWriting
	maxWriting = math.Inf(1) // plan.json is written each time
	t.Cleanup(func() { maxWriting = was })
	const source = `
experiment "e" { replicates = 1 }
job "train" {
  command = ["train"]
  epochs  = 1
  runtime { epoch = "10m" }
}
workload "w" {
  submit {
    job   = job.train
    count = 20
  }
}
hardware "h" {
  engine = "simulated"
  node "n" {
    count   = each.nodes
    threads = 1
  }
}
policy "fcfs" { order = "fcfs" }
matrix { nodes = [1, 2, 3, 4, 5, 6, 7, 8] }
size "nodes" {
  metric = "p95_waiting"
  max    = "35m"
  bisect = true
}
`
	out := t.TempDir()
	planned := func() int {
		e, err := record.Open(filepath.Join(out, "e"))
		if err != nil {
			t.Fatal(err)
		}
		return len(e.Plan.Cells)
	}
	ran := plan(t, source, out)
	o, err := ran.Run(t.Context())
	if err != nil || planned() != o.Ran || o.Ran < 3 {
		t.Fatalf("%d cells ran, %d are in the plan: %v", o.Ran, planned(), err)
	}
	if err := os.RemoveAll(filepath.Join(out, "e", record.CellsDir)); err != nil {
		t.Fatal(err)
	}
	if again := runs(t, source, out, 0); planned() != o.Ran {
		t.Errorf("%d cells were reused, %d are in the plan, want %d", again.Reused, planned(), o.Ran)
	}
}
