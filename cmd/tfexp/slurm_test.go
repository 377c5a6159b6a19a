//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/hardware/slurmcmd"
	"github.com/tfexp/tfexp/results/record"
)

// slurmed is a folder with the program tfexp, and with commands of Slurm that record their calls.
type slurmed struct{ dir, program, calls string }

// onSlurm skips a test if no cluster with three nodes is available.
func onSlurm(t *testing.T) *slurmed {
	t.Helper()
	if testing.Short() {
		t.Skip("it runs on a cluster, for seconds")
	}
	out, err := "", slurmcmd.Missing()
	if err == nil {
		if out, err = slurmcmd.Run(t.Context(), 15*time.Second, "sinfo", "-h", "-N", "-p", "main", "-o", "%N"); err == nil &&
			len(strings.Fields(out)) < 3 {
			err = errors.New("the partition main has too few nodes")
		}
	}
	need.This(t, "slurm", err, `eval "$(hardware/slurm/cluster.sh start)"`)
	s := newSlurmed(t)
	for _, name := range slurmcmd.Commands {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		script := fmt.Sprintf("#!/bin/sh\necho %s \"$1 $2 $3\" >>%s\nexec %s \"$@\"\n", name, s.calls, path)
		if err := os.MkdirAll(filepath.Join(s.dir, "bin"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.dir, "bin", name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if out, err := slurmcmd.Run(context.Background(), 0, "squeue", "-h", "-t", "PENDING,RUNNING", "-o",
			"%A %j"); err != nil ||
			strings.Contains(out, "tfexp") {
			t.Errorf("left in the queue: %s, %v", out, err)
		}
	})
	return s
}

// newSlurmed finds the program tfexp that scripts also run.
func newSlurmed(t *testing.T) *slurmed {
	t.Helper()
	dir := t.TempDir()
	program, err := exec.LookPath("tfexp")
	if err != nil {
		t.Fatal(err)
	}
	return &slurmed{dir: dir, program: program, calls: filepath.Join(dir, "calls")}
}

// command returns tfexp with these arguments. It uses the commands that record their calls.
func (s *slurmed) command(args ...string) *exec.Cmd {
	cmd := exec.Command(s.program, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(s.dir, "bin")+":"+os.Getenv("PATH"))
	return cmd
}

// run runs tfexp and returns its output. The exit status must be want.
func (s *slurmed) run(t *testing.T, want int, args ...string) string {
	t.Helper()
	out, _ := s.exits(t, want, args...)
	return out
}

func (s *slurmed) exits(t *testing.T, want int, args ...string) (string, error) {
	t.Helper()
	cmd := s.command(args...)
	out, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Fatalf("tfexp %s: exit status %d, want %d\n%s", strings.Join(args, " "), got, want, out)
	}
	return string(out), err
}

// write writes an experiment.
func (s *slurmed) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// counted returns the calls of the controller since the last call of counted.
func (s *slurmed) counted() []string {
	raw, _ := os.ReadFile(s.calls)
	os.Remove(s.calls)
	return strings.FieldsFunc(string(raw), func(c rune) bool { return c == '\n' })
}

// sweep is an experiment of many simulated cells.
const sweep = `
experiment "sweep" {
  seed       = 3
  replicates = var.replicates
  records    = var.records
}
variable "records" {
  type    = string
  default = "all"
}
variable "replicates" {
  type    = number
  default = 2
}
variable "jobs" {
  type    = number
  default = 50
}
job "t" {
  command = ["train"]
  threads = 2
  runtime { epoch = exponential("6s") }
  epochs  = 5
}
workload "w" {
  submit {
    job          = job.t
    count        = var.jobs
    interarrival = exponential(each.gap)
  }
}
hardware "h" {
  engine  = "simulated"
  threads = 8
}
policy "fcfs" { order = "fcfs" }
policy "rr" {
  order   = "round_robin"
  quantum = "10s"
}
matrix {
  workload = [workload.w]
  hardware = [hardware.h]
  policy   = [policy.fcfs, policy.rr]
  gap      = ["8s", "9s", "10s", "12s", "15s"]
}
`

// sharded returns the cells of an experiment that are in shards, without their durations.
func sharded(t *testing.T, dir string) string {
	t.Helper()
	e, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	cells := e.Cells
	for i := range cells {
		cells[i].Seconds = 0
	}
	raw, err := json.Marshal(cells)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// same compares the results in two folders, except times and places.
func same(t *testing.T, one, other string) {
	t.Helper()
	files := func(dir string) (names []string) {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Dir(path) == filepath.Join(dir, record.CellsDir) {
				return err
			}
			name, err := filepath.Rel(dir, path)
			switch filepath.Base(name) {
			case "cell.json", "cache.db", "journal.jsonl", "run.json", "timings.csv", "lock", "SHA256SUMS", "report.html":
			default:
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	if sharded(t, one) != sharded(t, other) {
		t.Fatal("the cells differ")
	}
	all := files(one)
	if others := files(other); !slices.Equal(all, others) || len(all) < 8 {
		t.Fatalf("%d and %d files", len(all), len(others))
	}
	for _, name := range all {
		a, err1 := os.ReadFile(filepath.Join(one, name))
		b, err2 := os.ReadFile(filepath.Join(other, name))
		if err := errors.Join(err1, err2); err != nil || !bytes.Equal(a, b) {
			t.Fatalf("%s differs (%v)", name, err)
		}
	}
}

// A thousand cells of a thousand jobs run as an array with few calls to the controller. Their results equal the results
// of a local run.
func TestSlurmArray(t *testing.T) {
	s := onSlurm(t)
	s.write(t, "sweep.hcl", sweep)
	vars := []string{"-var", "replicates=100", "-var", "jobs=1000", "-var", "records=metrics"}
	s.run(t, command.ExitOK, append([]string{"run", "sweep.hcl", "--quiet", "--out", "local"}, vars...)...)
	s.run(t, command.ExitOK, append([]string{"run", "sweep.hcl", "--quiet", "--on", "slurm"}, vars...)...)
	if calls := s.counted(); len(calls) > 20 || len(calls) < 4 {
		t.Errorf("%d calls of the controller: %q", len(calls), calls)
	}
	same(t, filepath.Join(s.dir, "local", "sweep"), filepath.Join(s.dir, "results", "sweep"))
	if entries, err := os.ReadDir(filepath.Join(s.dir, "results", "sweep", record.CellsDir)); err != nil || len(entries) > 60 {
		t.Errorf("%d files for a thousand cells in 50 tasks (%v)", len(entries), err)
	}
	again := append([]string{"run", "sweep.hcl", "--on", "slurm"}, vars...)
	if out := s.run(t, command.ExitOK, again...); !strings.Contains(out, "all reused") {
		t.Error(out)
	}
	if calls := s.counted(); len(calls) > 0 {
		t.Errorf("calls for nothing: %q", calls)
	}
}

// Tasks wait in the queue, one task is canceled, and tfexp is killed while it collects results. Then resume submits the
// lost tasks, and repeats no complete cell.
func TestSlurmArrayIsBrokenOff(t *testing.T) {
	s := onSlurm(t)
	s.write(t, "sweep.hcl", sweep)
	s.run(t, command.ExitOK, "run", "sweep.hcl", "--quiet", "--out", "local")
	// Nothing starts until a task has been canceled.
	first, err := slurmcmd.Run(t.Context(), 0, "sbatch", "--parsable", "-N3", "--exclusive", "-o", "/dev/null", "--wrap",
		"sleep 600")
	if err != nil {
		t.Fatal(err)
	}
	s.run(t, command.ExitOK, "run", "sweep.hcl", "--on", "slurm", "--batch", "5", "--detach")
	dir := filepath.Join(s.dir, "results", "sweep")
	if out := s.run(t, command.ExitOK, "status"); !strings.Contains(out, "queued") {
		t.Errorf("status says %s", out)
	}
	job := s.submitted(t, dir)
	slurm := func(command string, args ...string) {
		t.Helper()
		if _, err := slurmcmd.Run(t.Context(), 0, command, args...); err != nil {
			t.Fatal(err)
		}
	}
	slurm("scancel", job+"_1")
	slurm("scancel", strings.TrimSpace(first))
	cmd := s.command("resume")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 600 { // until it has collected a task
		if raw, _ := os.ReadFile(filepath.Join(dir, "journal.jsonl")); bytes.Contains(raw, []byte(`"cell_end"`)) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	cmd.Process.Kill()
	cmd.Wait()
	s.run(t, command.ExitOK, "resume")
	same(t, filepath.Join(s.dir, "local", "sweep"), dir)
	ended := map[string]int{}
	raw, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lost := 0
	for line := range bytes.Lines(raw) {
		var e struct{ Event, Unit string }
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		switch e.Event {
		case "cell_end":
			ended[e.Unit]++
		case "task_lost":
			lost++
		}
	}
	for cell, n := range ended {
		if n != 1 {
			t.Errorf("%s was recorded %d times", cell, n)
		}
	}
	if lost != 1 {
		t.Errorf("%d tasks were lost, want 1", lost)
	}
}

// submitted returns the job number of an experiment's array.
func (s *slurmed) submitted(t *testing.T, dir string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "array", "array.json"))
	var a struct{ Tasks []struct{ Job string } }
	if err = errors.Join(err, json.Unmarshal(raw, &a)); err != nil || len(a.Tasks) == 0 {
		t.Fatal(err, a)
	}
	return a.Tasks[0].Job
}

// real is an experiment that runs jobs.
const real = `
experiment "real" { replicates = 1 }
job "t" {
  command = ["sleep", "0.7"]
  steps   = 1
  threads = 2
}
workload "w" {
  submit {
    job   = job.t
    count = 3
  }
}
hardware "h" {
  engine  = "slurm"
  threads = 2
}
policy "fcfs" { order = "fcfs" }
policy "sjf" { order = "sjf" }
matrix {
  workload = [workload.w]
  hardware = [hardware.h]
  policy   = [policy.fcfs, policy.sjf]
}
`

// If tfexp is killed while it uses an allocation, resume repeats no finished cell, and no job stays in the queue.
func TestSlurmAllocation(t *testing.T) {
	s := onSlurm(t)
	s.write(t, "real.hcl", real)
	cmd := s.command("run", "real.hcl")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(s.dir, "results", "real")
	journal := func(events ...string) (n int) {
		raw, _ := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
		for _, e := range events {
			n += bytes.Count(raw, []byte(`"`+e+`"`))
		}
		return n
	}
	running := filepath.Join(dir, "cells", "w-h-sjf-r1", ".events.jsonl.tmp")
	for range 1200 { // until the second cell runs a job
		if raw, _ := os.ReadFile(running); bytes.Contains(raw, []byte(`"start"`)) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if n := journal("cell_end"); n != 1 {
		t.Fatalf("%d cells had ended", n)
	}
	if out := s.run(t, command.ExitOK, "resume"); !strings.Contains(out, "1 reused") || journal("cell_end") != 2 {
		t.Errorf("resume says %s", out)
	}
}

// If the cluster cannot grant a request, the exit status is 6 with advice, and nothing is submitted.
func TestSlurmUnavailable(t *testing.T) {
	s := newSlurmed(t)
	t.Setenv("SLURM_JOB_ID", "")
	s.write(t, "sweep.hcl", sweep)
	s.write(t, "real.hcl", strings.Replace(real, "threads = 2\n}\npolicy", "threads = 2\n  nodes = 3\n}\npolicy", 1))
	const partitions = `echo "PartitionName=main Default=YES TotalNodes=2 MaxNodes=UNLIMITED MaxTime=UNLIMITED State=UP"`
	for _, test := range []struct {
		name           string
		fakes          map[string]string // nil: no command at all
		args           []string
		want, whatToDo string
	}{
		{"no sbatch", nil, []string{"run", "sweep.hcl", "--on", "slurm"}, "no sbatch", "login node"},
		{"no controller", map[string]string{"scontrol": `echo "slurm_load_partitions: Unable to contact slurm controller (connect failure)" >&2; exit 1`},
			[]string{"run", "sweep.hcl", "--on", "slurm"}, "Unable to contact", "scontrol ping"},
		{"unknown partition", map[string]string{"scontrol": partitions},
			[]string{"run", "sweep.hcl", "--on", "slurm", "--sbatch", "partition=gpu"},
			`"gpu"`, "sinfo"},
		{"too many nodes", map[string]string{"scontrol": partitions}, []string{"run", "real.hcl"},
			"the request is for 3 nodes", "fewer nodes"},
		{"quota", map[string]string{"scontrol": partitions, "sbatch": `echo "sbatch: error: AssocMaxSubmitJobLimit" >&2
echo "allocation failure: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)" >&2; exit 1`},
			[]string{"run", "sweep.hcl", "--on", "slurm"}, "accounting/QOS policy", "squeue --me"},
		{"unshared", map[string]string{"scontrol": partitions, "srun": "echo program"},
			[]string{"run", "sweep.hcl", "--on", "slurm"}, "not shared", "--out"},
		{"unshared allocation", map[string]string{"scontrol": strings.Replace(partitions, "TotalNodes=2", "TotalNodes=3", 1),
			"srun": "echo program"},
			[]string{"run", "real.hcl"}, "not shared", "--out"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bin := t.TempDir()
			for _, name := range slurmcmd.Commands {
				script := test.fakes[name]
				if test.fakes == nil {
					break
				}
				if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\ncase $0,$* in *salloc,*|*sbatch,*--array*) "+
					"touch "+
					s.dir+"/submitted;; esac\n"+script+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(s.program, append(test.args, "--out", t.TempDir())...)
			cmd.Dir = s.dir
			cmd.Env = append(os.Environ(), "PATH="+bin+":/bin:/usr/sbin/none")
			if test.fakes == nil {
				cmd.Env = append(cmd.Env, "PATH="+bin)
			}
			out, _ := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != command.ExitUnavailable || !strings.Contains(string(out), test.want) ||
				!strings.Contains(string(out), test.whatToDo) {
				t.Errorf("exit status %d, want %d with %q and %q:\n%s", cmd.ProcessState.ExitCode(), command.ExitUnavailable, test.want,
					test.whatToDo, out)
			}
			if _, err := os.Stat(filepath.Join(s.dir, "submitted")); err == nil {
				t.Error("something was submitted")
			}
		})
	}
}

// A controller changes a job that runs in steps of an allocation, while the job trains.
func TestSlurmStepsAreTuned(t *testing.T) {
	s := onSlurm(t)
	s.write(t, "tuned.hcl", strings.NewReplacer("IMAGE", "", "HARDWARE",
		"\n  engine = \"slurm\"\n  partition = \"main\"\n  node \"n\" {\n    count   = 1\n    threads = "+
			"2\n  }\n").Replace(tuned))
	s.run(t, command.ExitOK, "run", "tuned.hcl")
	checkTuned(t, s.dir)
}

// A network is deepened in a step under Slurm.
func TestSlurmStepsAreDeepened(t *testing.T) {
	s := onSlurm(t)
	s.write(t, "d.hcl", deepenedOn("slurm", "null"))
	s.run(t, command.ExitOK, "run", "d.hcl")
	checkDeepened(t, s.dir)
}
