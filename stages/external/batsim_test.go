//go:build unix

package external

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// TestPybatsim runs unchanged schedulers of pybatsim. Their jobs start at the same times as under the built-in policies
// if the semantics are equal (docs/external.md). The cases are on two cores, with events at different instants.
func TestPybatsim(t *testing.T) {
	program, python := pybatsim(t)
	for _, test := range []struct {
		scheduler string
		own       policy.Policy
	}{
		{"schedFcfs", policy.Policy{Order: policy.FCFS}},
		{"easyBackfill", policy.Policy{Order: policy.FCFS, Backfill: policy.EASY}},
	} {
		t.Run(test.scheduler, func(t *testing.T) {
			for n := range uint64(20) {
				random := rand.New(rand.NewPCG(n, 17))
				l := lot{cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Name: "n", Threads: 2}}}}
				at := time.Duration(0)
				for i := range 60 {
					at += time.Duration(random.IntN(3_000_000)) * time.Microsecond
					run := time.Duration(1+random.IntN(8_000_000)) * time.Microsecond
					j := scheduler.Job{Number: i, Name: fmt.Sprint("job-", i), Class: "c", Arrival: at, Threads: 1, Predicted: run}
					if random.IntN(4) == 0 {
						j.Threads = 2
					}
					if random.IntN(2) == 0 { // the job requests more than it takes
						j.Predicted += time.Duration(random.IntN(5_000_000)) * time.Microsecond
					}
					l.jobs, l.work = append(l.jobs, j), append(l.work, simulated.FullRequest(run, j.Threads))
				}
				want, err := l.starts(t, test.own)
				if err != nil {
					t.Fatal(err)
				}
				c := task(t.TempDir(), "", nil, python, "-m", "tfexp_batsim", program, test.scheduler, "-t", "0", "-v", "warning")
				c.Base = t.TempDir() // the scheduler writes files there
				by := c.Decider(t.Context())
				got, err := l.starts(t, by)
				var out record.Cell
				if by.Close(&out); err != nil || out.Error != "" || len(out.Warnings) > 0 {
					t.Fatal(err, out.Error, out.Warnings)
				}
				for job := range want {
					if got[job] != want[job] {
						t.Fatalf("workload %d: job %d starts at %s, want %s", n, job, got[job], want[job])
					}
				}
			}
		})
	}
}

// pybatsim returns the program pybatsim and the Python that has its packages.
func pybatsim(t *testing.T) (program, python string) {
	const how = "Python 3.10: python3.10 -m venv DIR && DIR/bin/pip install pybatsim==3.2.1; DIR/bin in PATH"
	program, err := exec.LookPath("pybatsim")
	need.This(t, "pybatsim", err, how)
	python = filepath.Join(filepath.Dir(program), "python3")
	need.This(t, "pybatsim", exec.CommandContext(t.Context(), python, "-c", "import zmq").Run(), how)
	return program, python
}

// starts returns the start times of a lot's jobs under a policy.
func (l *lot) starts(t *testing.T, by scheduler.SchedulingPolicy) ([]time.Duration, error) {
	on, err := simulated.New(l.jobs, l.work, simulated.Options{Cluster: l.cluster})
	if err != nil {
		t.Fatal(err)
	}
	out, err := scheduler.Run{Policy: by, Cluster: l.cluster, Jobs: l.jobs, Engine: on}.Execute(t.Context())
	starts := make([]time.Duration, len(out.Jobs))
	for i, r := range out.Jobs {
		starts[i] = r.FirstStart
	}
	return starts, err
}
