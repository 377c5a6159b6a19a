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
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
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
	return e.onEngine(ctx, c, task, launches)
}

// onEngine carries out a cell on its engine, with what is watched meanwhile.
func (e *run) onEngine(ctx context.Context, c *realise.Cell, task stages.Task, jobs []launch.Job) (record.Cell, error) {
	kind, on := c.Hardware.Kind(), c.Hardware.ForEngine()
	site := e.sites[kind]
	tables, err := openLive(task, task.Setup.Jobs, kind.Contained)
	if err != nil {
		return record.Cell{}, err
	}
	running, err := site.Engine(ctx, engine.Task{
		Hardware: on, Cell: c.Ref.Cell, Jobs: jobs, Report: tables.report(), Observe: tables.observe(),
	})
	if err != nil {
		return record.Cell{}, errors.Join(err, tables.close(nil))
	}
	watch := &gpuWatch{}
	if site.Local(on) {
		if watch, err = e.watchGPUs(task, running.Zero()); err != nil {
			return record.Cell{}, errors.Join(err, running.Close(), tables.close(nil))
		}
	}
	defer watch.abort()
	load := hardware.NewLoadSampler()
	task.Engine = running
	var closed error
	task.Finally = func(out *record.Cell) {
		watch.finish(out)
		busy := load.Others()
		closed = errors.Join(running.Close(), tables.close(out))
		if kind.Descendants {
			judgeLoad(out, c.Ref.Cell, busy)
		}
	}
	out, err := execute.Run(ctx, task)
	return out, errors.Join(err, closed, running.Close(), tables.close(nil))
}

// judgeLoad records how busy other programs kept the machine while the jobs of a cell ran, in cores.
func judgeLoad(out *record.Cell, cell string, busy float64) {
	if busy == hardware.UnknownLoad {
		return
	}
	out.Busy = busy
	if busy > hardware.BusyCores {
		out.Warnings = append(out.Warnings, record.Measured(record.BusyMachine, cell,
			"other programs used ", busy, fmt.Sprintf("%.2g", busy), " CPU cores while jobs ran"))
	}
}
