//go:build unix

package main

import (
	"context"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/docker"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
)

// needDocker skips a test without a daemon on this machine, or without the image of the built-in programs. If a test
// fails, it first checks whether the daemon still runs.
func needDocker(t *testing.T) {
	t.Helper()
	ctx := context.Background()
	h, err := docker.Connect(ctx, "")
	need.This(t, "docker", err, "start a Docker daemon, as .ci/docker does")
	defer h.Close()
	_, err = h.Image(ctx, "tfexp/builtin:latest", docker.PullNever, "")
	need.This(t, "docker", err, "stages/builtin/build-image.sh")
}

// contained is an experiment of two jobs in containers. A job of ten epochs runs until the file "go" exists; samples do
// not wait for the file.
const contained = `
experiment "contained" {
  replicates = 1
}

job "t" {
  image     = "tfexp/builtin:latest"
  command   = ["sh", "-c", "[ $TFEXP_EPOCHS -lt 10 ] || until test -e /shared/go; do sleep 0.05; done"]
  mounts    = [".:/shared"]
  epochs    = 10
  threads   = 2
  malleable = true
  retries   = 1
}

workload "w" {
  submit { job = job.t }
  submit {
    job = job.t
    at  = "1s"
  }
}

hardware "h" {
  engine  = "docker"
  threads = 2
}

policy "p" {
  POLICY
}

plot "jct" {}
`

// startContained starts a run of the experiment contained in a new folder.
func startContained(t *testing.T, policy string) *started {
	t.Helper()
	needDocker(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "c.hcl"), []byte(strings.Replace(contained, "POLICY", policy, 1)),
		0o644); err != nil {
		t.Fatal(err)
	}
	s := tfexp(dir, "run", "c.hcl")
	t.Cleanup(func() {
		if left := s.containers(t, "{{.Names}}"); len(left) > 0 {
			t.Errorf("left behind: %v", left)
			_ = exec.Command("docker", append([]string{"rm", "-f"}, left...)...).Run()
		}
	})
	return s
}

// containers returns the run's containers, in a format of the docker command.
func (s *started) containers(t *testing.T, format string) []string {
	t.Helper()
	out, err := exec.Command("docker", "ps", "-a", "--filter", "label=tfexp.folder="+filepath.Join(s.dir, "results",
		"contained"), "--format", format).CombinedOutput()
	if err != nil {
		needDocker(t)
		t.Fatalf("%v: %s", err, out)
	}
	return strings.Fields(string(out))
}

// await waits until a condition on the run's containers holds. It checks from time to time that the daemon runs.
func (s *started) await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	asked := time.Now()
	waitFor(t, what, func() bool {
		if time.Since(asked) > 5*time.Second {
			needDocker(t)
			asked = time.Now()
		}
		return condition()
	})
}

// succeeds waits for the end of a run in containers.
func (s *started) succeeds(t *testing.T) {
	t.Helper()
	if code := s.status(t); code != 0 {
		needDocker(t)
		t.Fatalf("exit status %d: %s", code, s.stderr.String())
	}
}

// inspect returns data about the container of a job, in a format of the docker command.
func (s *started) inspect(t *testing.T, job, format string) string {
	t.Helper()
	for _, name := range s.containers(t, "{{.Names}}") {
		if strings.Contains(name, "-"+job+"-") {
			out, _ := exec.Command("docker", "inspect", "--format", format, name).Output() // the container may just have ended
			return strings.TrimSpace(string(out))
		}
	}
	return ""
}

// column returns a column of jobs.csv.
func (s *started) column(t *testing.T, name string) []string {
	t.Helper()
	f, err := os.Open(filepath.Join(s.dir, "results", "contained", record.Jobs.File))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.Index(rows[0], name)
	var values []string
	for _, r := range rows[1:] {
		values = append(values, r[i])
	}
	return values
}

// Under max_prop the first job gives a core to the second job: Docker's limits on the container agree with the
// decisions. A container that is killed meanwhile makes its job restart.
func TestContainersAreResizedAndRestarted(t *testing.T) {
	s := startContained(t, "order = \"fcfs\"\n allocation = \"max_prop\"")
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	s.await(t, "t-1 gives up a core, and t-2 runs on it", func() bool {
		cpus := s.inspect(t, "t-1", "{{.HostConfig.CpusetCpus}}")
		seen[cpus] = true
		return seen["0,1"] && cpus == "0" && s.inspect(t, "t-2",
			"{{.State.Status}} {{.HostConfig.CpusetCpus}}") == "running 1"
	})
	if out, err := exec.Command("docker", "kill", "--signal", "KILL",
		s.containers(t, "{{.Names}}")[0]).CombinedOutput(); err != nil {
		needDocker(t)
		t.Fatalf("%v: %s", err, out)
	}
	s.await(t, "t-1 is restarted", func() bool {
		return slices.ContainsFunc(s.containers(t, "{{.Names}}"), func(n string) bool { return strings.HasSuffix(n, "-2") })
	})
	s.let(t)
	s.succeeds(t)
	if restarts := s.column(t, "restarts"); !slices.Equal(restarts, []string{"0", "1"}) && !slices.Equal(restarts,
		[]string{"1", "0"}) {
		t.Errorf("restarts are %v", restarts)
	}
	e, err := record.Open(filepath.Join(s.dir, "results", "contained"))
	if err != nil {
		t.Fatal(err)
	}
	decided := map[string]bool{}
	for d, err := range e.Decisions(e.Cells[0].CellRef) {
		if err != nil {
			t.Fatal(err)
		}
		if d.Job == "t-1" && (d.Decision == scheduler.Start || d.Decision == scheduler.ResizeJob) {
			decided[d.Cores.String()] = true
		}
	}
	if !decided["0-1"] || !decided["0"] {
		t.Errorf("the decisions say %v, Docker said %v", decided, seen)
	}
}

// Under round robin, a job waits in a container that Docker reports as paused.
func TestContainersArePaused(t *testing.T) {
	s := startContained(t, "order = \"round_robin\"\n quantum = \"400ms\"")
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	states := map[string]bool{}
	s.await(t, "one job is paused while the other runs", func() bool {
		states[s.inspect(t, "t-1", "{{.State.Status}}")] = true
		states[s.inspect(t, "t-2", "{{.State.Status}}")] = true
		return states["paused"] && states["running"]
	})
	s.let(t)
	s.succeeds(t)
}

// When a folder of results is used again, tfexp removes containers that a killed tfexp has left there, with a message.
func TestContainersOfAKilledTfexp(t *testing.T) {
	s := startContained(t, `order = "fcfs"`)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	s.await(t, "t-1 runs", func() bool { return s.inspect(t, "t-1", "{{.State.Status}}") == "running" })
	if err := s.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.Wait()
	if s.inspect(t, "t-1", "{{.State.Status}}") != "running" {
		t.Error("the container did not outlive tfexp, so that there is nothing to test")
	}
	doctor := tfexp(s.dir, "doctor")
	out, _ := doctor.Output() // other checks may fail on this machine
	if !strings.Contains(string(out), "of a run that was killed are left") {
		t.Errorf("doctor says\n%s", out)
	}
	s.let(t)
	again := tfexp(s.dir, "resume")
	again.succeeds(t)
	if text := again.stderr.String(); !strings.Contains(text, "(job t-1 of cell") {
		t.Errorf("the leftover is not told: %s", text)
	}
}

// The next run in a folder of results removes containers of a killed tfexp, even if the next run is of another
// experiment without containers.
func TestContainersOfAKilledNeighbour(t *testing.T) {
	s := startContained(t, `order = "fcfs"`)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	s.await(t, "t-1 runs", func() bool { return s.inspect(t, "t-1", "{{.State.Status}}") == "running" })
	neighbor := `
experiment "neighbor" { replicates = 1 }

job "t" {
  command = ["true"]
  epochs  = 1
  runtime { epoch = "1s" }
}

workload "w" {
  submit { job = job.t }
}

hardware "h" {
  engine  = "simulated"
  threads = 2
}

policy "p" { order = "fcfs" }

plot "jct" {}
`
	if err := os.WriteFile(filepath.Join(s.dir, "n.hcl"), []byte(neighbor), 0o644); err != nil {
		t.Fatal(err)
	}
	if other := tfexp(s.dir, "run", "n.hcl"); other.status(t) != 0 || strings.Contains(other.stderr.String(),
		"left behind") {
		t.Errorf("beside a tfexp that runs: %s", other.stderr.String())
	}
	if s.inspect(t, "t-1", "{{.State.Status}}") != "running" {
		t.Error("the container of a tfexp that runs was removed")
	}
	if err := s.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.Wait()
	other := tfexp(s.dir, "run", "n.hcl")
	if code := other.status(t); code != 0 || !strings.Contains(other.stderr.String(), "(job t-1 of cell") {
		t.Errorf("exit status %d: %s", code, other.stderr.String())
	}
	if left := s.containers(t, "{{.Names}}"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Predictions of jobs in containers are updated from the reports of their programs.
func TestContainersAreFollowed(t *testing.T) {
	needDocker(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	source := `
experiment "followed" { replicates = 1 }

job "t" {
  image = "tfexp/builtin:latest"
  builtin "softmax" {}
  epochs  = 40
  threads = 1
}

workload "w" {
  submit {
    job   = job.t
    count = 2
  }
}

hardware "h" {
  engine  = "docker"
  threads = 1
}

policy "p" {
  order     = "srtf"
  estimates = "online"
}

plot "jct" {}
`
	if err := os.WriteFile(filepath.Join(dir, "f.hcl"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	run := tfexp(dir, "run", "f.hcl")
	run.succeeds(t)
	e, err := record.Open(filepath.Join(dir, "results", "followed"))
	if err != nil {
		t.Fatal(err)
	}
	cell := e.Cells[0].CellRef
	predicted := 0
	for event, err := range e.Events(cell) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Event == scheduler.Predict {
			predicted++
		}
	}
	progress, err := record.Progress.ReadLive(e.Dir, record.CellsDir, cell.Cell)
	if err != nil || len(progress) != 80 || predicted == 0 {
		t.Errorf("%d reports, %d new predictions: %v", len(progress), predicted, err)
	}
	held, err := e.Occupancy(cell)
	if err != nil || !slices.ContainsFunc(e.Cells[0].Files,
		func(f record.File) bool { return f.Name == record.Containers.File }) {
		t.Errorf("%v, %v, %+v", held, err, e.Cells[0].Files)
	}
}

// tuned is an experiment of one job that is tuned while it trains: a worker joins, and the batch changes, in place.
const tuned = `
experiment "tuned" {
  seed       = 3
  replicates = 1
}

job "digits" {
  builtin "mlp" {
    hidden = [16]
    batch  = each.batch
  }
  IMAGE
  epochs = 60
  role "ps" {
    count   = 1
    threads = 0
  }
  role "worker" {
    count   = each.workers
    threads = 1
    elastic = true
    max     = 2
  }
}

hardware "here" { HARDWARE }

tune "digits" {
  job       = job.digits
  objective = "time"
  mode      = "online"
  trials    = 2
  setting "workers" { values = [1, 2] }
  setting "batch" { values = [16, 64] }
}
`

// checkTuned checks the decisions of the controller in the experiment tuned, and their effects.
func checkTuned(t *testing.T, dir string) {
	t.Helper()
	cell := filepath.Join(dir, "results", "tuned", "cells", "digits-here-fcfs-r1-online1")
	raw, err := os.ReadFile(filepath.Join(cell, "decisions.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(raw); !strings.Contains(text, ",in place,") || strings.Contains(text, ",restart,") {
		t.Errorf("nothing was changed in place:\n%s", text)
	}
	if _, err := os.Stat(filepath.Join(cell, "logs", "digits-1.worker-1.log")); err != nil {
		t.Errorf("no second worker ran: %v", err)
	}
}

// A controller changes a job in containers while it trains.
func TestContainersAreTuned(t *testing.T) {
	if testing.Short() {
		t.Skip("it trains in containers, for seconds")
	}
	needDocker(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := strings.NewReplacer("IMAGE", `image = "tfexp/builtin:latest"`, "HARDWARE", "\n  engine  = \"docker\"\n  threads = 2\n").Replace(tuned)
	if err := os.WriteFile(filepath.Join(dir, "tuned.hcl"), []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	s := tfexp(dir, "run", "tuned.hcl")
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	s.succeeds(t)
	checkTuned(t, dir)
}
