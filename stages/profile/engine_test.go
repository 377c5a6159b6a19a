//go:build unix

package profile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/process"
	"github.com/tfexp/tfexp/scheduler"
)

// granting is an engine that records the grants of its jobs.
type granting struct {
	*process.Engine
	grants *[]scheduler.Grant
}

func (g granting) Start(job int, grant scheduler.Grant) error {
	*g.grants = append(*g.grants, grant)
	return g.Engine.Start(job, grant)
}

// here makes a sample run as a process on this machine.
func here(run Run) Run {
	run.Descendants = true
	run.Open = func(_ context.Context, w watchers) (engine.Engine, error) {
		return process.New([]launch.Job{run.Job}, process.Options{Report: w.report})
	}
	return run
}

// A sample gets the GPUs that its job requests, on any engine, and its program sees them.
func TestSamplesHaveTheirGPUs(t *testing.T) {
	job := launch.Job{
		Name: "s", Argv: []string{"sh", "-c", `echo "$TFEXP_NUM_GPUS of $CUDA_VISIBLE_DEVICES"`},
		Threads: 1, GPUs: 2, LogPath: filepath.Join(t.TempDir(), "log"),
	}
	opts := process.Options{GPUs: []string{"GPU-a", "GPU-b", "GPU-c"}}
	var grants []scheduler.Grant
	run := Run{Job: job, Length: 1, GPUs: job.GPUs, Open: func(context.Context, watchers) (engine.Engine, error) {
		e, err := process.New([]launch.Job{job}, opts)
		return granting{e, &grants}, err
	}}
	if _, err := take(context.Background(), run, nil); err != nil {
		t.Fatal(err)
	}
	want := []scheduler.Grant{{Cores: scheduler.CoreSet{{Lo: 0, Hi: 1}}, GPUs: scheduler.CoreSet{{Lo: 0, Hi: 2}}}}
	if diff := cmp.Diff(want, grants); diff != "" {
		t.Error(diff)
	}
	if log, err := os.ReadFile(job.LogPath); err != nil || string(log) != "2 of GPU-a,GPU-b\n" {
		t.Errorf("the program saw %q, %v", log, err)
	}
}

// A failed job is not an error, nor is a job that cannot start. If the context ends, the job is stopped.
func TestAlone(t *testing.T) {
	job := launch.Job{Name: "a", Argv: []string{"sh", "-c", "exit 3"}, Threads: 1}
	end, usage, err := here(Run{Job: job}).alone(t.Context(), watchers{})
	if err != nil || end.State != scheduler.Failed || end.Reason != "exit status 3" || usage.ExitCode != 3 {
		t.Error(end, usage, err)
	}
	job.Argv = []string{"no-such-program"}
	if end, _, err := here(Run{Job: job}).alone(t.Context(), watchers{}); err != nil || end.State != scheduler.Failed {
		t.Error(end, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	job.Argv = []string{"sleep", "1000"}
	if end, _, err := here(Run{Job: job}).alone(ctx, watchers{}); !errors.Is(err, context.DeadlineExceeded) ||
		end.State != scheduler.Stopped {
		t.Error(end, err)
	}
}
