package tasks

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/process"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/execute"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

func TestMain(m *testing.M) {
	if handled, code := process.Main(os.Args[1:]); handled {
		os.Exit(code)
	}
	if len(os.Args) == 5 && os.Args[1] == "task" { // the arguments are: tfexp task DIR NUMBER INDEX
		a := command.New(os.Stdout, os.Stderr)
		os.Exit(a.Exit(runIndexed(a, os.Args[2], os.Args[3], os.Args[4:])))
	}
	os.Setenv(execute.KeepDisturbed, "1")    // tests run in parallel and disturb each other
	os.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise a program with the race detector sleeps for a second at its end
	plot.Usual = []string{canvas.SVG}
	os.Exit(m.Run())
}

// queued is the name of an engine whose batch system runs each task as a process of this machine.
const queued = "queued"

// processes is the batch system of the engine queued.
type processes struct {
	mu    sync.Mutex // guards alive
	alive []int
}

func init() {
	engine.Register(&engine.Kind{
		Name: queued, Doc: "Test.", Traits: engine.Traits{Real: true},
		Capabilities: func(*engine.Hardware) scheduler.Capabilities { return scheduler.Capabilities{} },
		Open:         func(engine.Run) (engine.Session, []string, error) { return nil, nil, nil },
		Batch:        func() engine.Batch { return &processes{} },
	})
}

// Check runs a process that checks the array, as a node does.
func (*processes) Check(_ context.Context, a engine.Array) (string, error) {
	return "", exec.Command(a.Command[0], append(slices.Clone(a.Command[1:]), fmt.Sprint(a.Tasks[0]), lookOnly)...).Run()
}

func (p *processes) Submit(_ context.Context, a engine.Array) (string, error) {
	p.alive = slices.Clone(a.Tasks)
	list := strings.Join(schema.Each(a.Tasks, strconv.Itoa), ",")
	for i, n := range a.Tasks {
		cmd := exec.Command(a.Command[0], append(slices.Clone(a.Command[1:]), list, fmt.Sprint(i))...)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			return "", err
		}
		go func() {
			_ = cmd.Wait()
			p.mu.Lock()
			defer p.mu.Unlock()
			p.alive = slices.DeleteFunc(p.alive, func(t int) bool { return t == n })
		}()
	}
	return "1", nil
}

func (p *processes) UnfinishedTasks(context.Context, []string) (map[string][]int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return map[string][]int{"1": slices.Clone(p.alive)}, nil
}

func (*processes) Cancel(context.Context, []string) error { return nil }

// carriedOut runs an experiment at a place (nil: here), and returns the content of its cells' files by path.
func carriedOut(t *testing.T, source string, at *Place) map[string]string {
	t.Helper()
	spec, diags := decode.Source("x.hcl", []byte(source), decode.Options{})
	if diags.HasErrors() {
		var b bytes.Buffer
		diags.Render(&b, false)
		t.Fatal(b.String())
	}
	opts := pipeline.Options{Out: t.TempDir()}
	if at != nil {
		opts.Place = at
	}
	p, err := pipeline.New(spec, opts)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := p.Run(t.Context()); err != nil || out.Failed > 0 {
		t.Fatal(out, err)
	}
	files, cells := map[string]string{}, filepath.Join(p.Dir, record.CellsDir)
	found, err := filepath.Glob(filepath.Join(cells, "*", "*"))
	if err != nil || len(found) == 0 {
		t.Fatal("no files of cells", err)
	}
	for _, path := range found {
		if info, err := os.Stat(path); err != nil || info.IsDir() || filepath.Base(path) == record.CellFile {
			continue // the file has machine times
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel(cells, path)
		files[name] = string(raw)
	}
	return files
}

// TestCellsOfAnotherProcess: a cell that runs as a task writes the same files as a local cell. The cells have
// speed-ups, alternatives, contention, predictions from reports, and checkpoints by a rule.
func TestCellsOfAnotherProcess(t *testing.T) {
	const head = "experiment \"x\" { replicates = 2 }\n"
	for name, source := range map[string]string{
		"checkpoints": `
job "young" {
  command = ["train"]
  epochs  = 100
  retries = 100
  runtime { epoch = "6m" }
  checkpoint {
    every   = "young"
    cost    = "10s"
    restore = "1m"
  }
}
job "none" {
  command = ["train"]
  epochs  = 4
  retries = 100
  runtime { epoch = "3m" }
}
workload "w" {
  submit { job = job.young }
  submit { job = job.none }
}
hardware "spot" {
  engine = "simulated"
  node "vm" {
    threads  = 1
    price    = 0.26
    lifetime = exponential("1h")
  }
}
policy "fcfs" { order = "fcfs" }
`,
		"alternatives": `
job "either" {
  command = ["train"]
  epochs  = 10
  threads = 4
  runtime { epoch = exponential("8s") }
  alternative "gpu" {
    gpus = 1
    runtime {
      epoch    = exponential("1s")
      gpu_rate = { K80 = 1, V100 = 4 }
    }
  }
}
workload "w" {
  submit {
    job          = job.either
    count        = 20
    interarrival = exponential("1s")
  }
}
hardware "unlike" {
  engine = "simulated"
  node "old" {
    threads = 8
    gpus    = 2
    gpu     = "K80"
  }
  node "new" {
    threads = 8
    gpus    = 1
    gpu     = "V100"
  }
}
policy "sjf" {
  order     = "sjf"
  placement = "earliest_finish"
  estimates = each.estimates
}
matrix { estimates = ["oracle", noisy(1)] }
`,
		"online": `
job "train" {
  command   = ["train"]
  epochs    = 50
  threads   = 2
  malleable = true
  runtime {
    startup = "1s"
    epoch   = exponential("2s")
    speedup = usl(0.08, 0.004)
  }
}
workload "w" {
  submit {
    job          = job.train
    count        = 20
    interarrival = exponential("17s")
  }
}
hardware "machine" {
  engine  = "simulated"
  threads = 8
  contention { capacity = 0.7 }
}
policy "srtf" {
  order      = "srtf"
  allocation = "max_prop"
  estimates  = each.estimates
}
matrix { estimates = ["fitted", "online"] }
`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := &Place{On: queued, Command: []string{os.Args[0], "task"}, Batch: 3}
			want, got := carriedOut(t, head+source, nil), carriedOut(t, head+source, at)
			if len(want) != len(got) {
				t.Errorf("%d files, want %d", len(got), len(want))
			}
			for path, content := range want {
				if got[path] != content {
					t.Errorf("%s differs", path)
				}
			}
		})
	}
}

// TestRealCellOfAnotherProcess: each real cell is one task.
func TestRealCellOfAnotherProcess(t *testing.T) {
	files := carriedOut(t, `
experiment "x" { replicates = 1 }
job "a" {
  command = ["true"]
  epochs  = 1
}
workload "w" {
  submit { job = job.a }
}
hardware "h" {
  engine  = "process"
  threads = 1
}
policy "fcfs" { order = "fcfs" }
`, &Place{On: queued, Command: []string{os.Args[0], "task"}})
	if jobs := files["w-h-fcfs-r1/jobs.csv"]; !strings.Contains(jobs, "finished") {
		t.Errorf("its jobs: %q", jobs)
	}
}

// TestOutputOfTask: a task of a list appends its output to its own file, and prints it.
func TestOutputOfTask(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, arrayDir), 0o755); err != nil {
		t.Fatal(err)
	}
	none := func(func(stages.Task, string) error) error { return nil }
	if err := writeCells(taskFile(dir, 2, cellsEnding), none); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(taskFile(dir, 7, ".out"), []byte("first try\n"), 0o644)
	for task, want := range map[string]string{"0": "", "1": "Error: read the cells of a task"} {
		printed, err := exec.Command(os.Args[0], "task", dir, "2,7", task).CombinedOutput()
		if (err != nil) != (want != "") || !strings.HasPrefix(string(printed), want) {
			t.Errorf("task %s: %q, %v", task, printed, err)
		}
		kept, err := os.ReadFile(taskFile(dir, map[string]int{"0": 2, "1": 7}[task], ".out"))
		if got := strings.TrimPrefix(string(kept), "first try\n"); err != nil || got != string(printed) {
			t.Errorf("task %s printed %q; its file has %q, %v", task, printed, kept, err)
		}
	}
}
