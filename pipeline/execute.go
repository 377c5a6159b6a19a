package pipeline

import (
	"context"
	"errors"
	"fmt"
	"github.com/tfexp/tfexp/stages"
	"os"
	"path/filepath"

	"github.com/tfexp/tfexp/pipeline/realise"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/process"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/execute"
)

// Real implements stages.Pipeline.
func (e *run) Real(ctx context.Context, i int, dir string, watch func(stages.Counts)) (record.Cell, error) {
	c := e.cells[i]
	scratch, err := os.MkdirTemp(e.Dir, ".scratch-")
	if err != nil {
		return record.Cell{}, fmt.Errorf("make a folder for control files: %w", err)
	}
	defer os.RemoveAll(scratch)
	logs := filepath.Join(dir, record.LogsDir)
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return record.Cell{}, fmt.Errorf("make the log folder: %w", err)
	}
	task, launches, err := c.Real(realise.Folders{Logs: logs, Scratch: scratch})
	if err != nil {
		return record.Cell{}, err
	}
	task.Dir, task.Logs = dir, logs
	task.Watch = watch
	if c.Ref.Engine == engineDocker {
		return e.inContainers(ctx, c, task, launches)
	}
	return e.asProcesses(ctx, c, task, launches)
}

// asProcesses carries out a cell on the engine process.
func (e *run) asProcesses(ctx context.Context, c *realise.Cell, task stages.Task, jobs []launch.Job) (record.Cell, error) {
	tables, err := openLive(task, task.Setup.Jobs, false)
	if err != nil {
		return record.Cell{}, err
	}
	opts := e.engineOptions()
	opts.Report = tables.report()
	engine, err := process.New(jobs, opts)
	if err != nil {
		return record.Cell{}, errors.Join(&EngineError{Engine: c.Ref.Engine, Err: err}, tables.close(nil))
	}
	watch, err := e.watchGPUs(task, engine.Zero())
	if err != nil {
		return record.Cell{}, errors.Join(err, engine.Close(), tables.close(nil))
	}
	defer watch.abort()
	load := hardware.NewLoadSampler()
	task.Engine = engine
	var closed error
	task.Finally = func(out *record.Cell) {
		watch.finish(out)
		busy := load.Others()
		closed = errors.Join(engine.Close(), tables.close(out))
		if busy == hardware.UnknownLoad {
			return
		}
		out.Busy = busy
		if busy > hardware.BusyCores {
			out.Warnings = append(out.Warnings, record.Warning{Code: record.BusyMachine, Cell: c.Ref.Cell,
				Text: fmt.Sprintf("other processes used more than %.2g cores, on the mean, while jobs ran", hardware.BusyCores)})
		}
	}
	out, err := execute.Run(ctx, task)
	return out, errors.Join(err, closed, engine.Close(), tables.close(nil))
}
