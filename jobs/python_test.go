//go:build unix

// Package jobs_test runs the training programs in Python as tfexp does.
package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/hardware/process"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

func TestMain(m *testing.M) {
	if handled, code := process.Main(os.Args[1:]); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// TestLibraries runs the tests of the libraries in Python.
func TestLibraries(t *testing.T) {
	python, err := exec.LookPath("python3")
	need.This(t, "python3", err, "install Python 3.9 or newer")
	for _, library := range []string{"tfexp_job", "tfexp_policy", "tfexp_results"} {
		cmd := exec.CommandContext(t.Context(), python, "-m", "unittest", "discover", "-s", "tests")
		cmd.Dir = library // beside which are folders with names of packages
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", library, err, out)
		}
	}
}

// framework is a program with the Python that runs it.
type framework struct {
	name, python, program, module, how string
}

var frameworks = []framework{
	{"tensorflow", "../.venv/bin/python", "tensorflow/train.py", "tensorflow", "make python-jobs"},
	{"pytorch", "/usr/bin/python3", "pytorch/train.py", "torch", "apt-get install --no-install-recommends python3-torch"},
}

// needed skips the test where TFEXP_REQUIRE does not list the framework, since it trains for minutes.
func (f framework) needed(t *testing.T) {
	t.Helper()
	if !need.Required(f.name) {
		t.Skipf("trains for minutes: %s=%s runs it (%s)", need.EnvRequire, f.name, f.how)
	}
	if _, err := os.Stat(f.python); err != nil {
		need.This(t, f.name, err, f.how)
	}
	// Finding a module does not import it, which takes seconds.
	find := fmt.Sprintf("import importlib.util, sys; sys.exit(importlib.util.find_spec(%q) is None)", f.module)
	if err := exec.CommandContext(t.Context(), f.python, "-c", find).Run(); err != nil {
		need.This(t, f.name, fmt.Errorf("%s has no module %s", f.python, f.module), f.how)
	}
}

// job makes the training a job with the given epochs that keeps its files in dir.
func (f framework) job(t *testing.T, dir string, epochs int, args ...string) launch.Job {
	t.Helper()
	python, err := filepath.Abs(f.python)
	if err != nil {
		t.Fatal(err)
	}
	program, err := filepath.Abs(f.program)
	if err != nil {
		t.Fatal(err)
	}
	return launch.Job{
		Name: "train-1", Argv: append([]string{python, program, "--model", "cnn"}, args...),
		Env: []string{fmt.Sprintf("%s=%d", contract.EnvEpochs, epochs)},
		Dir: dir, LogPath: filepath.Join(dir, "log"), ControlPath: filepath.Join(dir, "control"),
		CheckpointDir: filepath.Join(dir, "ck"),
		Threads:       2, Inter: 1, Intra: 2,
	}
}

func grant(n int) scheduler.Grant {
	return scheduler.Grant{Cores: scheduler.CoreSet{{Lo: 0, Hi: int32(n)}}}
}

// open starts the job on two cores; on a machine with one both are the same.
func open(t *testing.T, job launch.Job) *process.Engine {
	t.Helper()
	cpus := hardware.AllowedCPUs()
	e, err := process.New([]launch.Job{job}, process.Options{CPUs: []int{cpus[0], cpus[len(cpus)-1]}, Grace: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := e.Start(0, grant(2)); err != nil {
		t.Fatal(err)
	}
	return e
}

// wait returns how the job ended.
func wait(t *testing.T, e *process.Engine) scheduler.Notice {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	_, ended, err := e.Next(ctx, scheduler.Never)
	if err != nil || len(ended) != 1 {
		t.Fatalf("%v, %v", ended, err)
	}
	return ended[0]
}

// reach waits until the log has an epoch.
func reach(t *testing.T, e *process.Engine, path string, epoch int) {
	t.Helper()
	for until := e.Now() + 5*time.Minute; ; {
		if r, _ := parse(t, path); r.Progress.Epoch >= epoch {
			return
		}
		if e.Now() > until {
			t.Fatalf("epoch %d was not reached", epoch)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, ended, err := e.Next(ctx, e.Now()+20*time.Millisecond)
		cancel()
		if err != nil || len(ended) > 0 {
			log, _ := os.ReadFile(path)
			t.Fatalf("before epoch %d: %v, %v\n%s", epoch, ended, err, log)
		}
	}
}

// parse reads a log: its whole report, and each progress line.
func parse(t *testing.T, path string) (contract.Report, []contract.Progress) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	read := func(text string) contract.Report {
		r, err := contract.Parse(strings.NewReader(text), contract.Last)
		if err != nil || len(r.Warnings) > 0 {
			t.Fatalf("parse: %v, warnings %q", err, r.Warnings)
		}
		return r
	}
	whole := string(text[:strings.LastIndexByte(string(text), '\n')+1]) // the last line may be half written
	var lines []contract.Progress
	for line := range strings.Lines(whole) {
		if r := read(line); r.Updates == 1 {
			lines = append(lines, r.Progress)
		}
	}
	return read(whole), lines
}

func losses(lines []contract.Progress) []float64 {
	var out []float64
	for _, l := range lines {
		out = append(out, *l.Loss)
	}
	return out
}

func forEach(t *testing.T, test func(t *testing.T, f framework)) {
	for _, f := range frameworks {
		t.Run(f.name, func(t *testing.T) {
			f.needed(t)
			test(t, f)
		})
	}
}

// TestMalleable shrinks a training while it runs: it takes on the new threads,
// reports the cost, and its loss continues from its last value.
func TestMalleable(t *testing.T) {
	forEach(t, func(t *testing.T, f framework) {
		const epochs = 14
		job := f.job(t, t.TempDir(), epochs, "--variant", "malleable")
		e := open(t, job)
		reach(t, e, job.LogPath, 2)
		if err := e.Resize(0, grant(1)); err != nil {
			t.Fatal(err)
		}
		if end := wait(t, e); end.State != scheduler.Finished {
			log, _ := os.ReadFile(job.LogPath)
			t.Fatalf("%s: %s\n%s", end.State, end.Reason, log)
		}
		report, lines := parse(t, job.LogPath)
		if len(report.Epochs) != epochs || report.Startup <= 0 || len(lines) != epochs {
			t.Fatalf("%d times, %d lines, want %d of both; start-up %v s", len(report.Epochs), len(lines), epochs,
				report.Startup)
		}
		if len(report.Resized) != 1 || report.Resized[0].Inter != 1 || report.Resized[0].Intra != 1 ||
			report.Resized[0].Seconds <= 0 {
			t.Errorf("resizes: %v, want one to 1 and 1 thread, with its cost", report.Resized)
		}
		if first, last := lines[0].Threads, lines[epochs-1].Threads; first != 2 || last != 1 {
			t.Errorf("%d threads at first, %d at last, want 2 and 1", first, last)
		}
		log, err := os.ReadFile(job.LogPath)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"intra-op threads 2", "intra-op threads 1"} {
			if strings.Count(string(log), want) != 1 {
				t.Errorf("the log does not say %q once", want)
			}
		}
		// A training that restarted would have the loss of guessing among ten classes, 2.3.
		for i, loss := range losses(lines) {
			if lines[i].Epoch != i+1 || i >= 2 && loss > 1 {
				t.Errorf("epoch %d, %d-th line: loss %.3f", lines[i].Epoch, i+1, loss)
			}
		}
		if loss := *lines[epochs-1].Loss; loss > 0.2 {
			t.Errorf("loss %.3f at the end", loss)
		}
	})
}

// TestOriginal: when the original program is resized, it gets other cores, but does not change its threads.
func TestOriginal(t *testing.T) {
	forEach(t, func(t *testing.T, f framework) {
		job := f.job(t, t.TempDir(), 6, "--variant", "original")
		e := open(t, job)
		reach(t, e, job.LogPath, 1)
		if err := e.Resize(0, grant(1)); err != nil {
			t.Fatal(err)
		}
		if end := wait(t, e); end.State != scheduler.Finished {
			t.Fatalf("%s: %s", end.State, end.Reason)
		}
		report, lines := parse(t, job.LogPath)
		if len(report.Epochs) != 6 || len(report.Resized) != 0 ||
			slices.ContainsFunc(lines, func(p contract.Progress) bool { return p.Threads != 2 }) {
			t.Errorf("%d epochs, resized %v, threads at the end %d", len(report.Epochs), report.Resized, report.Progress.Threads)
		}
	})
}

// TestStopAndGoOn: SIGTERM leaves a checkpoint; the next start resumes from it,
// to the same losses as without a stop, and reports the times of all epochs.
func TestStopAndGoOn(t *testing.T) {
	forEach(t, func(t *testing.T, f framework) {
		const epochs = 10
		whole, parts := f.job(t, t.TempDir(), epochs), f.job(t, t.TempDir(), epochs)
		e := open(t, parts)
		reach(t, e, parts.LogPath, 3)
		if err := e.Stop(0); err != nil {
			t.Fatal(err)
		}
		end := wait(t, e)
		if u, _ := e.Usage(0); u.ExitCode != contract.ExitStopped {
			t.Fatalf("stopped: %s (%s), exit status %d", end.State, end.Reason, u.ExitCode)
		}
		// One checkpoint, the file that names it, and the progress of the training.
		if left, err := os.ReadDir(parts.CheckpointDir); err != nil || len(left) != 3 ||
			!strings.HasPrefix(left[0].Name(), "checkpoint-") || left[1].Name() != "reached" || left[2].Name() != "state.json" {
			t.Fatalf("in the checkpoint folder: %v, %v", left, err)
		}
		_, before := parse(t, parts.LogPath)
		parts.LogPath += "-2"
		if end := wait(t, open(t, parts)); end.State != scheduler.Finished {
			t.Fatalf("second start: %s (%s)", end.State, end.Reason)
		}
		report, after := parse(t, parts.LogPath)
		if len(report.Epochs) != epochs || len(before)+len(after) != epochs {
			t.Errorf("%d epochs in the last line, %d and %d lines", len(report.Epochs), len(before), len(after))
		}
		if left, err := os.ReadDir(parts.CheckpointDir); err != nil || len(left) != 0 {
			t.Errorf("a finished training leaves %v, %v", left, err)
		}
		if end := wait(t, open(t, whole)); end.State != scheduler.Finished {
			t.Fatalf("without a stop: %s (%s)", end.State, end.Reason)
		}
		_, want := parse(t, whole.LogPath)
		got := losses(append(before, after...))
		for i, loss := range losses(want) {
			if i >= len(got) || math.Abs(got[i]-loss) > 0.02*loss+1e-3 {
				t.Fatalf("losses with a stop\n%v\nand without\n%v", got, losses(want))
			}
		}
	})
}

// TestNetwork runs the tests of jobs/pytorch: deepening does not change a
// network's output, and the program follows requests and budgets.
func TestNetwork(t *testing.T) {
	f := frameworks[1]
	f.needed(t)
	cmd := exec.CommandContext(t.Context(), f.python, "-m", "unittest", "discover", "-s", "pytorch")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestHardwareFlags: run.sh understands what `flags = true` appends, and leaves
// the rest to the program.
func TestHardwareFlags(t *testing.T) {
	const show = `echo "$TFEXP_INTRA_THREADS|$OMP_NUM_THREADS|$TFEXP_NUM_GPUS|$CUDA_VISIBLE_DEVICES|$*"`
	for _, test := range []struct {
		env, args []string
		want      string
	}{
		{nil, []string{"--model", "a b", "--cpu", "--numThreads", "3"}, "3|3|||--model a b"},
		{nil, []string{"--gpu", "--numGPUs", "2", "--epochs", "4"}, "||2|0,1|--epochs 4"},
		{nil, []string{"--gpu"}, "||1||"},
		// tfexp's settings come first.
		{[]string{"TFEXP_INTRA_THREADS=2", "OMP_NUM_THREADS=2"}, []string{"--cpu", "--numThreads", "3"}, "2|2|||"},
		{[]string{"TFEXP_NUM_GPUS=1", "CUDA_VISIBLE_DEVICES=5"}, []string{"--gpu", "--numGPUs", "1"}, "||1|5|"},
		{nil, []string{"--numThreads", "many"}, `run.sh: --numThreads wants a whole number, not "many"`},
		{nil, []string{"--numThreads"}, `run.sh: --numThreads wants a whole number, not ""`},
	} {
		cmd := exec.CommandContext(t.Context(), "sh",
			append([]string{"hardware_flags.sh", "sh", "-c", show, "show"}, test.args...)...)
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, test.env...)
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSuffix(string(out), "\n"); got != test.want ||
			strings.HasPrefix(test.want, "run.sh") != (err != nil) {
			t.Errorf("%q %q: %q, %v, want %q", test.env, test.args, got, err, test.want)
		}
	}
}
