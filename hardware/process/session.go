//go:build unix

package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/gpu"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/scheduler"
)

// runsHere reports whether this system can run jobs as processes.
const runsHere = true

// session is the process engine in a run of tfexp.
type session struct{ run engine.Run }

// openSession kills leftover processes of a run that was killed.
func openSession(run engine.Run) (engine.Session, []string, error) {
	s := session{run}
	entries, err := folder.ReadDir(run.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	var killed []string
	for _, e := range entries {
		if match, _ := filepath.Match(registryPattern, e.Name()); !match {
			continue
		}
		ended, problem := Sweep(filepath.Join(run.Dir, e.Name()))
		killed = append(killed, ended...)
		if errors.Is(problem, ErrGarbled) {
			if run.Warn != nil {
				run.Warn(problem.Error() +
					`: jobs of a run that was killed may still be running; look for them ("ps -ef") and end them`)
			}
			problem = nil
		}
		err = errors.Join(err, problem)
	}
	if !canAdopt() && run.Warn != nil && len(run.Hardware) > 0 {
		run.Warn(mayEscape)
	}
	return s, killed, err
}

// registryPattern matches the names of registries.
const registryPattern = "processes*.json"

// registry returns the path of the registry for a cell that skips the first skip cores.
func (s session) registry(skip int) string {
	name := "processes.json"
	if skip > 0 {
		name = fmt.Sprintf("processes-%d.json", skip)
	}
	return filepath.Join(s.run.Dir, name)
}

func (s session) Engine(_ context.Context, task engine.Task) (engine.Engine, error) {
	devices, _ := s.run.GPUs() // experiments that need more GPUs were refused before
	opts := Options{
		Registry: s.registry(task.Skip), Cluster: clusterOf(task), GPUs: gpu.IDs(devices), Report: task.Report, Warn: task.Warn,
		Suspends: task.Suspends, Fleet: task.Fleet,
	}
	if task.Skip > 0 {
		opts.CPUs = hardware.AllowedCPUs()[task.Skip:]
	}
	e, err := New(task.Jobs, opts)
	if errors.Is(err, errRegistry) { // a full disk or a read-only folder, which is not a property of the machine
		return nil, err
	}
	if err != nil {
		return nil, &engine.Unavailable{Engine: kindName, Err: err}
	}
	return e, nil
}

// clusterOf returns the cluster of a task's hardware; empty if it has none.
func clusterOf(t engine.Task) scheduler.Cluster {
	if t.Hardware == nil {
		return scheduler.Cluster{}
	}
	return t.Hardware.Cluster
}

func (s session) Local(*engine.Hardware) bool { return true }
func (s session) Close() error                { return nil }
