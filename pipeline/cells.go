package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// Pending implements stages.Run.
func (r *run) Pending(ctx context.Context) ([]int, error) {
	var err error
	from := r.asked
	if from > 0 { // the cells before from have run
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
	}
	r.together(from, len(r.Cells))
	for _, i := range r.RunOrder[from:] {
		if r.Work[i].Reuse {
			r.outcome.Reused++
		} else {
			cells = append(cells, i)
		}
	}
	r.asked = len(r.Cells)
	if len(cells) == 0 && r.asked > from && from > 0 {
		return r.Pending(ctx) // the cache has all added cells: other cells may follow from their results
	}
	if from > 0 && len(cells) == 0 {
		return nil, r.settlePlan()
	}
	if from == 0 {
		r.recallRuns()
	}
	if err := r.predict(ctx, from); err != nil { // stages before this one have taken the samples
		return nil, err
	}
	return cells, r.growPlan()
}

// askMore adds to the plan the cells that follow from the results so far. It also makes the pieces of work, such as
// samples, that the new cells need.
func (r *run) askMore(ctx context.Context) error {
	if r.exhausted {
		return nil
	}
	from, to, err := r.ask()
	if err != nil {
		return err
	}
	r.behind = r.behind || to > from // also if the cache has the added cells
	r.cache.View(func(v store.View) {
		r.lookUpCells(v, from, to)
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
	r.Stale = slices.Sorted(maps.Keys(r.onDisk))
	return r.removeStale()
}

// restore makes sure that the folder of a reused cell exists, from the cache if necessary. It returns false when that
// fails: the cell must then run again.
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
	err := r.inside(ref.Cell)
	if err == nil {
		err = store.Unpack(dir, packed)
	}
	if err != nil {
		r.Warn("cache", ref.Cell, fmt.Sprintf("the cell runs again, because restoring it from the cache failed: %v", err))
		return false, nil
	}
	return true, r.journal.Add(store.JournalEntry{Event: "cell_restored", Unit: ref.Cell, Key: ref.Key})
}

// Description implements stages.Run.
func (r *run) Description(i int) string { return r.keys[i].Description() }

// Begin implements stages.Run.
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

// End implements stages.Run.
func (r *run) End(i int, cell record.Cell, took time.Duration) error {
	ref := r.Cells[i]
	if cell.State == record.CellFinished && !r.Sharded(i) {
		if err := r.keep(i, took); err != nil {
			return err
		}
		r.learn(i)
	}
	if r.Sharded(i) {
		if err := folder.RemoveAll(r.folder(ref.Cell)); err != nil { // of an earlier run with other records
			return fmt.Errorf("remove the folder of cell %s: %w", ref.Cell, err)
		}
	}
	err := r.journal.Add(store.JournalEntry{
		Event: "cell_end", Unit: ref.Cell, State: cell.State, Text: cell.Error, Seconds: took.Seconds(), Key: ref.Key,
	})
	if err != nil {
		return err
	}
	for _, w := range cell.Warnings { // the views read warnings from cell.json, the journal repeats them
		e := store.JournalEntry{Event: "warning", Unit: ref.Cell, State: w.Code, Text: w.Text}
		if err := r.journal.Add(e); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.states.Store(ref.Cell, cell.State)
	r.outcome.Ran++
	gone := slices.ContainsFunc(cell.Warnings, func(w record.Warning) bool { return w.Code == engine.Lost })
	if cell.State != record.CellFinished && (cell.Beyond == nil || gone) { // a crashed trial is a result
		r.outcome.Failed++
	}
	return nil
}

// keep puts a finished cell into the cache. A real cell is stored at once; simulated cells are stored several at a
// time.
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

// Reused implements stages.Run.
func (r *run) Reused() int { return r.outcome.Reused }

// Predicted implements stages.Run.
func (r *run) Predicted(i int) time.Duration { return r.Work[i].Predicted }

// Folder implements stages.Run.
func (r *run) Folder(cell string) string { return r.folder(cell) }

// folder returns the path of the folder of a cell, or of its twin.
func (p *Plan) folder(cell string) string {
	return filepath.Join(p.Dir, record.CellsDir, filepath.FromSlash(cell))
}

// State implements stages.Run.
func (r *run) State(cell string) (string, bool) {
	if state, ok := r.states.Load(cell); ok {
		return state.(string), true
	}
	if at, ok := r.sharded(cell); ok {
		return at.State, true
	}
	state, _, ok := store.State(r.folder(cell))
	return state, ok
}

// Complete implements stages.Run.
func (r *run) Complete(cell, description string) bool {
	return store.Complete(r.folder(cell), store.HashOf(description))
}

// Prepare implements stages.Run.
func (r *run) Prepare(cell, description string) (string, error) {
	dir := r.folder(cell)
	if err := r.inside(cell); err != nil {
		return dir, fmt.Errorf("make the folder of cell %s: %w", cell, err)
	}
	return dir, prepare(dir, cell, description)
}

// inside makes the parent folder of a cell's folder. It returns an error if a link leads out of the results: files
// outside would be replaced.
func (p *Plan) inside(cell string) error {
	_, err := folder.Make(p.Dir, record.CellsDir, filepath.Dir(filepath.FromSlash(cell)))
	return err
}

// prepare empties the folder of a cell and writes the cell's key into it.
func prepare(dir, cell, description string) error {
	if err := folder.RemoveAll(dir); err != nil {
		return fmt.Errorf("clean up the folder of cell %s: %w", cell, err)
	}
	if err := folder.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of cell %s: %w", cell, err)
	}
	if err := folder.WriteFile(filepath.Join(dir, store.KeyFile), []byte(description), 0o644); err != nil {
		return fmt.Errorf("write the key of cell %s: %w", cell, err)
	}
	return nil
}

// left sums the predicted durations of the real cells that must run. It returns 0 if one of them is unknown.
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

// Sharded implements stages.Run: a simulated cell that records only its metrics has no folder.
func (p *Plan) Sharded(i int) bool {
	return p.records == record.MetricsOnly && !p.Cells[i].Measured() && p.Cells[i].Beyond == nil
}

// sharded returns the position of a cell of the plan in the shards, and whether it is in one.
func (p *Plan) sharded(cell string) (record.ShardEntry, bool) {
	i, ok := p.numbers[cell]
	if !ok {
		return record.ShardEntry{}, false
	}
	return p.shards.Find(cell, p.Cells[i].Key)
}

// ownShards is the prefix of the names of shards that a run writes itself. Shards of tasks on a cluster have another
// prefix.
const ownShards = "run"

// AddToShard implements stages.Run.
func (r *run) AddToShard(i int, cell record.Cell) (err error) {
	r.mu.Lock()
	if r.shard == nil {
		r.shard, err = record.CreateShard(r.Dir, ownShards)
	}
	to := r.shard
	r.mu.Unlock()
	if err != nil {
		return err
	}
	at, err := to.Add(record.ShardLine{Cell: cell.Cell, DependsOn: r.keys[i].Description(), Result: cell})
	if err != nil {
		return err
	}
	r.shards.Added(at)
	return nil
}

// RefreshShards implements stages.Run.
func (r *run) RefreshShards() error { return r.shards.Update() }

// ShardCell implements stages.Run.
func (r *run) ShardCell(i int) (c record.Cell, ok bool) {
	ref := r.Cells[i]
	if _, ok := r.sharded(ref.Cell); !ok && !store.Complete(r.folder(ref.Cell), ref.Key) {
		return c, false
	}
	return r.over(ref.Cell)
}

// verify drops entries of the index of shards whose line in the shard is missing or damaged.
func (r *run) verify(cells []int) error {
	var entries []record.ShardEntry
	for _, i := range cells {
		if at, ok := r.shards.Find(r.Cells[i].Cell, r.Cells[i].Key); ok {
			entries = append(entries, at)
		}
	}
	return r.shards.Verify(entries)
}

// EmptyCellFolder empties the folder of a cell and writes the description of its key into it.
func EmptyCellFolder(dir, description string) error {
	return prepare(dir, filepath.Base(dir), description)
}

// CompleteCell reports whether the folder of a cell is complete, and was made under the key with this description.
func CompleteCell(dir, description string) bool {
	return store.Complete(dir, store.HashOf(description))
}

// recallRuns corrects the estimates by the real cells that have finished in earlier runs, in the order in which they
// ran.
func (r *run) recallRuns() {
	type ran struct {
		cell  int
		began string
	}
	var all []ran
	for i, ref := range r.Cells {
		var c record.Cell
		if r.Work[i].Reuse && ref.Real() && record.ReadCellFile(r.folder(ref.Cell), &c) == nil {
			all = append(all, ran{i, c.Began})
		}
	}
	slices.SortStableFunc(all, func(a, b ran) int { return cmp.Compare(a.began, b.began) })
	for _, c := range all {
		r.learn(c.cell)
	}
}

// learn corrects the estimates for later cells with the run times of a finished real cell. It divides each job's run
// time by its run time in a simulation with the samples' estimates.
//
// A cell is ignored if it failed, if the machine slept meanwhile, if it recorded only its metrics, or if it cannot be
// simulated. A cell during which the machine had other load counts: later cells may meet the same load.
func (r *run) learn(i int) {
	c := r.cells[i]
	executes := stages.Find(stages.Writer(stages.Cells))
	var ran record.Cell
	if executes == nil || executes.Predict == nil || !c.Corrects() ||
		record.ReadCellFile(r.folder(c.Ref.Cell), &ran) != nil ||
		ran.State != record.CellFinished || ran.Paused() {
		return
	}
	seen := stages.SeenBy(&ran)
	seen.Estimated = nil
	task, _, err := c.Twin(seen)
	if err != nil {
		return
	}
	simulated, err := executes.Predict(context.Background(), task)
	if err != nil {
		return
	}
	number := map[string]int{}
	for n := range task.Setup.Jobs {
		number[task.Setup.Jobs[n].Name] = n
	}
	longer := make([]float64, len(task.Setup.Jobs))
	columns := []string{"job", "state", "service_s", "threads_requested", "threads_mean", "resizes"}
	err = (&record.Experiment{Dir: r.Dir}).EachJob(c.Ref, columns, 1, func(row *record.JobRow) bool {
		n, ok := number[row.Job]
		if ok && n < len(simulated.Jobs) && row.Whole() && simulated.Jobs[n].Service > 0 {
			longer[n] = row.Service / simulated.Jobs[n].Service.Seconds()
		}
		return true
	})
	if err == nil {
		err = c.Learn(longer)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a cell that recorded only its metrics has no such file
		r.Warn("correct", c.Ref.Cell, "later estimates are not corrected by its run times: "+err.Error())
	}
}
