package execute

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/execute/array"
)

// RunFile runs a cell that was written down. prepare empties its folder, but for
// the description of its key. Its folder is left complete, unless
// an error is returned.
func RunFile(ctx context.Context, path string, prepare func(dir, description string) error) (record.Cell, error) {
	raw, err := folder.ReadFile(filepath.Split(path))
	if err != nil {
		return record.Cell{}, fmt.Errorf("read a cell: %w", err)
	}
	task, key, err := stages.ReadTask(bytes.NewReader(raw))
	if err != nil {
		return record.Cell{}, err
	}
	return runWritten(ctx, task, key, prepare)
}

// RunTask runs a task of an array, by its number, in the experiment's folder dir, as array.RunTask does. prepare is as
// for
// RunFile, and complete reports whether a cell's folder is complete under the key with a description.
func RunTask(ctx context.Context, dir string, number int, prepare func(dir, description string) error,
	complete func(dir, description string) bool) error {
	return array.RunTask(ctx, dir, number, complete,
		func(ctx context.Context, t stages.Task, description string) (record.Cell, error) {
			return runWritten(ctx, t, description, prepare)
		})
}

// runWritten runs a cell that was written down.
func runWritten(
	ctx context.Context, task stages.Task, key string, prepare func(dir, description string) error,
) (record.Cell, error) {
	if task.Dir != "" { // else it is one that is put into a shard
		if err := prepare(task.Dir, key); err != nil {
			return record.Cell{}, err
		}
	}
	if !task.Setup.Cell.Real() {
		return Simulate(ctx, task, nil)
	}
	return runReal(ctx, task)
}

// runReal runs a real cell on an engine that is opened for it alone: other cells
// of the same results may be running.
func runReal(ctx context.Context, task stages.Task) (cell record.Cell, err error) {
	kind := engine.Find(task.Hardware.Kind)
	if kind == nil {
		return cell, fmt.Errorf("there is no engine %q", task.Hardware.Kind)
	}
	own := task.Scratch + ".engine"
	if err := os.MkdirAll(own, 0o755); err != nil {
		return cell, fmt.Errorf("make a folder for the engine: %w", err)
	}
	site, _, err := kind.Open(engine.Run{
		Dir: own, Hardware: []*engine.Hardware{task.ForEngine()}, GPUs: hardware.GPUs,
		Lock: func(string) (func(), bool) { return nil, false },
	})
	if err != nil {
		return cell, fmt.Errorf("open the engine %s: %w", kind.Name, err)
	}
	cell, err = Real(ctx, task, Machine{Site: site}, nil)
	return cell, errors.Join(err, site.Close(), os.RemoveAll(own))
}
