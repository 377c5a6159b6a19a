package pipeline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// Pending implements stages.Pipeline.
func (r *run) Pending(ctx context.Context) ([]int, error) {
	var err error
	from := r.asked
	if from > 0 { // the cells before have run
		if err := r.askMore(ctx); err != nil {
			return nil, err
		}
	}
	if err := r.verify(r.RunOrder[from:]); err != nil {
		return nil, err
	}
	var cells []int
	for _, i := range r.RunOrder[from:] {
		if r.Work[i].Reuse {
			if r.Work[i].Reuse, err = r.restore(i); err != nil {
				return nil, err
			}
		}
		if r.Work[i].Reuse {
			r.outcome.Reused++
		} else {
			cells = append(cells, i)
		}
	}
	r.asked = len(r.Cells)
	if len(cells) == 0 && r.asked > from && from > 0 {
		return r.Pending(ctx) // what was added is there already: perhaps more follows
	}
	if from > 0 && len(cells) == 0 {
		return nil, nil
	}
	if from == 0 {
		r.recallRuns()
	}
	if err := r.predict(ctx, from); err != nil { // the samples are there now
		return nil, err
	}
	return cells, r.writePlan()
}

// askMore adds to the plan what follows from the results so far, and makes the
// pieces that the new cells need.
func (r *run) askMore(ctx context.Context) error {
	if r.exhausted {
		return nil
	}
	from, to, err := r.ask()
	if err != nil {
		return err
	}
	onDisk := store.CellFolders(r.Dir)
	r.cache.View(func(v store.View) {
		r.lookUpCells(v, from, to, onDisk)
		err = r.planPieces(v)
	})
	if err != nil {
		return err
	}
	if err := r.alike(r.names()); err != nil {
		return err
	}
	if err := r.makeMore(ctx); err != nil {
		return err
	}
	if !r.exhausted {
		return nil
	}
	for _, c := range r.Cells {
		delete(onDisk, c.Cell)
	}
	r.Stale = inOrder(r.Dir, onDisk)
	return r.removeStale()
}

// restore makes sure that a cell which need not run has its folder; it returns
// false for one that cannot be brought back.
func (r *run) restore(i int) (bool, error) {
	ref := r.Cells[i]
	dir := r.folder(ref.Cell)
	if at, ok := r.shards.Find(ref.Cell, ref.Key); ok && at.State == record.CellFinished {
		return true, nil
	}
	if store.Complete(dir, ref.Key) {
		return true, nil
	}
	var packed []byte
	r.cache.View(func(v store.View) { packed, _ = v.Output(ref.Key) })
	if packed == nil {
		return false, nil
	}
	if err := store.Unpack(dir, packed); err != nil {
		r.Warn("cache", ref.Cell, fmt.Sprintf("the cell could not be taken from the cache and runs again: %v", err))
		return false, nil
	}
	return true, r.journal.Add(store.JournalEntry{Event: "cell_restored", Unit: ref.Cell, Key: ref.Key})
}

// Description implements stages.Pipeline.
func (r *run) Description(i int) string { return r.keys[i].Description() }

// Begin implements stages.Pipeline.
func (r *run) Begin(i int) (dir string, err error) {
	if !r.Sharded(i) {
		if dir, err = r.Prepare(r.Cells[i].Cell, r.keys[i].Description()); err != nil {
			return "", err
		}
	}
	return dir, r.journal.Add(store.JournalEntry{
		Event: "cell_start", Unit: r.Cells[i].Cell, Text: r.Work[i].Reason, Changes: r.Work[i].Changes,
	})
}

// End implements stages.Pipeline.
func (r *run) End(i int, cell record.Cell, took time.Duration) error {
	ref := r.Cells[i]
	if cell.State == record.CellFinished && !r.Sharded(i) {
		if err := r.keep(i, took); err != nil {
			return err
		}
		r.learn(i)
	}
	if r.Sharded(i) {
		if err := os.RemoveAll(r.folder(ref.Cell)); err != nil { // of when its records were others
			return fmt.Errorf("remove the folder of cell %s: %w", ref.Cell, err)
		}
	}
	err := r.journal.Add(store.JournalEntry{
		Event: "cell_end", Unit: ref.Cell, State: cell.State, Text: cell.Error, Seconds: took.Seconds(), Key: ref.Key,
	})
	if err != nil {
		return err
	}
	for _, w := range cell.Warnings { // cell.json has them for the views
		e := store.JournalEntry{Event: "warning", Unit: ref.Cell, State: w.Code, Text: w.Text}
		if err := r.journal.Add(e); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outcome.Ran++
	if cell.State != record.CellFinished && cell.Trial == nil { // a trial that crashed is a result
		r.outcome.Failed++
	}
	return nil
}

// keep puts a finished cell into the cache: one that ran for real at once, a
// simulated one together with others.
func (r *run) keep(i int, took time.Duration) error {
	ref, key := r.Cells[i], r.keys[i]
	packed, err := store.Pack(r.folder(ref.Cell))
	if err != nil {
		return err
	}
	put := r.cache.Put
	if !ref.Real() {
		put = r.cache.Later
	}
	return put(key, store.Entry{
		Stage: stages.Writer(stages.Cells), Unit: cellUnit(ref), Description: key.Description(),
		Created: time.Now(), Seconds: took.Seconds(),
	}, packed, familyUnit(ref))
}

// Reused implements stages.Pipeline.
func (r *run) Reused() int { return r.outcome.Reused }

// Predicted implements stages.Pipeline.
func (r *run) Predicted(i int) time.Duration { return r.Work[i].Predicted }

// Folder implements stages.Pipeline.
func (r *run) Folder(cell string) string { return r.folder(cell) }

// folder is that of a cell, or of its twin.
func (p *Plan) folder(cell string) string {
	return filepath.Join(p.Dir, record.CellsDir, filepath.FromSlash(cell))
}

// State implements stages.Pipeline.
func (r *run) State(cell string) (string, bool) {
	if at, ok := r.sharded(cell); ok {
		return at.State, true
	}
	return store.State(r.folder(cell))
}

// Complete implements stages.Pipeline.
func (r *run) Complete(cell, description string) bool {
	return store.Complete(r.folder(cell), store.HashOf(description))
}

// Prepare implements stages.Pipeline.
func (r *run) Prepare(cell, description string) (string, error) {
	dir := r.folder(cell)
	return dir, prepare(dir, cell, description)
}

// prepare empties the folder of a cell, but for its key.
func prepare(dir, cell, description string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("clean up the folder of cell %s: %w", cell, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of cell %s: %w", cell, err)
	}
	if err := os.WriteFile(filepath.Join(dir, store.KeyFile), []byte(description), 0o644); err != nil {
		return fmt.Errorf("write the key of cell %s: %w", cell, err)
	}
	return nil
}

// left sums the predicted times of the real cells that run; 0 when one is
// unknown.
func (p *Plan) left() time.Duration {
	var sum time.Duration
	for i, w := range p.Work {
		switch {
		case w.Reuse || !p.Cells[i].Real():
		case w.Predicted == 0:
			return 0
		default:
			sum += w.Predicted
		}
	}
	return sum
}
