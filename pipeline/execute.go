package pipeline

import (
	"context"
	"errors"
	"fmt"
	"github.com/tfexp/tfexp/results/measure"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/tfexp/tfexp/pipeline/realise"

	"golang.org/x/sync/errgroup"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/process"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/execute"
)

// execute runs the cells that are not there yet: the simulated ones side by
// side, then the real ones one at a time, in the recorded order.
func (r *run) execute(ctx context.Context) error {
	start := time.Now()
	var simulated, real []int
	for _, i := range r.RunOrder {
		if r.Work[i].Reuse {
			if err := r.reuse(i); err != nil {
				return err
			}
			if r.Work[i].Reuse {
				r.outcome.Reused++
				continue
			}
		}
		if !r.Cells[i].Real() {
			simulated = append(simulated, i)
		} else {
			real = append(real, i)
		}
	}
	if err := r.predict(ctx); err != nil { // the samples are there now
		return err
	}
	if err := r.writePlan(); err != nil {
		return err
	}
	if len(simulated) > 0 {
		defer debug.SetGCPercent(debug.SetGCPercent(cellsGC))
	}
	e := &execution{run: r, done: r.outcome.Reused, open: map[int]time.Duration{}}
	for _, i := range real {
		e.open[i] = r.Work[i].Predicted
	}
	r.observe(Progress{Kind: StageStart, Stage: "execute", Done: e.done, Total: len(r.Cells), Reused: r.outcome.Reused, Left: e.left()})
	err := e.sideBySide(ctx, simulated)
	for _, i := range real {
		if err != nil {
			break
		}
		err = e.cell(ctx, i)
	}
	err = errors.Join(err, r.cache.Flush())
	r.observe(Progress{Kind: StageEnd, Stage: "execute", Done: e.done, Total: len(r.Cells), Reused: r.outcome.Reused, Elapsed: time.Since(start), Err: err})
	return err
}

// How much garbage there may be before it is collected, in percent of what is
// in use; see debug.SetGCPercent. Of small cells little is in use, and each
// leaves a megabyte behind. A cell of very many jobs has all that it keeps, most
// of a kilobyte a job, when it begins: waiting from then on for as much garbage
// would double the memory, and collecting it earlier costs next to nothing.
const (
	cellsGC    = 200
	hugeCell   = 200_000 // jobs
	hugeCellGC = 20
)

// reuse makes sure that a cell which need not run has its folder. What cannot
// be brought back is run.
func (r *run) reuse(i int) error {
	ref := r.Cells[i]
	dir := filepath.Join(r.Dir, record.CellsDir, ref.Cell)
	if store.Complete(dir, ref.Key) {
		return nil
	}
	var packed []byte
	r.cache.View(func(v store.View) { packed, _ = v.Output(ref.Key) })
	if packed != nil {
		err := store.Unpack(dir, packed)
		if err == nil {
			return r.journal.Add(store.JournalEntry{Event: "cell_restored", Unit: ref.Cell, Key: ref.Key})
		}
		r.warn("cache", ref.Cell, fmt.Sprintf("%s could not be taken from the cache and runs again: %v", ref.Cell, err))
	}
	r.Work[i].Reuse = false
	return nil
}

// execution is the execute stage under way.
type execution struct {
	*run
	mu   sync.Mutex // guards what follows
	done int
	open map[int]time.Duration // predicted time of the real cells that are not done
}

// left is the time left by the estimates; 0 when a cell has none.
func (e *execution) left() time.Duration { return e.run.left(e.open) }

// left sums the predicted times of the cells that run, or of those given; 0
// when one is unknown.
func (r *run) left(open map[int]time.Duration) time.Duration {
	var sum time.Duration
	for i, w := range r.Work {
		predicted, runs := w.Predicted, !w.Reuse && r.Cells[i].Real()
		if open != nil {
			predicted, runs = open[i], runs && hasKey(open, i)
		}
		if runs && predicted == 0 {
			return 0
		}
		if runs {
			sum += predicted
		}
	}
	return sum
}

func hasKey(m map[int]time.Duration, k int) bool { _, ok := m[k]; return ok }

// sideBySide runs simulated cells on all cores.
func (e *execution) sideBySide(ctx context.Context, cells []int) error {
	g, within := errgroup.WithContext(ctx)
	limit := e.options.Parallel
	if limit <= 0 {
		limit = runtime.GOMAXPROCS(0) + 1 // one of them may wait for the disk
	}
	g.SetLimit(limit)
	for _, i := range cells {
		if within.Err() != nil {
			break
		}
		g.Go(func() error { return e.cell(within, i) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// cell runs one cell, records it, and keeps it in the cache if it finished.
func (e *execution) cell(ctx context.Context, i int) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	ref, key := e.Cells[i], e.state.keys[i]
	dir := filepath.Join(e.Dir, record.CellsDir, ref.Cell)
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("clean up the folder of cell %s: %w", ref.Cell, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of cell %s: %w", ref.Cell, err)
	}
	if err := os.WriteFile(filepath.Join(dir, store.KeyFile), []byte(key.Description()), 0o644); err != nil {
		return fmt.Errorf("write the key of cell %s: %w", ref.Cell, err)
	}
	began := time.Now()
	if err := e.journal.Add(store.JournalEntry{Event: "cell_start", Unit: ref.Cell, Text: e.Work[i].Reason, Changes: e.Work[i].Changes}); err != nil {
		return err
	}
	e.tell(i, Progress{Kind: UnitStart}, 0)
	cell, err := e.carryOut(ctx, i, dir, began)
	if err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("cell %s: %w", ref.Cell, err)
		}
		return err
	}
	if cell.State == record.CellFinished {
		if err := e.keep(i, dir, time.Since(began)); err != nil {
			return err
		}
	}
	err = e.journal.Add(store.JournalEntry{Event: "cell_end", Unit: ref.Cell, State: cell.State, Text: cell.Error, Seconds: time.Since(began).Seconds(), Key: ref.Key})
	if err != nil {
		return err
	}
	for _, w := range cell.Warnings { // cell.json has them for the views
		if err := e.journal.Add(store.JournalEntry{Event: "warning", Unit: ref.Cell, State: w.Code, Text: w.Text}); err != nil {
			return err
		}
	}
	e.mu.Lock()
	e.done++
	delete(e.open, i)
	e.mu.Unlock()
	e.run.mu.Lock()
	e.outcome.Ran++
	if cell.State != record.CellFinished {
		e.outcome.Failed++
	}
	e.run.mu.Unlock()
	end := Progress{Kind: UnitEnd, Elapsed: time.Since(began)}
	if cell.State != record.CellFinished {
		end.Err = cellError(cell)
	}
	e.tell(i, end, 0)
	return nil
}

// cellError says why a cell failed.
func cellError(c record.Cell) error {
	if c.Error != "" {
		return errors.New(c.Error)
	}
	first := c.Failures[0]
	if more := measure.Failed.CountOf(&c.Metrics) - 1; more > 0 {
		return fmt.Errorf("job %s: %s (and %d more failed)", first.Job, first.Reason, more)
	}
	return fmt.Errorf("job %s: %s", first.Job, first.Reason)
}

// tell reports a cell's progress, with the stage's counts and the time left.
func (e *execution) tell(i int, p Progress, elapsed time.Duration) {
	e.mu.Lock()
	p.Stage, p.Unit, p.Done, p.Total, p.Reused = "execute", e.Cells[i].Cell, e.done, len(e.Cells), e.outcome.Reused
	if left := e.left(); left > 0 {
		p.Left = max(left-elapsed, time.Second)
	}
	e.mu.Unlock()
	e.observe(p)
}

// carryOut runs the cell on its engine.
func (e *execution) carryOut(ctx context.Context, i int, dir string, began time.Time) (record.Cell, error) {
	c := e.state.cells[i]
	if !c.Ref.Real() {
		task, err := c.Simulated()
		task.Dir = dir
		if len(task.Setup.Jobs) >= hugeCell {
			task.Begun = func() { debug.SetGCPercent(hugeCellGC) }
		}
		switch {
		case task.Records == "":
			return record.Cell{}, err
		case err != nil:
			return execute.Fail(task, err)
		}
		return execute.Run(ctx, task)
	}
	return e.forReal(ctx, i, dir, began)
}

// forReal runs a cell whose jobs run for real.
func (e *execution) forReal(ctx context.Context, i int, dir string, began time.Time) (record.Cell, error) {
	c := e.state.cells[i]
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
	task.Watch = func(n execute.Counts) {
		e.tell(i, Progress{
			Kind: UnitUpdate, JobsDone: n.Done, JobsRunning: n.Running, JobsWaiting: n.Waiting,
			JobsFailed: n.Failed, Jobs: n.Total, Elapsed: time.Since(began),
		}, time.Since(began))
	}
	if c.Ref.Engine == engineDocker {
		return e.inContainers(ctx, c, task, launches)
	}
	return e.asProcesses(ctx, c, task, launches)
}

// asProcesses carries out a cell on the engine process.
func (e *execution) asProcesses(ctx context.Context, c *realise.Cell, task execute.Cell, jobs []launch.Job) (record.Cell, error) {
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

// keep puts a finished cell into the cache: one that ran for real at once, a
// simulated one together with others.
func (e *execution) keep(i int, dir string, took time.Duration) error {
	packed, err := store.Pack(dir)
	if err != nil {
		return err
	}
	ref, key := e.Cells[i], e.state.keys[i]
	record := e.cache.Put
	if !ref.Real() {
		record = e.cache.Later
	}
	return record(key, store.Entry{
		Stage: "execute", Unit: cellUnit(ref), Description: key.Description(),
		Created: time.Now(), Seconds: took.Seconds(),
	}, packed, familyUnit(ref))
}
