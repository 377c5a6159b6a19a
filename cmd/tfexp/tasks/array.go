// This file submits the cells of a run as tasks of a batch system, and collects their results.

package tasks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/experiments/secret"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// How often the queue of the batch system is read. Most information comes from files that tasks write.
const (
	firstAsk = 5 * time.Second
	lastAsk  = 2 * time.Minute
	// lookPause is the time between two checks for files of ended tasks.
	lookPause = 300 * time.Millisecond
	// fileGrace is how long to wait for the files of a task that has left the queue: a shared file system may show them
	// late.
	fileGrace = 3 * time.Second
	// maxLost is how often a task may be lost until its cells count as failed.
	maxLost = 3
)

// perTask is the default number of simulated cells in a task. Starting a task costs as much time as a few cells, while
// separate tasks can run on separate nodes.
const perTask = 20

// array has the cells of a run that are tasks of a batch system.
type array struct {
	submission
	run   *stages.Run
	over  func(cell int, out record.Cell, took time.Duration) error
	dir   string
	cells []record.CellRef
	name  string // the experiment's name
	batch engine.Batch
	how   *Place
	// plan has the index of each cell that the tasks must run, by cell name.
	plan map[string]int
	// open are the numbers of tasks whose cells were not collected yet. gone has the time since which an open task is
	// missing from the queue, by task number.
	open []int
	gone map[int]time.Time
	// used are the arrays that were submitted or adopted.
	used []string
}

// keeper is a batch system that keeps arrays after their ends, until they are removed.
type keeper interface {
	Forget(ctx context.Context, jobs []string) error
}

// goneOn returns the batch system for the cells of a folder: the requested one, or else the one of an earlier run. It
// is nil if cells run on this machine.
func (p *Place) goneOn(dir string) (*Place, error) {
	old, ok, err := readArray(dir)
	switch {
	case err != nil:
		return nil, err
	case p.On != "":
		return p, nil
	case !ok && p.Detach:
		return nil, command.Usagef("name the batch system: --on slurm", "--detach needs --on, since no cells are tasks yet")
	case !ok:
		return nil, nil
	}
	return &Place{On: old.On, Batch: old.Batch, AtOnce: old.AtOnce, Args: old.Args, Command: p.Command, Detach: p.Detach}, nil
}

// batchOf returns the batch system of an engine, or an error if it has none.
func batchOf(name string) (engine.Batch, error) {
	k := engine.Find(name)
	if k == nil || k.Batch == nil {
		return nil, &engine.Unavailable{Engine: name, Err: errors.New("it has no batch system"),
			Hint: "run the cells here: --on here"}
	}
	return k.Batch(), nil
}

// Working implements stages.Place.
func (p *Place) Working(dir string) (bool, error) {
	_, ok, err := readArray(dir)
	return ok, err
}

// Run implements stages.Place.
func (p *Place) Run(ctx context.Context, r *stages.Run, cells []int,
	over func(cell int, out record.Cell, took time.Duration) error) (here []int, err error) {
	how, err := p.goneOn(r.Dir)
	if err != nil || how == nil {
		return cells, err
	}
	if how.On == onHere {
		return cells, drop(ctx, r.Dir)
	}
	a := &array{
		run: r, over: over, dir: r.Dir, cells: r.Plan.Cells, name: r.Plan.Experiment, how: how,
		plan: map[string]int{}, gone: map[int]time.Time{},
	}
	if a.batch, err = batchOf(how.On); err != nil {
		return nil, err
	}
	for _, i := range cells {
		if c := a.cells[i]; c.Real() && !engine.Find(c.Engine).Here {
			here = append(here, i)
		} else if c.Real() && secret.Hides(r.Description(i)) {
			return nil, &engine.Unavailable{Engine: how.On, Err: fmt.Errorf("jobs of the cell %s need the values of sensitive "+
				"variables, which tasks do not get: they would pass through files of the batch system", c.Cell),
				Hint: "run the cells here: --on here"}
		} else {
			a.plan[c.Cell] = i
		}
	}
	if len(a.plan) == 0 {
		return here, drop(ctx, r.Dir)
	}
	if err := a.adopt(ctx); err != nil {
		return nil, err
	}
	missing, err := a.write(cells, here)
	if err != nil {
		return nil, err
	}
	here = append(here, missing...)
	if err := a.submit(ctx); err != nil {
		return nil, err
	}
	if how.Detach && len(a.open) > 0 {
		return nil, &stages.Detached{Text: a.left()}
	}
	if err := a.collect(ctx); err != nil {
		if ctx.Err() != nil {
			err = errors.Join(ctx.Err(), a.cancel())
		}
		return nil, err
	}
	if k, ok := a.batch.(keeper); ok && len(a.used) > 0 {
		if err := k.Forget(ctx, a.used); err != nil {
			return nil, err
		}
	}
	return here, a.clear()
}

// left describes the cells that remain with the batch system.
func (a *array) left() string {
	cells, tasks := 0, 0
	var jobs []string
	for _, t := range a.Tasks {
		if t.Job == "" {
			continue
		}
		tasks++
		cells += len(t.Cells)
		if len(jobs) == 0 || jobs[len(jobs)-1] != t.Job {
			jobs = append(jobs, t.Job)
		}
	}
	return fmt.Sprintf("%s left to %s as %s (job %s)\n\"tfexp status %s\" shows how far they are, "+
		"\"tfexp resume %s\" collects them", schema.Plural(cells, "cell"), a.On, schema.Plural(tasks, "task"),
		strings.Join(jobs, ", "), a.dir, a.dir)
}

// drop cancels the open tasks of an earlier run and deletes their files.
func drop(ctx context.Context, dir string) error {
	old, ok, err := readArray(dir)
	if err != nil || !ok {
		return err
	}
	batch, err := batchOf(old.On)
	if err != nil {
		return err
	}
	a := &array{submission: old, dir: dir, batch: batch}
	for n, t := range old.Tasks {
		if t.Job != "" {
			a.open = append(a.open, n)
		}
	}
	if err := a.cancelled(ctx); err != nil {
		return err
	}
	return a.clear()
}

// adopt takes over the open tasks of an earlier run. If one of their cells has changed, it cancels all these tasks.
func (a *array) adopt(ctx context.Context) error {
	old, ok, err := readArray(a.dir)
	if err != nil || !ok {
		a.On, a.Batch, a.AtOnce, a.Args = a.how.On, a.how.Batch, a.how.AtOnce, a.how.Args
		return err
	}
	keys := map[string]string{}
	for _, c := range a.cells {
		keys[c.Cell] = c.Key
	}
	for _, t := range old.Tasks {
		if t.Job != "" && slices.ContainsFunc(t.Cells, func(c taskCell) bool { return keys[c.Cell] != c.Key }) {
			if err := drop(ctx, a.dir); err != nil {
				return err
			}
			return a.adopt(ctx)
		}
	}
	a.submission = old
	for n, t := range old.Tasks {
		if t.Job != "" {
			a.open, a.used = append(a.open, n), schema.AddOnce(a.used, t.Job)
		}
	}
	return nil
}

// write writes new tasks for the cells that have none. It returns the cells whose jobs have no estimate yet.
func (a *array) write(cells, here []int) (failed []int, err error) {
	has := map[string]bool{}
	for _, n := range a.open {
		for _, c := range a.Tasks[n].Cells {
			has[c.Cell] = true
		}
	}
	var simulated, real []int
	for _, i := range cells {
		switch c := a.cells[i]; {
		case has[c.Cell] || slices.Contains(here, i):
		case c.Real():
			real = append(real, i)
		default:
			simulated = append(simulated, i)
		}
	}
	if err := folder.MkdirAll(filepath.Join(a.dir, arrayDir), 0o755); err != nil {
		return nil, fmt.Errorf("make a folder for tasks: %w", err)
	}
	room := engine.MaxTasks - len(a.Tasks) - len(real)
	size := a.how.Batch
	if size <= 0 {
		size = perTask
	}
	if room < 1 {
		return nil, &engine.Unavailable{Engine: a.On, Err: fmt.Errorf("an array can have %d tasks, but %d cells need "+
			"a task each because they run on whole nodes", engine.MaxTasks, len(real)), Hint: "run a part of the matrix at a time"}
	}
	size = max(size, (len(simulated)+room-1)/room)
	for some := range slices.Chunk(simulated, size) {
		missing, err := a.writeTask(some, false)
		if err != nil {
			return nil, err
		}
		failed = append(failed, missing...)
	}
	for _, i := range real {
		missing, err := a.writeTask([]int{i}, true)
		if err != nil {
			return nil, err
		}
		failed = append(failed, missing...)
	}
	return failed, nil
}

// writeTask writes cells into the file of a new task. failed are the cells whose jobs have no estimate yet.
func (a *array) writeTask(cells []int, real bool) (failed []int, err error) {
	dir, err := filepath.Abs(a.dir)
	if err != nil {
		return nil, err
	}
	t := task{Real: real}
	path := taskFile(dir, len(a.Tasks), cellsEnding)
	err = writeCells(path, func(add func(stages.Task, string) error) error {
		for _, i := range cells {
			ref := a.cells[i]
			folders := stages.Folders{Listed: true, Scratch: filepath.Join(dir, ".scratch-"+ref.Cell)}
			if !a.run.Sharded(i) {
				folders.Dir = filepath.Join(dir, record.CellsDir, ref.Cell)
			}
			task, err := a.run.Cell(i).Task(folders)
			if errors.Is(err, stages.ErrNoEstimate) {
				failed = append(failed, i)
				continue
			}
			if err == nil {
				err = add(task, a.run.Description(i))
			}
			if err != nil {
				return err
			}
			t.Cells = append(t.Cells, taskCell{Cell: ref.Cell, Key: ref.Key})
		}
		return nil
	})
	if err != nil || len(t.Cells) == 0 {
		return failed, err
	}
	for _, ending := range []string{".json", ".jsonl", ".out"} { // delete files of an earlier task with this number
		if err := folder.Remove(taskFile(dir, len(a.Tasks), ending)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	a.open = append(a.open, len(a.Tasks))
	a.Tasks = append(a.Tasks, t)
	return failed, nil
}

// request returns the batch system's description of an array with these tasks.
func (a *array) request(numbers []int, real bool) (engine.Array, error) {
	dir, err := filepath.Abs(a.dir)
	r := engine.Array{
		Dir: filepath.Join(dir, arrayDir), Name: "tfexp-" + a.name,
		Command: append(slices.Clone(a.how.Command), dir), Tasks: numbers, AtOnce: a.AtOnce, Args: a.Args, Threads: 1,
	}
	if r.Whole = real; real {
		for _, n := range numbers {
			r.Threads = max(r.Threads, a.cells[a.plan[a.Tasks[n].Cells[0].Cell]].Cores)
		}
	}
	return r, err
}

// submit submits the tasks that are in no queue. It checks all tasks first. Simulated cells are one array, and real
// cells another.
func (a *array) submit(ctx context.Context) error {
	var requests []engine.Array
	for _, real := range []bool{false, true} {
		var tasks []int
		for _, n := range a.open {
			if a.Tasks[n].Job == "" && a.Tasks[n].Real == real {
				tasks = append(tasks, n)
			}
		}
		if len(tasks) == 0 {
			continue
		}
		r, err := a.request(tasks, real)
		if err != nil {
			return err
		}
		waits, err := a.batch.Check(ctx, r)
		if err != nil {
			return errors.Join(err, a.abandon())
		}
		if waits != "" {
			a.run.Observe(stages.Progress{Kind: stages.WarningSeen, Text: fmt.Sprintf("the tasks wait on %s, and could not be "+
				"checked before: %s", a.On, waits)})
		}
		requests = append(requests, r)
	}
	for _, r := range requests {
		if err := a.send(ctx, r); err != nil {
			return errors.Join(err, a.abandon())
		}
	}
	return nil
}

// abandon removes the files of tasks that could not be submitted.
func (a *array) abandon() error {
	for n := range a.Tasks {
		if a.Tasks[n].Job != "" {
			return writeArray(a.dir, a.submission)
		}
	}
	return a.clear()
}

// send submits an array and records its job number in array.json.
func (a *array) send(ctx context.Context, r engine.Array) error {
	job, err := a.batch.Submit(ctx, r)
	if err != nil {
		return err
	}
	for _, n := range r.Tasks {
		a.Tasks[n].Job = job
		delete(a.gone, n)
	}
	a.used = append(a.used, job)
	if err := writeArray(a.dir, a.submission); err != nil {
		return errors.Join(err, a.batch.Cancel(context.WithoutCancel(ctx), []string{job}))
	}
	return a.run.Note(stages.Note{Event: "array_submitted", Unit: job,
		Text: fmt.Sprintf("%d tasks on %s", len(r.Tasks), a.On)})
}

// collect waits for the tasks, records their cells, and submits lost tasks again.
func (a *array) collect(ctx context.Context) error {
	pause := firstAsk
	ask := time.Now().Add(pause)
	for len(a.open) > 0 {
		if err := a.exits(); err != nil {
			return err
		}
		if len(a.open) > 0 && time.Now().After(ask) {
			if alive, err := a.batch.UnfinishedTasks(ctx, a.jobs()); err == nil { // on an error, the queue is read again later
				a.miss(alive)
			}
			pause = min(pause*8/5, lastAsk)
			ask = time.Now().Add(time.Duration(float64(pause) * (0.75 + rand.Float64()/2)))
		}
		if err := a.resubmit(ctx); err != nil {
			return err
		}
		if len(a.open) == 0 {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookPause):
		}
	}
	return nil
}

// jobs returns the job numbers of the arrays with open tasks.
func (a *array) jobs() []string {
	var jobs []string
	for _, n := range a.open {
		if j := a.Tasks[n].Job; j != "" && !slices.Contains(jobs, j) {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// exits collects the tasks that have written a record of their end.
func (a *array) exits() error {
	entries, err := folder.ReadDir(filepath.Join(a.dir, arrayDir)) // listing the folder makes NFS show new files
	if err != nil {
		return fmt.Errorf("look for tasks that have ended: %w", err)
	}
	there := map[string]bool{}
	for _, e := range entries {
		there[e.Name()] = true
	}
	for _, n := range slices.Clone(a.open) {
		if !there[fmt.Sprintf("task-%d.json", n)] {
			continue
		}
		if _, ok := readTaskExit(a.dir, n); !ok {
			continue
		}
		whole, err := a.take(n)
		if err != nil {
			return err
		}
		if !whole { // the files are not visible yet, or are damaged
			if a.gone[n].IsZero() {
				a.gone[n] = time.Now()
			}
			continue
		}
		a.closeTask(n)
	}
	return nil
}

// closeTask marks a task as collected.
func (a *array) closeTask(n int) {
	a.Tasks[n].Job = ""
	a.open = slices.DeleteFunc(a.open, func(o int) bool { return o == n })
	folder.Remove(taskFile(a.dir, n, cellsEnding))
}

// take records the complete cells of a task. whole reports whether all its cells are complete.
func (a *array) take(n int) (whole bool, err error) {
	if err := a.run.RefreshShards(); err != nil {
		return false, err
	}
	whole = true
	for _, c := range a.Tasks[n].Cells {
		i, wanted := a.plan[c.Cell]
		if !wanted {
			continue
		}
		cell, ok := a.run.ShardCell(i)
		if !ok {
			whole = false
			continue
		}
		delete(a.plan, c.Cell)
		if err := a.over(i, cell, time.Duration(cell.Seconds*1e9)); err != nil {
			return false, err
		}
	}
	return whole, nil
}

// cancel cancels the open tasks of an interrupted run.
func (a *array) cancel() error {
	if err := a.cancelled(context.Background()); err != nil {
		return err
	}
	return a.clear()
}

// cancelled cancels the open tasks and waits up to ten seconds for them to end, because they write into the folder.
func (a *array) cancelled(ctx context.Context) error {
	jobs := a.jobs()
	if len(jobs) == 0 {
		return nil
	}
	if err := a.batch.Cancel(ctx, jobs); err != nil {
		return err
	}
	for range 10 {
		if alive, err := a.batch.UnfinishedTasks(ctx, jobs); err == nil && len(alive) == 0 {
			break
		}
		time.Sleep(time.Second)
	}
	return nil
}

// clear deletes the files of tasks, after their cells were recorded.
func (a *array) clear() error {
	if err := folder.RemoveAll(filepath.Join(a.dir, arrayDir)); err != nil {
		return fmt.Errorf("remove the folder of tasks: %w", err)
	}
	return nil
}
