package pipeline

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/pipeline/history"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
)

var (
	seeds     = flag.Int("seeds", 0, "how many seeds TestChaos tries; 0: some")
	firstSeed = flag.Int("first-seed", 1, "the first seed of TestChaos")
	eachFault = flag.Int("each-fault", 0, "TestFaults makes every operation with this distance fail; 0: some")
)

// Faults that a test injects into a run.
const (
	nothing  = iota
	failure  // an operation fails once
	torn     // only the first half of a write reaches the file
	noDisk   // all operations fail from then on
	signal   // the user interrupts tfexp
	kill     // tfexp is killed, and its guardian process ends the jobs
	killBoth // tfexp and its guardian process are killed
	powerCut // the machine stops: data that were not synced may be lost
	befalls
)

var errKilled = errors.New("tfexp was killed")

// A world simulates the disk and the processes of the runs in one folder of results, and injects faults.
type world struct {
	random *rand.Rand
	out    string

	mu       sync.Mutex // guards the fields below
	what, at int        // fault `what` is injected at operation number `at` on files, from 1 on
	n        int        // operations so far
	dead     error      // the error of all later operations; nil while they work
	stop     func()
	unsynced map[string]int64  // path of a file not synced → its bytes that are certainly on the disk
	renames  []rename          // renames not yet certainly on the disk
	live     map[string]func() // name of a process → function that kills it
	hit      string            // the operation at which the fault was injected
	trace    []string          // events so far, as the model names them
	early    []string          // files of finished cells not on the disk when the cell was recorded
}

type rename struct {
	to  string
	old []byte // the content that the rename replaced; nil if there was no file
}

// present is the world that operations on files go to.
var present atomic.Pointer[world]

func enterWorld(w *world) {
	present.Store(w)
	folder.Fault = func(op, path string) error {
		if w := present.Load(); w != nil && strings.Contains(path, w.out) || w != nil && (op == "fork" || op == "exec") {
			return w.asked(op, path)
		}
		return nil
	}
}

// asked is called before each operation on files. It returns the error that the operation must return, or nil.
func (w *world) asked(op, path string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead != nil {
		return w.dead
	}
	if w.n++; w.n == w.at {
		w.hit = op + " " + path
		switch w.what {
		case failure:
			return []error{syscall.EIO, syscall.ENOSPC, syscall.EMFILE, syscall.EDQUOT, syscall.ENOLCK}[w.n%5]
		case torn:
			if op == "write" {
				w.wrote(path)
				return errors.Join(folder.ErrTorn, syscall.ENOSPC)
			}
			return syscall.EIO
		case noDisk:
			w.dead = []error{syscall.ENOSPC, syscall.EDQUOT}[w.n%2]
		case signal:
			w.stop()
		case kill, killBoth, powerCut:
			w.dead = errKilled
			w.stop()
		}
		if w.dead != nil {
			return w.dead
		}
	}
	w.traced(op, path)
	switch from, to, _ := strings.Cut(path, folder.Arrow); op {
	case "write", "truncate":
		w.wrote(path)
	case "sync":
		delete(w.unsynced, path)
		w.renames = slices.DeleteFunc(w.renames, func(r rename) bool { return filepath.Dir(r.to) == path })
	case "rename":
		r := rename{to: to}
		if raw, err := os.ReadFile(to); err == nil {
			r.old = append([]byte{}, raw...)
		}
		w.renames = append(w.renames, r)
		delete(w.unsynced, to)
		if size, ok := w.unsynced[from]; ok {
			w.unsynced[to] = size
			delete(w.unsynced, from)
		}
	case "commit":
		w.committed()
	}
	return nil
}

func (w *world) wrote(path string) {
	if _, ok := w.unsynced[path]; !ok {
		info, err := os.Stat(path)
		w.unsynced[path] = 0
		if err == nil {
			w.unsynced[path] = info.Size()
		}
	}
}

// committed is called when finished work is about to be recorded. It notes files of real cells that are not certainly
// on the disk yet. Files of simulated cells need not be: they can be made again.
func (w *world) committed() {
	for path := range w.unsynced {
		name := filepath.Base(path)
		cell := filepath.Dir(path)
		if _, err := os.Stat(filepath.Join(cell, record.CellFile)); err == nil && strings.Contains(cell, "-dice-") &&
			name != store.KeyFile && strings.HasSuffix(filepath.Dir(cell), record.CellsDir) {
			w.early = append(w.early, path)
		}
	}
}

// losePower simulates a power cut: a random part of the unsynced data is lost.
func (w *world) losePower() {
	for _, path := range slices.Sorted(maps.Keys(w.unsynced)) {
		if info, err := os.Stat(path); err == nil && w.random.IntN(4) > 0 && info.Size() > w.unsynced[path] {
			_ = os.Truncate(path, w.unsynced[path]+w.random.Int64N(info.Size()-w.unsynced[path]+1)*w.random.Int64N(2))
		}
	}
	for _, r := range slices.Backward(w.renames) {
		if w.random.IntN(2) == 0 {
			continue
		}
		if _ = os.Remove(r.to); r.old != nil {
			_ = os.WriteFile(r.to, r.old, 0o644)
		}
	}
}

// run runs an experiment until it ends, with fault `what` at operation number `at`.
func (w *world) run(t *testing.T, source string, what, at int) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	w.mu.Lock()
	w.what, w.at, w.n, w.dead, w.stop = what, at, 0, nil, stop
	w.mu.Unlock()
	p, err := New(loadSmall(t, source), Options{Out: w.out, Parallel: 1})
	if err == nil {
		_, err = p.Run(ctx)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n < at || w.dead == nil {
		return err
	}
	if what != killBoth {
		for _, end := range w.live { // the guardian process ends the jobs
			end()
		}
		clear(w.live)
	}
	if what == powerCut {
		w.losePower()
	}
	clear(w.unsynced)
	w.renames = nil
	return err
}

func newWorld(t *testing.T, out string, seed uint64) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 0)), out: out, unsynced: map[string]int64{}, live: map[string]func(){}}
	enterWorld(w)
	return w
}

// tables returns the content of the experiment's tables of results. Unless exact is set, it leaves out times, which
// differ between runs of real jobs.
func tables(t *testing.T, dir string, exact bool) string {
	t.Helper()
	var b strings.Builder
	for _, name := range []string{"jobs.csv", "metrics.csv", "comparisons.csv"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		header, _, _ := strings.Cut(string(raw), "\n")
		disturbed := slices.Index(strings.Split(header, ","), "disturbed_pairs")
		for line := range strings.Lines(string(raw)) {
			fields := strings.Split(line, ",")
			switch {
			case !exact: // the times of real jobs differ
				line = strings.Join(fields[:min(4, len(fields))], ",") + strings.Repeat(" finished", strings.Count(line, "finished")) + "\n"
			case disturbed >= 0: // this column depends on the clocks of the machine
				line = strings.Join(slices.Delete(fields, disturbed, disturbed+1), ",")
			}
			b.WriteString(line)
		}
	}
	return b.String()
}

// began counts how often each cell has started and finished, as recorded in the journal.
func began(dir string) (starts, ends map[string]int) {
	starts, ends = map[string]int{}, map[string]int{}
	entries, _ := history.ReadJournal(dir)
	for _, e := range entries {
		switch {
		case e.Event == "cell_start":
			starts[e.Unit]++
		case e.Event == "cell_end" && e.State == record.CellFinished:
			ends[e.Unit]++
		}
	}
	return starts, ends
}

const chaosFile = `
experiment "chaos" {
  seed       = 3
  replicates = 2
}
job "a" {
  command = ["a"]
  epochs  = 4
}
job "b" {
  command = ["b"]
  epochs  = 2
}
workload "w" {
  submit {
    job   = job.a
    count = 2
  }
  submit { job = job.b }
}
hardware "dice" {
  engine  = "dice"
  threads = 2
}
policy "fcfs" { order = "fcfs" }
compare "mean_jct" { baseline = policy.fcfs }
policy "sjf" { order = "sjf" }
`

// dice is an engine whose processes belong to the present world. They run in virtual time: each epoch of a program
// takes a second.
var dice = &engine.Kind{
	Name: "dice", Rank: 91, Doc: "has processes of a world of tests", Traits: engine.Traits{Real: true},
	Capabilities: func(*engine.Hardware) scheduler.Capabilities {
		return scheduler.Capabilities{Pause: true, Resize: true, Memory: true}
	},
	Open: func(r engine.Run) (engine.Session, []string, error) {
		if len(r.Hardware) == 0 {
			return nil, nil, nil
		}
		s := diceSite{present.Load(), filepath.Join(r.Dir, "dice.txt")}
		raw, err := engine.ReadNote(filepath.Split(s.note))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		s.w.mu.Lock()
		defer s.w.mu.Unlock()
		for name := range strings.Lines(string(raw)) { // leftovers of a killed run
			if end := s.w.live[strings.TrimSpace(name)]; end != nil {
				end()
				delete(s.w.live, strings.TrimSpace(name))
			}
		}
		s.w.trace = append(s.w.trace, evSweep)
		return s, nil, nil
	},
}

type diceSite struct {
	w    *world
	note string
}

func (s diceSite) Local(*engine.Hardware) bool { return true }
func (s diceSite) Close() error                { return nil }
func (s diceSite) Engine(_ context.Context, task engine.Task) (engine.Engine, error) {
	h := &diceHands{site: s}
	h.jobs = launch.NewJobs(task.Jobs, launch.ProgramHands[*die](h), launch.JobsOptions{Closed: errors.New("closed"),
		Report: task.Report, Warn: task.Warn, Suspends: task.Suspends})
	return diceEngine{h.jobs}, nil
}

type diceEngine struct{ *launch.Jobs[*die] }

func (e diceEngine) Capabilities() scheduler.Capabilities { return dice.Capabilities(nil) }
func (e diceEngine) Close() error                         { e.Jobs.Close(); return nil }

// A die is a process of the engine dice.
type die struct {
	launch.JobState
	name string
	out  *launch.Log
	over chan struct{}
	end  func()
}

type diceHands struct {
	site diceSite
	jobs *launch.Jobs[*die]
}

var dieNumber atomic.Int64

func (h *diceHands) Begin(s launch.JobState, _ scheduler.Part, again bool, seen func([]byte), fail func(string)) (*die, error) {
	p := &die{JobState: s, name: fmt.Sprint("process ", dieNumber.Add(1)), over: make(chan struct{})}
	p.end = sync.OnceFunc(func() { close(p.over) })
	var err error
	if p.out, err = launch.OpenLog(s.Job.LogPath, 1<<20, again, fail, seen); err != nil {
		return nil, err
	}
	if err := p.Job.Prepare(1, p.Before); err != nil {
		p.out.Close("")
		return nil, err
	}
	if err := folder.Try("fork", p.name); err != nil {
		p.out.Close("")
		return nil, err
	}
	// The engine writes its note about the process before it starts the process, as real engines do.
	f, err := folder.OpenFile(h.site.note, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.WriteString(p.name + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		p.out.Close("")
		return nil, err
	}
	h.site.w.mu.Lock()
	h.site.w.live[p.name] = p.end
	h.site.w.trace = append(h.site.w.trace, evFork)
	h.site.w.mu.Unlock()
	return p, nil
}

func (h *diceHands) Attend(p *die) {
	finished := true
	for epoch := range p.epochs() {
		select {
		case <-time.After(time.Second):
			p.out.Write(fmt.Appendf(nil, "{\"tfexp\":{\"epoch\":%d,\"seconds\":1}}\n", epoch+1))
			continue
		case <-p.over:
			finished = false
		}
		break
	}
	h.site.w.mu.Lock()
	killed := h.site.w.dead == errKilled // the processes continue without tfexp
	if !killed {
		delete(h.site.w.live, p.name)
		h.site.w.trace = append(h.site.w.trace, evExit)
	}
	h.site.w.mu.Unlock()
	h.jobs.Exited(p, time.Now(), finished)
	h.jobs.Ended(p, launch.Fate{Finished: finished, Why: "killed", Output: p.out.Err()}, p.out.Close)
}

func (h *diceHands) Discard(p *die) { p.end(); p.out.Close("discarded") }
func (h *diceHands) Addresses(int, []scheduler.Part, contract.Cluster) (contract.Cluster, error) {
	return nil, nil
}
func (h *diceHands) Hold([]*die) error                          { return nil }
func (h *diceHands) GoOn([]*die) error                          { return nil }
func (h *diceHands) Bind(*die, scheduler.Part) error            { return nil }
func (h *diceHands) Write(p *die, b []byte, at time.Time) error { return p.Job.ReplaceControl(b, at) }
func (h *diceHands) Ask(all []*die, _ bool)                     { h.Kill(all) }
func (h *diceHands) Kill(all []*die) {
	for _, p := range all {
		p.end()
	}
}

// epochs returns the number of epochs in the program's arguments.
func (p *die) epochs() (n int) {
	for _, entry := range p.Job.Env {
		if text, ok := strings.CutPrefix(entry, contract.EnvEpochs+"="); ok {
			fmt.Sscan(text, &n)
		}
	}
	return n
}

// memory returns a folder on a file system in memory if there is one, because syncing is fast there.
func memory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "chaos-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// quiet undoes the changes that TestChaos and TestFaults make to global variables.
func quiet(t *testing.T) {
	t.Cleanup(func() { folder.Fault = nil; present.Store(nil) })
}

// In a small run, each operation on files, each fork and each exec meets a fault: it fails, alone or with all later
// ones, writes only half of its data, or is where tfexp is killed or the power fails. A later run gives the same
// tables. Nothing was recorded before it was on the disk. The short form of the test tries some operations, each with
// one kind of fault.
func TestFaults(t *testing.T) {
	if testing.Short() && *eachFault == 0 {
		t.Skip("hundreds of runs")
	}
	quiet(t)
	if engine.Find(dice.Name) == nil {
		engine.Register(dice)
	}
	for name, c := range map[string]struct {
		source, folder string
		exact          bool
		every          int
	}{
		"simulated": {strings.Replace(simulatedFile, "replicates = 4", "replicates = 1", 1), "small", true, 19},
		"shards":    {strings.Replace(simulatedFile, "replicates = 4", "replicates = 1\n  records = \"metrics\"", 1), "small", true, 23},
		"real":      {realFile, "real", false, 47},
	} {
		t.Run(name, func(t *testing.T) {
			top := memory(t)
			w := newWorld(t, filepath.Join(top, "reference"), 1)
			if err := w.run(t, c.source, nothing, 0); err != nil {
				t.Fatal(err)
			}
			points, tried := w.n, 0
			want := tables(t, filepath.Join(w.out, c.folder), c.exact)
			kinds := []int{failure, torn, noDisk, kill, powerCut}
			every := cmp.Or(*eachFault, need.Cases(3*c.every, 2*c.every))
			for at := 1; at <= points; at += every {
				whats := kinds
				if !need.Long() && *eachFault == 0 { // each kind of fault in turn
					whats = kinds[at/every%len(kinds):][:1]
				}
				for _, what := range whats {
					w := newWorld(t, filepath.Join(top, "out"), uint64(at))
					first := w.run(t, c.source, what, at)
					err := w.run(t, c.source, nothing, 0)
					got := tables(t, filepath.Join(w.out, c.folder), c.exact)
					if err != nil || got != want || len(w.early) > 0 {
						t.Errorf("operation %d, %s, what %d (%v): %v, recorded early: %v\n%s", at, w.hit, what, first, err, w.early, got)
					}
					tried++
					if err := os.RemoveAll(w.out); err != nil {
						t.Fatal(err)
					}
				}
			}
			t.Logf("%d operations, %d faults", points, tried)
		})
	}
}

// A seed chooses faults and their operations for the runs of an experiment. In the end the tables equal the tables of a
// run without faults, no process runs, and no finished cell has run again unless its files were damaged.
func TestChaos(t *testing.T) {
	if testing.Short() && *seeds == 0 {
		t.Skip("hundreds of runs")
	}
	quiet(t)
	if engine.Find(dice.Name) == nil {
		engine.Register(dice)
	}
	top := memory(t)
	var want string
	points := 0
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, filepath.Join(top, "reference"), 1)
		if err := w.run(t, chaosFile, nothing, 0); err != nil {
			t.Fatal(err)
		}
		want, points = tables(t, filepath.Join(w.out, "chaos"), true), w.n
	})
	if strings.Count(want, "finished") < 12 {
		t.Fatal(want)
	}
	n, began := *seeds, time.Now()
	if n == 0 {
		n = need.Cases(4, 20)
	}
	at := map[int]int{}
	for seed := *firstSeed; seed < *firstSeed+n; seed++ {
		synctest.Test(t, func(t *testing.T) { chaos(t, filepath.Join(top, "out"), uint64(seed), points, want, at) })
	}
	t.Logf("%d seeds in %.0f s, of runs with %d operations: 0 lost, 0 repeated, 0 left; of each kind: %v", n,
		time.Since(began).Seconds(), points, at)
}

func chaos(t *testing.T, out string, seed uint64, points int, want string, tried map[int]int) {
	w := newWorld(t, out, seed)
	defer os.RemoveAll(out)
	defer func() {
		if t.Failed() {
			t.Logf("seed %d failed: go test ./pipeline -run TestChaos -args -first-seed %d -seeds 1", seed, seed)
		}
	}()
	dir := filepath.Join(out, "chaos")
	sound := true // no fault has damaged existing files so far
	for range 1 + w.random.IntN(4) {
		what := 1 + w.random.IntN(befalls-1)
		sound = sound && slices.Contains([]int{signal, kill, killBoth}, what)
		tried[what]++
		_ = w.run(t, chaosFile, what, 1+w.random.IntN(points))
	}
	before, ended := began(dir)
	if err := w.run(t, chaosFile, nothing, 0); err != nil {
		t.Errorf("the last run: %v", err)
	}
	starts, _ := began(dir)
	for cell := range ended {
		if sound && starts[cell] > before[cell] {
			t.Errorf("%s had finished, and has run again", cell)
		}
	}
	if got := tables(t, dir, true); got != want {
		t.Errorf("the tables are\n%s\nwant\n%s", got, want)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.live) > 0 {
		t.Errorf("%d processes are left", len(w.live))
	}
}
