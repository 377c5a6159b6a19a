package pipeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/results/record"
)

const duetFile = `
experiment "duet" { replicates = 2 }
job "a" {
  epochs  = 1
  command = ["sh", "-c", "grep Cpus_allowed_list /proc/self/status; sleep 0.4"]
}
workload "w" {
  submit { job = job.a }
}
hardware "half" {
  engine  = "process"
  threads = 1
  duet    = true
}
policy "x" { order = "fcfs" }
policy "y" { order = "sjf" }
`

// The cells of a replicate run at the same time, each on its own core. If the results of one are missing, both run
// again.
func TestDuet(t *testing.T) {
	if len(hardware.AllowedCPUs()) < 2 {
		t.Skip("a duet needs a machine with two cores")
	}
	out := t.TempDir()
	runs(t, duetFile, out, 4)
	dir := filepath.Join(out, "duet")
	e, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for replicate := 1; replicate <= 2; replicate++ {
		var began []time.Time
		cores := map[string]bool{}
		for _, c := range e.Cells {
			if c.Replicate != replicate {
				continue
			}
			at, err := time.Parse(time.RFC3339Nano, c.Began)
			if err != nil {
				t.Fatal(err)
			}
			began = append(began, at)
			log, err := os.ReadFile(filepath.Join(dir, record.CellsDir, c.Cell, record.LogsDir, "a-1.log"))
			if err != nil {
				t.Fatal(err)
			}
			cores[strings.TrimSpace(string(log))] = true
		}
		if apart := began[0].Sub(began[1]).Abs(); apart > 300*time.Millisecond || len(cores) != 2 {
			t.Errorf("replicate %d: the cells began %s apart, on %v", replicate, apart, cores)
		}
	}
	if entries, _ := filepath.Glob(filepath.Join(dir, "processes*")); len(entries) > 0 {
		t.Errorf("%v are left", entries)
	}
	// When two policies are added, all cells of each replicate run again, since they run at the same time.
	more := duetFile + `
policy "v" { order = "priority" }
policy "z" { order = "srtf" }
`
	runs(t, more, out, 8)
	runs(t, more, out, 0)
}

// A duet that needs more cores than there are is an error with the line. A duet whose block does not set threads
// gives each cell half of the cores.
func TestDuetNeedsCores(t *testing.T) {
	options := decode.Options{Host: experiments.HostFacts{Threads: 4, Cores: 4}}
	_, diags := decode.Source("duet.hcl", []byte(strings.Replace(duetFile, "threads = 1", "threads = 3", 1)), options)
	var b strings.Builder
	diags.Render(&b, false)
	if !strings.Contains(b.String(), "duet.hcl line 13") || !strings.Contains(b.String(), "have 6 threads") {
		t.Error(b.String())
	}
	spec, diags := decode.Source("duet.hcl", []byte(strings.Replace(duetFile, "threads = 1", "", 1)), options)
	if diags.HasErrors() || spec.Cells[0].Hardware.Cluster.Nodes[0].Threads != 2 {
		t.Errorf("by default: %+v, %v", spec.Cells[0].Hardware, diags)
	}
}
