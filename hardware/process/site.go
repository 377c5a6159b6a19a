//go:build unix

package process

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/gpu"
	"github.com/tfexp/tfexp/scheduler"
)

// runsHere reports whether this system can run jobs as processes.
const runsHere = true

// site is the engine in a run.
type site struct{ run engine.Run }

// openSite ends leftover processes of a run that was killed.
func openSite(run engine.Run) (engine.Site, []string, error) {
	s := site{run}
	killed, err := Sweep(s.registry())
	if errors.Is(err, ErrGarbled) {
		if run.Warn != nil {
			run.Warn(err.Error() + `: jobs of a run that was killed may still be running; look for them ("ps -ef") and end them`)
		}
		err = nil
	}
	if !adopts() && run.Warn != nil && len(run.Hardware) > 0 {
		run.Warn(mayEscape)
	}
	return s, killed, err
}

// registry is the file in which the live jobs are recorded.
func (s site) registry() string { return filepath.Join(s.run.Dir, "processes.json") }

func (s site) Engine(_ context.Context, task engine.Task) (engine.Engine, error) {
	devices, _ := s.run.GPUs() // an experiment that needs more than there are is refused when it is read
	opts := Options{
		Registry: s.registry(), Cluster: clusterOf(task), GPUs: gpu.IDs(devices), Report: task.Report, Warn: task.Warn,
		Suspends: task.Suspends,
	}
	if task.Fleet != nil {
		opts.Fleet = task.Fleet
	}
	e, err := New(task.Jobs, opts)
	if errors.Is(err, errRegistry) { // the disk is full, or the folder read-only: another machine would not help
		return nil, err
	}
	if err != nil {
		return nil, &engine.Unavailable{Engine: kindName, Err: err}
	}
	return e, nil
}

// clusterOf returns the nodes of a task's hardware, if the task has one.
func clusterOf(t engine.Task) scheduler.Cluster {
	if t.Hardware == nil {
		return scheduler.Cluster{}
	}
	return t.Hardware.Cluster
}

func (s site) Local(*engine.Hardware) bool { return true }
func (s site) Close() error                { return nil }
