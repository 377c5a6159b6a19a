//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/jobs/contract"
)

// revoked is a training with a parameter server. Its second worker loses its server and gets it back; later the first
// worker, which is the chief, loses its server.
const revoked = `
experiment "revoked" { replicates = 1 }

hardware "h" {
  engine = "ENGINE"
  node "chief" {
    threads  = 1
    lifetime = availability("chief.csv")
    price    = 1
  }
  node "worker" {
    threads  = 1
    lifetime = availability("worker.csv")
    warning  = "300ms"
    price    = 1
  }
}

job "cnn" {
  builtin "cnn" {}
  image  = "tfexp/builtin:latest"
  epochs = 160
  checkpoint { every = "700ms" }
  role "worker" {
    count   = 2
    elastic = true
  }
  role "ps" {
    count   = 1
    threads = 0
  }
}

workload "w" {
  submit { job = job.cnn }
}

policy "fcfs" { order = "fcfs" }
profile { epochs = [2, 3] }
`

// A revocation kills a worker, and training continues. The worker joins again when its server is back. If the chief is
// killed, the job restarts from its checkpoint, and reports the lost steps exactly.
func TestRevocations(t *testing.T) {
	for _, test := range []struct {
		engine string
		scale  float64 // of the instants: containers start more slowly
	}{{"process", 1}, {"docker", 2}} {
		t.Run(test.engine, func(t *testing.T) {
			if test.engine == "docker" {
				needDocker(t)
			} else if !need.Long() {
				t.Skip("trains for half a minute: make long")
			}
			// On a busy machine, the chief may be lost before its first checkpoint. The test then repeats the run with
			// later instants.
			for scale := test.scale; ; scale *= 2 {
				dir, err := filepath.EvalSymlinks(t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				cell := runRevoked(t, dir, test.engine, scale)
				log, err := os.ReadFile(filepath.Join(cell, "logs", "cnn-1.log"))
				if err != nil {
					t.Fatal(err)
				}
				if left := processesOf(dir); len(left) > 0 {
					t.Errorf("left running: %s", left)
				}
				if bytes.Contains(log, []byte(`{"tfexp":{"resumed":`)) || scale >= 8*test.scale {
					checkRevoked(t, cell, scale)
					return
				}
			}
		})
	}
}

// runRevoked runs the experiment on an engine in a folder, and returns the folder of its cell.
func runRevoked(t *testing.T, dir, engine string, scale float64) string {
	t.Helper()
	record := func(lost, back float64) string {
		return fmt.Sprintf("time_s,servers\n0,1\n%g,0\n%g,1\n", lost*scale, back*scale)
	}
	text := strings.Replace(revoked, "ENGINE", engine, 1)
	if engine == "process" {
		text = strings.Replace(text, "  image  = \"tfexp/builtin:latest\"\n", "", 1)
	}
	for name, text := range map[string]string{
		"r.hcl": text, "worker.csv": record(1.5, 2.5), "chief.csv": record(4, 4.5),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := tfexp(dir, "run", "r.hcl", "--out", "out")
	if code := s.status(t); code != command.ExitOK {
		t.Fatalf("ended with %d: %s", code, s.stderr.String())
	}
	return filepath.Join(dir, "out", "revoked", "cells", "w-h-fcfs-r1")
}

// checkRevoked checks the files of the cell.
func checkRevoked(t *testing.T, cell string, scale float64) {
	t.Helper()
	events, err := os.ReadFile(filepath.Join(cell, "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, next := range []string{
		`"event":"start","job":"cnn-1","cores":"0-1"`, `"event":"node_warned","node":"worker"`, `"event":"node_down","node":"worker"`,
		`"event":"resize","job":"cnn-1","cores":"0"`, `"event":"node_up","node":"worker"`, `"event":"resize","job":"cnn-1","cores":"0-1"`,
		`"event":"node_down","node":"chief"`, `"event":"revoke","job":"cnn-1"`, `"event":"start","job":"cnn-1","cores":"0-1"`,
		`"event":"finish","job":"cnn-1"`,
	} {
		i := bytes.Index(events[at:], []byte(next))
		if i < 0 {
			t.Fatalf("%s is missing after\n%s\nof\n%s", next, events[:at], events)
		}
		at += i + len(next)
	}

	log, err := os.ReadFile(filepath.Join(cell, "logs", "cnn-1.log"))
	if err != nil {
		t.Fatal(err)
	}
	// In the log of a container, lines from standard output and standard error may change places.
	i := bytes.Index(log, []byte(`{"tfexp":{"resumed":`))
	if i < 0 || !bytes.Contains(log, []byte("continuing from the checkpoint after step ")) {
		t.Fatalf("the job did not go on:\n%s", log)
	}
	first, rest := log[:i], log[i:]
	before, err := contract.Parse(bytes.NewReader(first), contract.Last)
	if err != nil {
		t.Fatal(err)
	}
	after, err := contract.Parse(bytes.NewReader(rest), contract.Last)
	if err != nil {
		t.Fatal(err)
	}
	if len(after.Resumed) != 1 || len(before.Checkpoints) == 0 {
		t.Fatalf("resumed %v after checkpoints %v", after.Resumed, before.Checkpoints)
	}
	resumed, saved := after.Resumed[0], before.Checkpoints[len(before.Checkpoints)-1]
	// The chief may be lost after a checkpoint is written but not yet reported, or after an epoch that is not yet
	// reported. The other worker continues while the chief has no core.
	if reached := resumed.Step + resumed.LostSteps; resumed.Step < saved.Step || resumed.LostSteps < 0 ||
		reached < before.Progress.Step || reached > before.Progress.Step+1000 {
		t.Errorf("resumed %+v; the last checkpoint was %+v, the last step %d", resumed, saved, before.Progress.Step)
	}
	job := readTable(t, filepath.Join(cell, "jobs.csv"))[0]
	if lost := number(t, job["lost_work_s"]); math.Abs(lost-resumed.LostSeconds) > 1e-6 ||
		(lost > 0) != (resumed.LostSteps > 0) {
		t.Errorf("lost_work_s is %g, the program lost %+v", lost, resumed)
	}
	if job["state"] != "finished" || number(t, job["final_accuracy"]) < 0.95 || number(t, job["checkpoint_s"]) <= 0 {
		t.Errorf("the job: %v", job)
	}
	checkCurve(t, readTable(t, filepath.Join(cell, "progress.csv")), resumed.Step)

	servers := readTable(t, filepath.Join(cell, "..", "..", "servers.csv"))
	lost := 0
	for _, s := range servers {
		if s["job"] != "cnn-1" || s["market"] != "spot" || number(t, s["cost_usd"]) <= 0 {
			t.Errorf("server %v", s)
		}
		if s["revoked"] == "1" {
			lost++
			want := map[string]float64{"worker": 1.5, "chief": 4}[s["node"]] * scale
			if down := number(t, s["down_s"]); down < want || down > want+10 {
				t.Errorf("%s is down at %g s, lost at %g", s["node"], down, want)
			}
		}
	}
	if len(servers) != 4 || lost != 2 {
		t.Errorf("%d servers, %d lost", len(servers), lost)
	}
}

// checkCurve checks that each epoch is reported once and in order: first by the attempt that lost its chief, then by
// the attempt that continues from a step.
func checkCurve(t *testing.T, rows []map[string]string, step int) {
	t.Helper()
	const steps = 45 // steps per epoch
	next := 1
	for _, r := range rows {
		epoch, err := strconv.Atoi(r["epoch"])
		if err != nil || r["loss"] == "" {
			t.Fatalf("row %v", r)
		}
		if epoch < next {
			next = step/steps + 1
		}
		if epoch != next {
			t.Fatalf("epoch %d is reported in the place of %d", epoch, next)
		}
		next++
	}
	if next != 161 {
		t.Errorf("the last epoch is %d", next-1)
	}
}

// processesOf lists the processes, except this one, that have the folder in their environment.
func processesOf(dir string) (left []string) {
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range folders {
		env, err := os.ReadFile(p + "/environ")
		if err != nil || !bytes.Contains(env, []byte(contract.EnvCheckpointDir+"="+dir)) {
			continue
		}
		if name, _ := os.ReadFile(p + "/cmdline"); len(name) > 0 {
			left = append(left, string(bytes.ReplaceAll(name, []byte{0}, []byte{' '})))
		}
	}
	slices.Sort(left)
	return left
}
