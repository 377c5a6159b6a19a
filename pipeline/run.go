package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline/instantiate"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// run is the execution of a plan. It holds the open cache, the journal and the lock of the folder.
type run struct {
	*Plan
	place   os.FileInfo // the locked folder, to notice that it was moved
	cache   *store.Cache
	journal *store.Journal
	record  record.Run
	started time.Time
	outcome Outcome
	mu      sync.Mutex // guards record, outcome and the calls of Observe
	states  sync.Map   // name of a cell → how it ended in this run
	// shard is the file to which this run adds cells without a folder; nil before the first such cell.
	shard *record.ShardWriter
	// asked is the number of cells of the plan that Pending has handled.
	asked int
	// planned is when plan.json was last written, and writing how long that took. behind is set while plan.json lacks
	// cells.
	planned time.Time
	writing time.Duration
	behind  bool
	chain   *chain
	// sites are the sessions of the real engines, opened for this run.
	sites map[*engine.Kind]engine.Session
}

// makeFolder makes the folder of the experiment if it is missing.
func (p *Plan) makeFolder() error {
	return errors.Join(folder.MkdirAll(filepath.Dir(p.Dir), 0o755), folder.MkdirAll(p.Dir, 0o700))
}

// permit lets only this user read the folder of the experiment, or all users with --share. It returns a warning if
// other users could read the folder before, or still can.
func (p *Plan) permit() (warning string, err error) {
	f, err := folder.OpenFile(p.Dir, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	switch mode := info.Mode(); {
	case p.options.Share && mode&0o055 != 0o055:
		return "", f.Chmod(mode | 0o055)
	case !p.options.Share && mode&0o077 != 0 && runtime.GOOS != "windows":
		if err := f.Chmod(mode &^ 0o077); err != nil {
			return fmt.Sprintf("other users can read the results, and the permissions cannot be changed: %v", err), nil
		}
		return "other users could read the results; from now on only you can (--share lets others read them)", nil
	}
	return "", nil
}

// Run executes the plan. It returns *store.InUseError when another process works in
// the folder, *engine.Unavailable when an engine is not available, and ErrInterrupted
// when ctx was canceled; the outcome then holds the finished work.
func (p *Plan) Run(ctx context.Context) (outcome *Outcome, err error) {
	if err := p.Ready(); err != nil {
		return nil, err
	}
	folder.Enclose(p.Dir)
	if err := p.makeFolder(); err != nil {
		return nil, fmt.Errorf("make results folder: %w", err)
	}
	if err := p.checkFolder(); err != nil {
		return nil, err
	}
	lock, err := store.LockFolder(p.Dir, p.options.Command)
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	readable, err := p.permit()
	if err != nil {
		return nil, fmt.Errorf("set the permissions of the results folder: %w", err)
	}
	r := &run{Plan: p, started: time.Now()}
	if r.place, err = os.Stat(p.Dir); err != nil {
		return nil, fmt.Errorf("open results folder: %w", err)
	}
	if err := p.alike(p.names()); err != nil {
		return nil, err
	}
	sums, err := record.BeginSums(p.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { // after all files are written
		if errors.Is(err, ErrGone) {
			return
		}
		if failed := sums.Close(); failed != nil {
			err = errors.Join(err, failed)
		}
	}()
	if err := r.open(ctx); err != nil {
		return nil, errors.Join(err, r.closeSites())
	}
	defer r.close()
	if readable != "" {
		r.Warn("readable", "", readable)
	}

	r.chain = &chain{
		run: r, seen: r.seen(), digests: map[stages.Artifact]map[string]string{}, broken: map[stages.Artifact]bool{},
	}
	state, err := r.chain.all(ctx)
	r.record.Reported = !r.chain.anyBroken()
	if gone := r.gone(); gone != nil {
		err = gone
	} else {
		err = errors.Join(err, r.finish(state))
	}
	if report := filepath.Join(r.Dir, record.ReportFile); r.record.Reported {
		r.outcome.Report = report
	}
	r.outcome.Elapsed = time.Since(r.started)
	end := store.JournalEntry{Event: "run_end", State: state, Seconds: r.outcome.Elapsed.Seconds()}
	return &r.outcome, errors.Join(err, r.journal.Add(end))
}

// open prepares the folder before anything runs: it removes leftovers of a killed run, opens the cache and the
// journal, and writes the plan.
func (r *run) open(ctx context.Context) error {
	killed, doubts, err := r.openSites()
	if err != nil {
		return err
	}
	var folders []string
	for _, s := range r.stages {
		folders = append(folders, s.AllFiles()...)
	}
	if err := clearScratch(r.Dir, folders, r.options.Place); err != nil {
		return err
	}
	var warning string
	if r.cache, warning, err = store.Open(r.Dir, record.CacheFile); err != nil {
		return err
	}
	r.cache.Warn = func(text string) { r.Warn("cache", "", text) }
	if r.journal, err = store.OpenJournal(r.Dir); err != nil {
		return errors.Join(err, r.cache.Close())
	}
	begin := store.JournalEntry{Event: "run_start", Text: strings.Join(r.options.Command, " ")}
	if err := r.journal.Add(begin); err != nil {
		return errors.Join(err, r.close())
	}
	r.outcome.Dir = r.Dir
	file, err := filepath.Abs(r.x.Spec.File) // absolute, because a resumed run may start in another folder
	if err != nil {
		file = r.x.Spec.File
	}
	r.record = record.Run{
		Started: r.started.Format(time.RFC3339), State: "running", Version: r.options.Version,
		Go: runtime.Version(), Git: gitDescribe(r.x.Spec.File), Seed: r.Seed, Command: r.options.Command,
		File: file, Lenient: r.x.Spec.Lenient,
	}
	for _, s := range r.x.Host.Settings() {
		r.record.Host = append(r.record.Host, record.Setting{Name: s.Name, Value: s.Value})
	}
	for _, python := range r.x.Interpreters() { // before anything is measured, because it starts processes
		r.record.Python = append(r.record.Python, instantiate.Python(ctx, python))
	}
	r.warnAtStart(warning, doubts, killed)
	if r.options.Fresh {
		// Results are removed first: if a fresh run is interrupted and resumed, it must not use results from before
		// it.
		if err := r.forget(); err != nil {
			return errors.Join(err, r.close())
		}
	}
	if err := r.writeDown(); err != nil {
		return errors.Join(err, r.close())
	}
	return nil
}

// forget removes the kept results of the plan's cells and pieces.
func (r *run) forget() error {
	hashes := schema.Each(r.keys, func(k *store.Key) string { return k.Hash() })
	dirs := []string{record.CellsDir}
	for _, w := range r.Plan.Pieces {
		hashes = append(hashes, w.hash)
	}
	for _, s := range r.stages {
		if s.Pieces != nil {
			dirs = append(dirs, s.AllFiles()...)
		}
	}
	for _, dir := range dirs {
		if err := folder.RemoveAll(filepath.Join(r.Dir, dir)); err != nil {
			return fmt.Errorf("run afresh: %w", err)
		}
	}
	var err error
	if r.shards, err = record.OpenShards(r.Dir, ""); err != nil {
		return err
	}
	return r.cache.Forget(hashes)
}

func (r *run) writeDown() error {
	name := record.ExperimentFile
	if strings.HasSuffix(r.x.Spec.File, ".json") {
		name += ".json"
	}
	for _, other := range []string{record.ExperimentFile, record.ExperimentFile + ".json"} {
		if other == name {
			continue
		}
		if err := folder.Remove(filepath.Join(r.Dir, other)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove the experiment of an earlier run: %w", err)
		}
	}
	if err := folder.Write(filepath.Join(r.Dir, name), r.x.Spec.Source, 0o644); err != nil {
		return fmt.Errorf("write experiment: %w", err)
	}
	if err := r.writePlan(); err != nil {
		return err
	}
	if err := r.writeRun(); err != nil {
		return err
	}
	return r.removeStale()
}

// removeStale removes the folders of cells that are no longer planned.
func (r *run) removeStale() error {
	for _, s := range r.Stale {
		if err := folder.RemoveAll(r.folder(s)); err != nil {
			return fmt.Errorf("remove the folder of a cell that is no longer planned: %w", err)
		}
		e := store.JournalEntry{Event: "cell_removed", Unit: s, Text: "no longer in the plan"}
		if err := r.journal.Add(e); err != nil {
			return err
		}
	}
	return nil
}

// maxWriting is the largest part of the time that a run may spend on writing plan.json while cells are added.
var maxWriting = 0.05 // a variable for tests

// growPlan writes plan.json after cells were added, unless it was written a moment ago. A search adds cells one by
// one, and each writing takes longer than the last.
func (r *run) growPlan() error {
	r.behind = true
	if r.writing.Seconds() > maxWriting*time.Since(r.planned).Seconds() {
		return nil
	}
	return r.settlePlan()
}

// settlePlan writes plan.json if cells were added since it was last written.
func (r *run) settlePlan() error {
	if !r.behind {
		return nil
	}
	return r.writePlan()
}

// writePlan writes plan.json.
func (r *run) writePlan() error {
	began := time.Now()
	defer func() { r.planned, r.writing, r.behind = time.Now(), time.Since(began), false }()
	r.PredictedSeconds = r.left().Seconds()
	plan := r.Plan.Plan
	plan.Cells = r.fileOrder()
	return writeJSON(filepath.Join(r.Dir, record.PlanFile), plan.File())
}

// fileOrder returns the cells of the plan in the order of the file, which readers expect. Bisections add cells in
// another order. Trials of searches come last.
func (p *Plan) fileOrder() []record.CellRef {
	order := make([]int, len(p.Cells))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.cells[a].Place, p.cells[b].Place) })
	return schema.Each(order, func(i int) record.CellRef { return p.Cells[i] })
}

func (r *run) writeRun() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.record.Reused, r.record.Ran, r.record.Failed = r.outcome.Reused, r.outcome.Ran, r.outcome.Failed
	r.record.Warnings = r.outcome.Warnings
	return writeJSON(filepath.Join(r.Dir, record.RunFile), r.record)
}

// finish writes to run.json how the run ended.
func (r *run) finish(state string) error {
	r.record.State = state
	r.record.Ended = time.Now().Format(time.RFC3339)
	return errors.Join(r.settlePlan(), r.writeRun())
}

func (r *run) close() error {
	return errors.Join(r.shard.Close(), r.shards.WriteIndex(), r.journal.Close(), r.cache.Close(), r.closeSites())
}

// Observe implements stages.Run.
func (r *run) Observe(p Progress) {
	if r.options.Observe == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.options.Observe(p)
}

// Warn implements stages.Run.
func (r *run) Warn(code, cell, text string) {
	w := record.Warning{Code: code, Cell: cell, Text: text}
	r.mu.Lock()
	again := slices.Contains(r.outcome.Warnings, w) // the same warning again, when a stage runs a second time
	if !again {
		r.outcome.Warnings = append(r.outcome.Warnings, w)
	}
	r.mu.Unlock()
	if again {
		return
	}
	// An error here is not lost: the next entry to the journal returns it.
	_ = r.journal.Add(store.JournalEntry{Event: "warning", Unit: cell, State: code, Text: text})
	r.Observe(Progress{Kind: stages.WarningSeen, Unit: cell, Text: text})
}

// writeJSON writes a value as indented JSON, atomically.
func writeJSON(path string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	if err := folder.Write(path, append(raw, '\n'), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}

// Note implements stages.Run.
func (r *run) Note(n stages.Note) error {
	return r.journal.Add(store.JournalEntry{
		Event: n.Event, Unit: n.Unit, State: n.State, Text: n.Text, Seconds: n.Seconds, Key: n.Key,
	})
}

// seen returns the view of the run that stages get.
func (r *run) seen() *stages.Run {
	x := ended{r.x, r.Plan}
	return &stages.Run{
		Dir: r.Dir, Plan: &r.Plan.Plan, Parallel: r.options.Parallel, GPUs: r.options.GPUs,
		Place:      r.options.Place,
		Experiment: x, Sampling: x, PastRuns: x,
		CellQueue: r, Shards: r, CellFolders: r, Pieces: r, Engines: r, Log: r,
	}
}

// ended is the view of the experiment that stages get.
type ended struct {
	*instantiate.Experiment
	plan *Plan
}

func (x ended) Cell(i int) stages.Cell { return x.plan.cells[i] }

// ErrForeign is returned for a folder of results with files that tfexp has not written and would replace.
var ErrForeign = errors.New("it holds files that are not results of tfexp")

// ErrGone is returned when the folder of results was moved or removed while a run wrote to it.
var ErrGone = errors.New("the folder was moved or removed while results were written to it")

// ErrAlike is returned for two names that differ only in capital letters, on a file system that treats them as the
// same.
var ErrAlike = errors.New("this file system does not distinguish upper and lower case: one would replace the other")

// alike returns ErrAlike when two of the names would share a file in the folder of results. The lock of the folder
// must be held: alike looks for it under a name in capitals.
func (p *Plan) alike(names []string) error {
	there, err := os.Stat(filepath.Join(p.Dir, record.LockFile))
	if err != nil {
		return fmt.Errorf("run in %s: %w", p.Dir, err)
	}
	other, err := os.Stat(filepath.Join(p.Dir, strings.ToUpper(record.LockFile)))
	if err != nil || !os.SameFile(there, other) {
		return nil // the file system distinguishes capital letters
	}
	seen := map[string]string{}
	for _, name := range names {
		folded := strings.ToLower(name)
		if first, ok := seen[folded]; ok && first != name {
			return fmt.Errorf("run in %s: %s and %s: %w", p.Dir, first, name, ErrAlike)
		}
		seen[folded] = name
	}
	return nil
}

// names returns the names of the cells with folders and of the pieces of work, which have files.
func (p *Plan) names() (names []string) {
	for i, c := range p.Cells {
		if !p.Sharded(i) {
			names = append(names, filepath.Join(record.CellsDir, c.Cell))
		}
	}
	for _, w := range p.Pieces {
		names = append(names, filepath.Join(w.Stage.Name, w.Name))
	}
	return names
}

// gone returns ErrGone when the path of the results no longer leads to the locked folder.
func (r *run) gone() error {
	if now, err := os.Stat(r.Dir); err != nil || !os.SameFile(r.place, now) {
		return fmt.Errorf("run in %s: %w", r.Dir, ErrGone)
	}
	return nil
}

// checkFolder returns an error for a folder in which a run would replace or remove files that no run has made. There
// are three cases:
//
//   - The folder has some of the files of a run, but neither plan nor journal.
//   - A link in the folder leads outside it.
//   - A pipe or a device stands in the place of a folder: opening it would block endlessly.
func (p *Plan) checkFolder() error {
	for _, name := range []string{record.CellsDir, record.SamplesDir} {
		path := filepath.Join(p.Dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			return fmt.Errorf("run in %s: %s is neither a folder nor a file: move it elsewhere", p.Dir, path)
		}
		if _, err := folder.Stat(p.Dir, name); errors.Is(err, folder.ErrOutside) {
			return fmt.Errorf("run in %s: %s is a link, and its target would be replaced: remove the link", p.Dir, path)
		}
	}
	there := func(name string) bool {
		_, err := os.Lstat(filepath.Join(p.Dir, name))
		return !errors.Is(err, fs.ErrNotExist)
	}
	if there(record.PlanFile) || there(record.JournalFile) {
		return nil
	}
	names := []string{record.CellsDir, record.ExperimentFile, record.RunFile}
	for _, s := range p.stages {
		names = append(names, s.AllFiles()...)
	}
	for _, name := range names {
		if there(name) {
			return fmt.Errorf("run in %s: %w, such as %s, and would be replaced", p.Dir, ErrForeign, name)
		}
	}
	return nil
}

// scratchPrefix starts the names of folders for the control files and checkpoints of running jobs.
const scratchPrefix = ".scratch-"

// unfinished matches the temporary names under which tfexp writes files before it renames them.
var unfinished = regexp.MustCompile(`^\.[\w-]+(\.[\w-]+)*\.(json|jsonl|csv|html|hcl|svg|png|txt)(\d+|\.tmp)$|` +
	`^\.(\.SHA256SUMS\.tmp|SHA256SUMS)\d+$`)

// unfinishedAny matches the temporary name of any file. It is for folders of stages, where only tfexp writes.
var unfinishedAny = regexp.MustCompile(`^\.[\w.-]+\d{9,}$`)

// clearScratch removes leftovers of a killed run from an experiment's folder and the folders of its stages: scratch
// folders of jobs, and files that were being written. The lock must be held, and the jobs must have ended. While
// cells run elsewhere, clearScratch removes nothing: they may use these files.
func clearScratch(dir string, folders []string, place stages.Place) error {
	if place != nil {
		if working, err := place.Working(dir); working || err != nil {
			return nil
		}
	}
	err := clearFolder(dir, false)
	for _, name := range folders {
		err = errors.Join(err, clearFolder(filepath.Join(dir, name), true))
	}
	if err != nil {
		return fmt.Errorf("clean up after a run that was killed: %w", err)
	}
	return nil
}

// clearFolder removes leftovers in a folder; deep includes the folders below it.
func clearFolder(path string, deep bool) error {
	entries, err := folder.ReadDir(path)
	if err != nil {
		return nil // the folder does not exist yet, or path is a file
	}
	for _, e := range entries {
		below := filepath.Join(path, e.Name())
		switch {
		case isLeftover(e), deep && e.Type().IsRegular() && unfinishedAny.MatchString(e.Name()):
			err = folder.RemoveAll(below)
		case deep && e.IsDir():
			err = clearFolder(below, deep)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func isLeftover(e fs.DirEntry) bool {
	if e.IsDir() {
		return strings.HasPrefix(e.Name(), scratchPrefix)
	}
	return e.Type().IsRegular() && unfinished.MatchString(e.Name())
}

// gitDescribe returns the git commit of the file's folder, marked if it has uncommitted changes; "" if unknown.
func gitDescribe(file string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	out, _, err := folder.Output(exec.CommandContext(ctx, "git", "-C", filepath.Dir(file), "describe", "--always", "--dirty",
		"--abbrev=12"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
