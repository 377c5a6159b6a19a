package pipeline

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// WriteCell writes a cell of the plan down, by its index, for another process
// that runs it with execute.RunFile into its folder of the results. The next run finds it
// there as finished earlier.
func (p *Plan) WriteCell(i int, path string) error {
	dir, err := filepath.Abs(p.Dir)
	if err != nil {
		return fmt.Errorf("write down cell %s: %w", p.Cells[i].Cell, err)
	}
	name := p.Cells[i].Cell
	task, err := p.cells[i].Task(stages.Folders{
		Dir: filepath.Join(dir, record.CellsDir, name), Scratch: filepath.Join(dir, ".scratch-"+name),
	})
	if err != nil {
		return fmt.Errorf("write down cell %s: %w", name, err)
	}
	var b bytes.Buffer
	if err := stages.WriteTask(&b, task, p.keys[i].Description()); err != nil {
		return err
	}
	return folder.Write(path, b.Bytes(), 0o644)
}

// PrepareCell empties the folder of a cell, but for the description of its key.
func PrepareCell(dir, description string) error {
	return prepare(dir, filepath.Base(dir), description)
}

// CompleteCell reports whether the folder of a cell is complete, under the key with a description.
func CompleteCell(dir, description string) bool {
	return store.Complete(dir, store.HashOf(description))
}
