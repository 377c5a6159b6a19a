package instantiate

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/execute"
)

// drawnFile is a cell of 1,500 jobs of one submit block.
const drawnFile = `
experiment "drawn" {
  replicates = 1
  %s
}

job "served" {
  command = ["true"]
  epochs  = 2
  threads = 2
  %s
}

workload "many" {
  submit {
    job          = job.served
    count        = 1500
    interarrival = %s
  }
}

hardware "cluster" {
  engine  = "simulated"
  threads = 64
  %s
}

policy "p" {
  %s
}
`

// TestDrawnCellsAreAsListedOnes: cells whose jobs are drawn when they are looked at have the keys and all files of cells
// whose jobs are listed: under several policies and estimates, with noise, with drawn and fixed run times, and when the
// cell is closed before its end.
func TestDrawnCellsAreAsListedOnes(t *testing.T) {
	defer func(n int) { manyJobs = n }(manyJobs)
	long, gaps := `runtime { epoch = exponential("20s") }`, `exponential("1s")`
	for name, c := range map[string][]any{
		"fcfs":       {"", long, gaps, "", `order = "fcfs"`},
		"metrics":    {`records = "metrics"`, long, gaps, "", `order = "fcfs"`},
		"first fit":  {"", long, gaps, "noise = 0.2", "order = \"fcfs\"\n backfill = \"first_fit\""},
		"easy":       {"", long, gaps, "", "order = \"fcfs\"\n backfill = \"easy\"\n estimates = \"oracle\""},
		"noisy":      {"", long, gaps, "noise = 0.1", "order = \"sjf\"\n estimates = noisy(0.5)"},
		"priority":   {"", long, `normal("1s", "300ms")`, "", `order = "priority"`},
		"fixed":      {"", `runtime { epoch = "20s" }`, `"900ms"`, "", `order = "sjf"`},
		"closed":     {`until = "10m"`, long, gaps, "", `order = "fcfs"`},
		"overloaded": {"", long, `exponential("200ms")`, "", `order = "sjf"`},
	} {
		t.Run(name, func(t *testing.T) {
			spec := loadSmall(t, fmt.Sprintf(drawnFile, c...))
			var dirs [2]string
			var keys [2]string
			for i, from := range []int{1 << 30, 1} {
				manyJobs, dirs[i] = from, t.TempDir()
				x, err := New(spec, hardware.Machine{Threads: 2})
				if err != nil {
					t.Fatal(err)
				}
				cell := x.Cells()[0]
				key, err := cell.Key()
				if err != nil {
					t.Fatal(err)
				}
				keys[i] = key.Hash()
				task, err := cell.Task(stages.Folders{Dir: dirs[i]})
				if err != nil {
					t.Fatal(err)
				}
				if drawn := task.Setup.Drawn != nil; drawn != (i == 1) {
					t.Fatalf("the jobs are drawn: %v", drawn)
				}
				if _, err := execute.Simulate(t.Context(), task, nil); err != nil {
					t.Fatal(err)
				}
			}
			if keys[0] != keys[1] {
				t.Error("the keys differ")
			}
			same(t, dirs[0], dirs[1])
		})
	}
}

// same compares the files of two cells, and cell.json but for the time that it took.
func same(t *testing.T, a, b string) {
	t.Helper()
	for _, name := range []string{"jobs.csv", "events.jsonl", "decisions.jsonl", "occupancy.csv"} {
		one, errOne := os.ReadFile(filepath.Join(a, name))
		other, errOther := os.ReadFile(filepath.Join(b, name))
		if (errOne == nil) != (errOther == nil) || !bytes.Equal(one, other) {
			t.Errorf("%s differs", name)
		}
	}
	var cells [2]record.Cell
	for i, dir := range []string{a, b} {
		if err := record.ReadCellFile(dir, &cells[i]); err != nil {
			t.Fatal(err)
		}
		cells[i].Seconds = 0
	}
	if one, other := fmt.Sprintf("%+v", cells[0]), fmt.Sprintf("%+v", cells[1]); one != other {
		t.Errorf("cell.json differs:\n%s\n%s", one, other)
	}
}

// Names of jobs are right where their number gets another digit.
func TestNamesOfDrawnJobs(t *testing.T) {
	d := &drawing{template: scheduler.Job{Class: "a"}}
	for _, first := range []int{0, 8, 98, 127, 99_998} {
		names := d.names(first)
		for i := first; i < first+30; i++ {
			if got, want := string(names.next()), fmt.Sprintf("a-%d", i+1); got != want {
				t.Errorf("the name of job %d is %s, want %s", i, got, want)
			}
		}
	}
}
