package execute

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// The stage fidelity simulates every finished real cell with the fitted estimates. The report compares both.
var _ = stages.Register(&stages.Stage{
	Name:      "fidelity",
	Reads:     []stages.Artifact{stages.Cells, stages.Estimates},
	Writes:    []stages.Artifact{stages.Twins},
	OutputKey: leftTwins,
	Always:    true,
	Run:       runTwins,
})

// runTwins simulates the finished real cells, with the same policy, arrivals and scheduler. Each simulation has a
// folder inside the cell's. A simulation is kept if the cell and its estimates are unchanged, or if the estimates are
// unknown now.
func runTwins(ctx context.Context, r *stages.Run) error {
	began := time.Now()
	var count [3]int // by twinState
	for i, c := range r.Plan.Cells {
		if !c.Measured() {
			continue
		}
		o, err := twin(ctx, r, i)
		if err != nil {
			return fmt.Errorf("simulate cell %s: %w", c.Cell, err)
		}
		count[o]++
	}
	if count[made] > 0 {
		total, reused := count[made]+count[kept], count[kept]
		r.Observe(stages.Progress{Kind: stages.StageStart, Stage: "fidelity", Total: total, Reused: reused})
		r.Observe(stages.Progress{
			Kind: stages.StageEnd, Stage: "fidelity", Done: total, Total: total, Reused: reused, Elapsed: time.Since(began),
		})
	}
	return nil
}

// twinState is the state of a real cell's simulation.
type twinState int

const (
	none twinState = iota // the cell has not finished, or has no estimate
	kept                  // it was up to date
	made
)

// twin updates the simulation of one real cell.
func twin(ctx context.Context, r *stages.Run, i int) (twinState, error) {
	c := r.Plan.Cells[i]
	name := c.Twin().Cell
	if state, ok := r.State(c.Cell); !ok || state != record.CellFinished {
		return none, folder.RemoveAll(r.Folder(name)) // a failed cell is not compared
	}
	var ran record.Cell
	if err := record.ReadCellFile(r.Folder(c.Cell), &ran); err != nil {
		return none, err
	}
	task, key, err := r.Cell(i).Twin(stages.SeenBy(&ran))
	if errors.Is(err, stages.ErrNoEstimate) {
		return none, nil
	}
	if err != nil {
		return none, err
	}
	if r.Complete(name, key) {
		return kept, nil
	}
	if task.Dir, err = r.Prepare(name, key); err != nil {
		return none, err
	}
	out, err := Simulate(ctx, task, nil)
	if err != nil {
		return none, err
	}
	if out.Error != "" {
		r.Warn("fidelity", c.Cell, "it could not be simulated: "+out.Error)
	}
	return made, r.Note(stages.Note{
		Event: "cell_simulated", Unit: c.Cell, State: out.State, Seconds: out.Seconds, Key: task.Setup.Cell.Key,
	})
}

// leftTwins returns lines for the stage's key, from the key files of the simulations.
func leftTwins(r *stages.Run) ([]stages.KeyLine, error) {
	var lines []stages.KeyLine
	for _, c := range r.Plan.Cells {
		if c.Measured() {
			key, _ := folder.ReadFile(r.Folder(c.Twin().Cell), "key.txt")
			lines = append(lines, stages.KeyLine{Label: "twin." + c.Cell, Value: string(key)})
		}
	}
	return lines, nil
}
