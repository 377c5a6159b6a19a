package execute

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

var _ = stages.Register(&stages.Stage{
	Name:      stage,
	Reads:     []stages.Artifact{stages.Samples, stages.Estimates},
	Writes:    []stages.Artifact{stages.Cells},
	OutputKey: left,
	Predict:   Outcome,
	Run:       run,
})

const stage = "execute"

// left returns lines for the stage's key: the cells and how they ended.
func left(r *stages.Run) ([]stages.KeyLine, error) {
	lines := make([]stages.KeyLine, len(r.Plan.Cells))
	for i, c := range r.Plan.Cells {
		state, ok := r.State(c.Cell)
		if !ok {
			state = "missing"
		}
		lines[i] = stages.KeyLine{Label: "cell." + c.Cell, Value: state}
	}
	return lines, nil
}

// run runs the missing cells, then the cells that follow from their results, until none remain.
func run(ctx context.Context, r *stages.Run) error {
	e := &execution{Run: r, began: time.Now()}
	err := e.all(ctx)
	r.Observe(stages.Progress{
		Kind: stages.StageEnd, Stage: stage, Done: e.done, Total: len(r.Plan.Cells), Reused: r.Reused(),
		Elapsed: time.Since(e.began), Err: err,
	})
	return err
}

// execution is one run of the stage execute.
type execution struct {
	*stages.Run
	began   time.Time
	repeats Repeats // for disturbed cells

	mu   sync.Mutex // guards the fields below
	done int
	real []cellTime // times of the real cells
}

// cellTime is the time of a real cell, when it began if it is running, and when its progress was reported.
type cellTime struct {
	estimator.CellTime
	cell            int
	began, reported time.Time
}

func (e *execution) all(ctx context.Context) error {
	for first := true; ; first = false {
		cells, err := e.Pending(ctx)
		if err != nil || len(cells) == 0 && !first {
			return err
		}
		if err := e.batch(ctx, cells, first); err != nil {
			return err
		}
	}
}

// batch runs cells: first the cells that run elsewhere, then simulated cells in parallel, then real cells in order.
// Real cells run one at a time, unless their hardware allows compared cells to run at once.
func (e *execution) batch(ctx context.Context, cells []int, first bool) error {
	e.expect(cells, first)
	if first {
		p := stages.Progress{
			Kind: stages.StageStart, Stage: stage, Done: e.done, Total: len(e.Plan.Cells) + e.FollowingCells(),
			Reused: e.Reused(),
		}
		e.setLeft(&p, time.Now())
		e.Observe(p)
	}
	if e.Place != nil {
		here, err := e.Place.Run(ctx, e.Run, cells, e.over)
		if err != nil {
			return err
		}
		cells = here
	}
	var simulated, real []int
	for _, i := range cells {
		if e.Plan.Cells[i].Real() {
			real = append(real, i)
		} else {
			simulated = append(simulated, i)
		}
	}
	if len(simulated) > 0 {
		defer debug.SetGCPercent(debug.SetGCPercent(cellsGC))
	}
	if err := e.sideBySide(ctx, simulated); err != nil {
		return err
	}
	for len(real) > 0 {
		n, cores := e.compared(real)
		size := together(n, cores, len(hardware.AllowedCPUs()))
		e.each(real[:n], func(t *cellTime) { t.Beside = float64(size) })
		for group := range slices.Chunk(real[:n], size) {
			if err := e.realCells(ctx, group); err != nil {
				return err
			}
		}
		real = real[n:]
	}
	return nil
}

// compared returns how many of the next real cells may run at once, and the most cores that one of them needs. Such
// cells have the same replicate, workload and hardware. n is 0 if the next cell must run alone.
func (e *execution) compared(cells []int) (n, cores int) {
	first := e.Plan.Cells[cells[0]]
	for _, i := range cells {
		c, takes := e.Plan.Cells[i], e.Cell(i).Beside()
		if n > 0 && (takes == 0 || cores == 0 || c.Replicate != first.Replicate || c.Workload != first.Workload ||
			c.Hardware != first.Hardware) {
			break
		}
		n, cores = n+1, max(cores, takes)
	}
	return n, cores
}

// together returns how many of n cells run at once on this number of CPUs. Groups have equal size, so that all cells
// have the same number of neighbors.
func together(n, cores, cpus int) int {
	if cores > 0 {
		for size := min(n, cpus/cores); size > 1; size-- {
			if n%size == 0 {
				return size
			}
		}
	}
	return 1
}

// realCells runs real cells at the same time, each on its own cores.
func (e *execution) realCells(ctx context.Context, cells []int) error {
	if len(cells) == 1 {
		return e.cell(ctx, cells[0], Machine{Repeats: &e.repeats})
	}
	g, within := errgroup.WithContext(ctx)
	skip := 0
	for _, i := range cells {
		// No cell runs again alone, since the others would be missing.
		on := Machine{Skip: skip, Repeats: &Repeats{Bounded: true}}
		g.Go(func() error { return e.cell(within, i, on) })
		skip += e.Cell(i).Beside()
	}
	return g.Wait()
}

// Limits of garbage before a collection, in percent of the memory in use; see debug.SetGCPercent. Small cells use
// little memory, and each leaves a megabyte of garbage. A cell with very many jobs allocates most of its memory at its
// beginning, almost a kilobyte per job. Waiting for the same amount of garbage would double the memory, and earlier
// collections cost little. A cell with drawn jobs uses little memory and makes much garbage.
const (
	cellsGC    = 200
	hugeCell   = 200_000 // number of jobs
	hugeCellGC = 20
	drawnGC    = 40
)

// sideBySide runs simulated cells in parallel on all cores.
func (e *execution) sideBySide(ctx context.Context, cells []int) error {
	g, within := errgroup.WithContext(ctx)
	limit := e.Parallel
	if limit <= 0 {
		limit = runtime.GOMAXPROCS(0) + 1 // one of them may wait for the disk
	}
	g.SetLimit(limit)
	for _, chain := range e.chains(cells) {
		if within.Err() != nil {
			break
		}
		g.Go(func() error {
			for _, i := range chain {
				if err := e.cell(within, i, Machine{}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// chains divides cells into chains whose cells run one after the other: the replicates of a policy that learns.
func (e *execution) chains(cells []int) (chains [][]int) {
	learns, at := map[string]bool{}, map[string]int{}
	for _, c := range e.File().Cells {
		learns[c.Policy.Name] = c.Policy.Program().Learns
	}
	for _, i := range cells {
		c := e.Plan.Cells[i]
		family := c.Workload + " " + c.Hardware + " " + c.Variant()
		k, begun := at[family]
		if !begun || !learns[c.Policy] {
			k, at[family] = len(chains), len(chains)
			chains = append(chains, nil)
		}
		chains[k] = append(chains[k], i)
	}
	return chains
}

// cell runs one cell and records it. A real cell runs on the machine on.
func (e *execution) cell(ctx context.Context, i int, on Machine) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	dir, err := e.Begin(i)
	if err != nil {
		return err
	}
	began := time.Now()
	e.each([]int{i}, func(t *cellTime) { t.began = began })
	e.report(i, stages.Progress{Kind: stages.UnitStart})
	cell, err := e.carryOut(ctx, i, dir, began, on)
	if err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("cell %s: %w", e.Plan.Cells[i].Cell, err)
		}
		return err
	}
	if e.Sharded(i) {
		if err := e.AddToShard(i, cell); err != nil {
			return err
		}
	}
	return e.over(i, cell, time.Since(began))
}

// over records a cell that has ended.
func (e *execution) over(i int, cell record.Cell, took time.Duration) error {
	if err := e.End(i, cell, took); err != nil {
		return err
	}
	e.mu.Lock()
	e.done++
	e.mu.Unlock()
	e.each([]int{i}, func(t *cellTime) { t.Took, t.Earlier = took.Seconds(), false })
	end := stages.Progress{Kind: stages.UnitEnd, Elapsed: took}
	if cell.State != record.CellFinished {
		end.Err = failure(cell)
	}
	e.report(i, end)
	return nil
}

// carryOut runs a cell on its engine.
func (e *execution) carryOut(ctx context.Context, i int, dir string, began time.Time, on Machine) (record.Cell, error) {
	ref := e.Plan.Cells[i]
	task, err := e.Cell(i).Task(stages.Folders{Dir: dir, Scratch: filepath.Join(e.Dir, ".scratch-"+ref.Cell)})
	switch {
	case errors.Is(err, stages.ErrNoEstimate):
		return Fail(task, err)
	case err != nil:
		return record.Cell{}, err
	}
	watch := func(s record.CellProgress, training []stages.LatestReport) {
		if left, known := s.Left(); known {
			e.each([]int{i}, func(t *cellTime) { t.Left, t.Reports, t.reported = left.Seconds(), true, time.Now() })
		}
		if ref.Real() {
			s.At = 0
		}
		e.report(i, stages.Progress{Kind: stages.UnitUpdate, Standing: s, Training: training, Elapsed: time.Since(began)})
	}
	if !ref.Real() {
		return Simulate(ctx, task, watch)
	}
	on.Site, on.GPUs = e.Site(ref.Engine), e.GPUs
	on.Again = func(why string) {
		e.Observe(stages.Progress{Kind: stages.WarningSeen, Stage: stage, Unit: ref.Cell, Text: why + ": it runs again"})
	}
	return Real(ctx, task, on, watch)
}

// failure returns the reason why a cell failed; nil if it did not.
func failure(c record.Cell) error {
	if c.Error != "" {
		return errors.New(c.Error)
	}
	first := c.Failures[0]
	if more := measure.Failed.CountOf(&c.Metrics) - 1; more > 0 {
		return fmt.Errorf("job %s: %s (and %d more failed)", first.Job, first.Reason, more)
	}
	return fmt.Errorf("job %s: %s", first.Job, first.Reason)
}

// report reports the progress of a cell, with the stage's counts and the remaining time.
func (e *execution) report(i int, p stages.Progress) {
	e.mu.Lock()
	p.Stage, p.Unit, p.Done = stage, e.Plan.Cells[i].Cell, e.done
	p.Total, p.Reused = len(e.Plan.Cells)+e.FollowingCells(), e.Reused()
	e.setLeft(&p, time.Now())
	e.mu.Unlock()
	e.Observe(p)
}
