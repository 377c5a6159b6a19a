package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tfexp/tfexp/pipeline/realise"

	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/execute"
)

// fidelity simulates every finished real cell from the fitted estimates, with
// the same policy, arrivals and scheduler code, into a folder within the
// cell's own. A twin that was made from the same cell and the same estimates
// stays; so does one of a cell whose estimates are not known now.
func (r *run) fidelity(ctx context.Context) error {
	began := time.Now()
	var count [3]int // by outcome
	for i := range r.Cells {
		if !r.Cells[i].Real() {
			continue
		}
		o, err := r.simulateTwin(ctx, i)
		if err != nil {
			return fmt.Errorf("simulate cell %s: %w", r.Cells[i].Cell, err)
		}
		count[o]++
	}
	if count[twinMade] > 0 {
		total := count[twinMade] + count[twinKept]
		r.observe(Progress{Kind: StageStart, Stage: "fidelity", Total: total, Reused: count[twinKept]})
		r.observe(Progress{Kind: StageEnd, Stage: "fidelity", Done: total, Total: total, Reused: count[twinKept], Elapsed: time.Since(began)})
	}
	return nil
}

// twinOutcome is what became of the simulation of a real cell.
type twinOutcome int

const (
	noTwin   twinOutcome = iota // the cell has not finished, or has no estimate
	twinKept                    // it was up to date
	twinMade
)

// simulateTwin brings the simulation of one real cell up to date.
func (r *run) simulateTwin(ctx context.Context, i int) (twinOutcome, error) {
	ref := r.Cells[i].Twin()
	dir := filepath.Join(r.Dir, record.CellsDir, filepath.FromSlash(ref.Cell))
	if state, ok := store.State(filepath.Dir(dir)); !ok || state != record.CellFinished {
		return noTwin, os.RemoveAll(dir) // nothing to be faithful to
	}
	task, key, err := r.state.cells[i].Twin()
	if errors.Is(err, realise.ErrNoEstimate) {
		return noTwin, nil
	}
	if err != nil {
		return noTwin, err
	}
	if store.Complete(dir, key.Hash()) {
		return twinKept, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return noTwin, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return noTwin, err
	}
	if err := os.WriteFile(filepath.Join(dir, store.KeyFile), []byte(key.Description()), 0o644); err != nil {
		return noTwin, err
	}
	task.Dir = dir
	out, err := execute.Run(ctx, task)
	if err != nil {
		return noTwin, err
	}
	if out.Error != "" {
		r.warn("fidelity", r.Cells[i].Cell, "it could not be simulated: "+out.Error)
	}
	return twinMade, r.journal.Add(store.JournalEntry{Event: "cell_simulated", Unit: r.Cells[i].Cell, State: out.State, Seconds: out.Seconds, Key: key.Hash()})
}
