//go:build unix

package profile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
)

// bench is an experiment and a pipeline that record the stage's actions. Its jobs need 0.5 s to start and 1 s for each
// epoch.
type bench struct {
	file experiment.Spec // its cells
	stages.Experiment
	stages.Sampling
	stages.PastRuns
	stages.CellQueue
	stages.Shards
	stages.CellFolders
	stages.Pieces
	stages.Engines
	stages.Log
	units    []*stages.Unit
	pieces   []stages.PlannedPiece
	budget   float64
	cells    time.Duration
	samples  map[string][]estimator.Sample
	did      []string // the samples that ran, and the number of reports
	told     []string // warnings and notes
	progress []string
	kept     map[string]float64 // seconds of stored pieces, by name
}

func (b *bench) SampledUnits() []*stages.Unit                       { return b.units }
func (b *bench) File() *experiment.Spec                             { return &b.file }
func (b *bench) Budget() float64                                    { return b.budget }
func (b *bench) Within() float64                                    { return 0.2 }
func (b *bench) HostPrint() string                                  { return "here" }
func (b *bench) SetSamples(hash string, s []estimator.Sample)       { b.samples[hash] = slices.Clone(s) }
func (b *bench) PlannedPieces(string) []stages.PlannedPiece         { return b.pieces }
func (b *bench) PredictReal(context.Context) (time.Duration, error) { return b.cells, nil }
func (b *bench) Site(string) engine.Session                         { return b }
func (b *bench) Local(*engine.Hardware) bool                        { return true }
func (b *bench) Close() error                                       { return nil }
func (b *bench) Samples(hash string) ([]estimator.Sample, bool) {
	s, ok := b.samples[hash]
	return s, ok
}
func (b *bench) Warn(code, _, text string) { b.told = append(b.told, code+": "+text) }
func (b *bench) Note(n stages.Note) error {
	b.told = append(b.told, strings.TrimSpace(fmt.Sprintf("note %s %s %s %g s", n.Event, n.Unit, n.Text, n.Seconds)))
	return nil
}
func (b *bench) KeepPiece(_ string, p stages.Piece, _ []byte, seconds float64) error {
	b.kept[p.Name] = seconds
	return nil
}
func (b *bench) Observe(p stages.Progress) {
	b.progress = append(b.progress, fmt.Sprintf("%v %s %d/%d", p.Kind, p.Unit, p.Done, p.Total))
}
func (b *bench) Engine(_ context.Context, t engine.Task) (engine.Engine, error) {
	var names []string
	for _, j := range t.Jobs {
		names = append(names, j.Name+"×"+j.Argv[0])
	}
	b.did = append(b.did, strings.Join(names, "+"))
	return &virtual{jobs: t.Jobs, began: time.Now(), ends: map[int]time.Duration{}}, nil
}

// unit adds a unit that must be sampled or is known.
func (b *bench) unit(u stages.Unit, make bool) {
	if u.Name == "" {
		u.Name = u.Job
	}
	u.Hash, u.Engine, u.Relatives = "hash of "+u.Name, &engine.Kind{Name: "virtual"}, []int{len(b.units)}
	u.Launch = func(name string, length int, logs, _ string) launch.Job {
		return launch.Job{Name: name, Argv: []string{fmt.Sprint(length)}, Threads: u.Threads,
			LogPath: filepath.Join(logs, name+".log")}
	}
	b.units = append(b.units, &u)
	b.pieces = append(b.pieces, stages.PlannedPiece{Piece: stages.Piece{Name: u.Name}, Make: make})
}

func newBench() *bench {
	return &bench{samples: map[string][]estimator.Sample{}, kept: map[string]float64{}}
}

func (b *bench) run(t *testing.T) *stages.Run {
	t.Helper()
	r := &stages.Run{Dir: t.TempDir(), Experiment: b, Sampling: b, PastRuns: b,
		CellQueue: b, Shards: b, CellFolders: b, Pieces: b, Engines: b, Log: b}
	if err := os.MkdirAll(filepath.Join(r.Dir, samplesDir), 0o755); err != nil {
		t.Fatal(err)
	}
	return r
}

// virtual is an engine on the clock of a synctest bubble.
type virtual struct {
	engine.Engine
	jobs  []launch.Job
	began time.Time
	ends  map[int]time.Duration
}

func (v *virtual) Now() time.Duration { return time.Since(v.began) }
func (v *virtual) Close() error       { return nil }
func (v *virtual) length(job int) (n int) {
	fmt.Sscan(v.jobs[job].Argv[0], &n)
	return n
}
func (v *virtual) service(job int) time.Duration {
	return 500*time.Millisecond + time.Duration(v.length(job))*time.Second
}
func (v *virtual) Start(job int, _ scheduler.Grant) error {
	time.Sleep(100 * time.Millisecond) // the time to launch
	v.ends[job] = v.Now() + v.service(job)
	line := "[0.5" + strings.Repeat(", 1", v.length(job)) + ", 0]"
	return os.WriteFile(v.jobs[job].LogPath, []byte("<TIME_WRITTER_OUTPUT>"+line+"</TIME_WRITTER_OUTPUT>\n"), 0o644)
}
func (v *virtual) Pause(int) error                   { time.Sleep(3 * time.Millisecond); return nil }
func (v *virtual) Resume(int, scheduler.Grant) error { time.Sleep(2 * time.Millisecond); return nil }
func (v *virtual) Resize(int, scheduler.Grant) error { time.Sleep(time.Millisecond); return nil }
func (v *virtual) Usage(job int) (launch.Usage, bool) {
	return launch.Usage{Service: v.service(job)}, true
}
func (v *virtual) Next(_ context.Context, until time.Duration) (time.Duration, []scheduler.Notice, error) {
	first := -1
	for j, end := range v.ends {
		if end <= until && (first < 0 || end < v.ends[first]) {
			first = j
		}
	}
	if first < 0 {
		time.Sleep(until - v.Now())
		return v.Now(), nil, nil
	}
	time.Sleep(v.ends[first] - v.Now())
	delete(v.ends, first)
	return v.Now(), []scheduler.Notice{{Kind: scheduler.JobEnded, At: v.Now(), Job: first, State: scheduler.Finished}}, nil
}

func lines(t *testing.T, what string, want string, got []string) {
	t.Helper()
	if d := cmp.Diff(strings.Split(want, "\n"), got); d != "" {
		t.Errorf("%s:\n%s", what, d)
	}
}

// The stage takes the missing samples by length and then by repeat. The first sample of a request also measures the
// costs to pause, resume and resize. The samples are then known to this run and later ones.
func TestStage(t *testing.T) {
	b := newBench()
	b.unit(stages.Unit{Job: "a", Asked: true, Threads: 2, Inter: 1, Intra: 2, GPUType: "k80", Lengths: []int{2, 1},
		Repeats: 2}, true)
	b.unit(stages.Unit{Job: "kept", Asked: true, Threads: 1, Lengths: []int{1}, Repeats: 1}, false)
	b.unit(stages.Unit{Job: "a", Name: "a-1", Threads: 1, Lengths: []int{3}, Repeats: 1}, true)
	b.unit(stages.Unit{Job: "a", Name: "a-beside", Threads: 2, Copies: 3, Cores: 8, Lengths: []int{2}, Repeats: 1}, true)
	r := b.run(t)
	synctest.Test(t, func(t *testing.T) {
		if err := run(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	})
	lines(t, "what ran", `a-sample-1×2
a-probe×8
a-1-sample-1×3
a-beside-sample-1×2+a-beside-sample-1-copy-2×2+a-beside-sample-1-copy-3×2
a-sample-2×1
a-sample-3×2
a-sample-4×1`, b.did)
	// A sample takes its launch, half a second and its epochs; the probe also a launch, and seven rounds of 6 ms and as
	// many pauses of 5 ms, and one.
	lines(t, "warnings and notes", `note sample a-1  3.6 s
note sample a-beside  2.8 s
note sample a  8.582 s`, b.told)
	lines(t, "progress", `stage_start  0/4
unit_start a 1/4
unit_start a-1 1/4
unit_end a-1 2/4
unit_start a-beside 2/4
unit_end a-beside 3/4
unit_start a 3/4
unit_start a 3/4
unit_start a 3/4
unit_end a 4/4
stage_end  4/4`, b.progress)
	if len(b.kept) != 3 || math.Abs(b.kept["a-1"]-3.6) > 1e-9 {
		t.Errorf("kept: %v", b.kept)
	}
	a := b.samples["hash of a"]
	var lengths []int
	for _, s := range a {
		lengths = append(lengths, s.Length)
	}
	if !slices.Equal(lengths, []int{1, 1, 2, 2}) {
		t.Fatalf("samples of %v epochs", lengths)
	}
	first := a[2]
	if first.Pause != 0.003 || first.Resume != 0.002 || first.Resize != 0.001 || a[0].Pause != 0 || a[3].Pause != 0 {
		t.Errorf("pausing costs %g s, resuming %g s, resizing %g s", first.Pause, first.Resume, first.Resize)
	}
	if first.Host != "here" || first.Inter != 1 || first.Intra != 2 || first.GPUType != "k80" || first.Threads != 2 ||
		first.Wall != 2.5 || math.Abs(first.Launch-0.1) > 1e-9 || first.Startup != 0.5 || len(first.Units) != 2 {
		t.Errorf("%+v", first)
	}
	beside := b.samples["hash of a-beside"][0]
	if beside.Others != 4 || beside.Total != 8 || math.Abs(beside.Wall-2.5) > 1e-9 || len(beside.Units) != 2 ||
		math.Abs(beside.Units[1]-1) > 1e-9 {
		t.Errorf("%+v", beside)
	}
	if again, ok := readSamples(r.Dir, b.units[0]); !ok || len(again) != 4 {
		t.Errorf("the file has %v, %v", again, ok)
	}
	b.units, b.progress = nil, nil
	b.pieces = nil
	if err := run(t.Context(), r); err != nil || len(b.progress) > 0 {
		t.Errorf("without jobs to sample: %v, %v", b.progress, err)
	}
}

// scripted takes samples of one second per epoch, and fails for units whose names are in fails.
func (b *bench) scripted(r *stages.Run, fails map[string]error) *sampling {
	s := newSampling(r)
	s.one = func(_ context.Context, u *stages.Unit, at task) (estimator.Sample, error) {
		b.did = append(b.did, fmt.Sprintf("%s×%d", sampleName(u, at), at.length))
		if err := fails[sampleName(u, at)]; err != nil {
			return estimator.Sample{}, err
		}
		wall := float64(at.length)
		return estimator.Sample{Length: at.length, Threads: u.Threads, Wall: wall, Cost: wall}, nil
	}
	return s
}

// A failed sample causes a warning that names the missing information, and its unit has no more samples. A job whose
// samples all failed cannot run, and the error has the end of its log, unless other cells can run. A job that only exceeded the time limit can run.
func TestSamplesThatFail(t *testing.T) {
	b := newBench()
	b.unit(stages.Unit{Job: "a", Asked: true, Threads: 1, Lengths: []int{1, 2}, Repeats: 1}, true)
	b.unit(stages.Unit{Job: "slow", Asked: true, Threads: 1, Lengths: []int{1, 2}, Repeats: 1}, true)
	b.unit(stages.Unit{Job: "b", Threads: 4, Lengths: []int{1}, Repeats: 1}, true)
	b.unit(stages.Unit{Job: "b", Name: "b-beside", Threads: 1, Copies: 2, Lengths: []int{1}, Repeats: 1}, true)
	b.unit(stages.Unit{Job: "b", Name: "b-2", Asked: true, Threads: 2, Lengths: []int{1}, Repeats: 1}, true)
	b.unit(stages.Unit{Job: "b", Name: "b-1", Asked: true, Threads: 1, Lengths: []int{1}, Repeats: 1}, true)
	broken := errors.New("exit status 3")
	r := b.run(t)
	fails := map[string]error{"a-sample-1": broken, "slow-sample-2": ErrTooLong, "b-sample-1": broken,
		"b-beside-sample-1": broken, "b-2-sample-1": broken}
	s := b.scripted(r, fails)
	if err := s.all(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines(t, "what ran", "a-sample-1×1\nslow-sample-1×1\nb-sample-1×1\nb-beside-sample-1×1\n"+
		"b-2-sample-1×1\nb-1-sample-1×1\nslow-sample-2×2", b.did)
	lines(t, "warnings", `sample: exit status 3: the speed-up of job b is estimated without 4 threads
sample: exit status 3: it is not known how jobs b slow each other down
note sample b-1  1 s
no_estimate: no estimate for 2 jobs (a, b-2), for the same reason: exit status 3
no_estimate: no estimate for job slow: it took longer than a sample may take; `+
		`limit in the block profile gives samples more time`, b.told)
	if s.done != 6 || len(b.samples) != 1 {
		t.Errorf("%d units are done; known: %v", s.done, b.samples)
	}
	log := filepath.Join(r.Dir, samplesDir, "a-sample-1.log")
	if err := os.WriteFile(log, []byte("no\nsuch file\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var failed *stages.SamplesFailed
	if err := s.hopeless(); !errors.As(err, &failed) || failed.Job != "a" || failed.Sample != "a-sample-1" ||
		!errors.Is(failed.Cause, broken) || failed.Log != "no\nsuch file" {
		t.Errorf("hopeless: %v", err)
	}
	of := func(jobs ...string) (c experiment.Cell) {
		c.Workload = &experiment.Workload{}
		for _, name := range jobs {
			c.Workload.Submits = append(c.Workload.Submits, experiment.Submit{Job: &experiment.Job{Name: name}})
		}
		return c
	}
	b.file.Cells = []experiment.Cell{of("slow", "a"), of("a")}
	if err := s.hopeless(); !errors.As(err, &failed) {
		t.Errorf("every cell has the job that fails: %v", err)
	}
	b.file.Cells = append(b.file.Cells, of("b", "slow"))
	if err := s.hopeless(); err != nil {
		t.Errorf("a cell without the job that fails: %v", err)
	}
	b.file.Cells = nil
	s.failed[0], s.logs[0] = false, ""
	if err := s.hopeless(); err != nil {
		t.Errorf("jobs of which a sample succeeded, or took too long: %v", err)
	}

	gone := &engine.Unavailable{Engine: "virtual", Err: broken}
	s = b.scripted(r, map[string]error{"a-sample-1": gone})
	if err := s.all(t.Context()); !errors.As(err, new(*engine.Unavailable)) {
		t.Errorf("an engine that is not available: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := b.scripted(r, fails).all(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the run: %v", err)
	}
}

// With a budget, the two shortest samples of each request are taken, and then as many others as fit. The budget is a
// fraction of the cells' predicted time, minus the time of samples in this run and earlier ones.
func TestSamplesUnderABudget(t *testing.T) {
	for _, c := range []struct {
		cells time.Duration // the budget is a tenth of this
		ran   string
		told  string
	}{
		// 3 s are needed, and 2 s are known from an earlier run: 12 s have room for 1, 2 and 3 s more.
		{120 * time.Second, "a-sample-1×1 a-sample-2×2 x-sample-1×1 x-sample-2×2 a-sample-3×3",
			"note budget  3 of 6 further samples are left out 0 s\nnote sample a  6 s\nnote sample x  3 s"},
		{40 * time.Second, "a-sample-1×1 a-sample-2×2",
			"budget: the two shortest samples of each job took 1 s more than the budget of 4 s for sampling (10% of 40s): no " +
				"others are taken\nnote budget  6 of 6 further samples are left out 0 s\nnote sample a  3 s\nnote sample x  0 s"},
		{50 * time.Second, "a-sample-1×1 a-sample-2×2",
			"note budget  6 of 6 further samples are left out 0 s\nnote sample a  3 s\nnote sample x  0 s"},
		{time.Hour, "a-sample-1×1 a-sample-2×2 x-sample-1×1 x-sample-2×2 a-sample-3×3 a-sample-4×1 a-sample-5×2 a-sample-6×3",
			"note sample a  12 s\nnote sample x  3 s"},
	} {
		b := newBench()
		b.budget, b.cells = 0.1, c.cells
		b.unit(stages.Unit{Job: "a", Asked: true, Threads: 2, Lengths: []int{1, 2, 3}, Repeats: 2}, true)
		b.unit(stages.Unit{Job: "a", Name: "x", Threads: 2, Lengths: []int{1, 2}, Repeats: 1}, true)
		b.unit(stages.Unit{Job: "known", Asked: true, Threads: 1, Lengths: []int{2}, Repeats: 1}, false)
		b.units[1].Relatives = []int{0, 1}
		b.samples["hash of known"] = []estimator.Sample{{Cost: 2}}
		if err := b.scripted(b.run(t), nil).all(t.Context()); err != nil {
			t.Fatal(err)
		}
		lines(t, fmt.Sprintf("what ran for cells of %s", c.cells), strings.ReplaceAll(c.ran, " ", "\n"), b.did)
		lines(t, fmt.Sprintf("warnings and notes for cells of %s", c.cells), c.told, b.told)
	}
}

// The time of a sample is guessed from the longest sample of its program, in proportion to length and threads.
func TestGuess(t *testing.T) {
	s := &sampling{
		units: []*stages.Unit{{Threads: 2, Relatives: []int{0, 1}}, {Threads: 8, Relatives: []int{0, 1}},
			{Threads: 1, Relatives: []int{2}}},
		taken: [][]estimator.Sample{{{Length: 2, Threads: 2, Wall: 3}, {Length: 4, Threads: 2, Wall: 4}},
			{{Length: 2, Threads: 8, Wall: 1}}, nil},
	}
	for _, c := range []struct {
		t    task
		want float64
	}{
		{task{unit: 0, length: 2}, 4}, {task{unit: 0, length: 8}, 16}, // 1 s × 4 × 4 of the eight threads
		{task{unit: 1, length: 8}, 12}, {task{unit: 2, length: 8}, 0},
	} {
		if got := s.guess(c.t); got != c.want {
			t.Errorf("%d epochs of unit %d: %g s, want %g s", c.t.length, c.t.unit, got, c.want)
		}
	}
}

// If the samples of a request took equal times, or little time compared with the start-up, up to three longer ones are
// taken. Their names follow the planned ones. Other numbers of threads, and lengths that the file lists, get no longer
// samples.
func TestLongerSamples(t *testing.T) {
	const planned = "j-sample-1×1 j-sample-2×2 j-sample-3×1 j-sample-4×2"
	sameTime := func(s *estimator.Sample) { s.Wall = 1 }
	longStart := func(s *estimator.Sample) { // 10 s of start-up, and 5 s for all epochs
		s.Wall, s.Units = 15, slices.Repeat([]float64{5 / float64(s.Length)}, s.Length)
	}
	for _, c := range []struct {
		unit    stages.Unit
		measure func(*estimator.Sample)
		want    string
	}{
		{stages.Unit{Asked: true, Total: 100_000}, sameTime, planned + " j-sample-5×8 j-sample-6×32"},
		{stages.Unit{Asked: true, Total: 100_000}, longStart, planned + " j-sample-5×5 j-sample-6×11 j-sample-7×23"},
		{stages.Unit{Asked: true, Total: 3}, sameTime, planned + " j-sample-5×3"},
		{stages.Unit{Asked: true}, sameTime, planned},
		{stages.Unit{Total: 100_000}, sameTime, planned},
	} {
		b := newBench()
		c.unit.Job, c.unit.Threads, c.unit.Lengths, c.unit.Repeats = "j", 1, []int{1, 2}, 2
		b.unit(c.unit, true)
		s := b.scripted(b.run(t), nil)
		one := s.one
		s.one = func(ctx context.Context, u *stages.Unit, at task) (estimator.Sample, error) {
			sample, err := one(ctx, u, at)
			c.measure(&sample)
			return sample, err
		}
		if err := s.all(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(b.did, " "); got != c.want {
			t.Errorf("%+v: %s, want %s", c.unit, got, c.want)
		}
	}
}

// Jobs with imprecise predictions are sampled in rounds, the least precise first. Rounds continue while more samples
// help and the budget of a tenth of the cells' time lasts. A program that reports nothing is sampled at more lengths.
func TestRounds(t *testing.T) {
	for _, c := range []struct {
		cells   time.Duration
		repeats int
		fails   bool
		want    string
	}{
		{time.Hour, 1, false, "silent×4 rough×3 steady×3 silent×5"},
		{250 * time.Second, 1, false, "silent×4 rough×3 steady×3"},
		{100 * time.Second, 1, false, ""},
		{time.Hour, 2, false, ""},
		{time.Hour, 1, true, "silent×4 rough×3 steady×3 silent×5 steady×3"},
	} {
		b := newBench()
		b.cells = c.cells
		for _, name := range []string{"steady", "rough", "silent"} {
			b.unit(stages.Unit{Job: name, Asked: true, Threads: 1, Lengths: []int{1, 3}, Repeats: c.repeats, Total: 100}, true)
		}
		var did []string
		s := b.scripted(b.run(t), nil)
		one := s.one
		s.one = func(ctx context.Context, u *stages.Unit, at task) (estimator.Sample, error) {
			sample, err := one(ctx, u, at)
			if at.rank >= len(u.Lengths)*u.Repeats {
				did = append(did, fmt.Sprintf("%s×%d", u.Name, at.length))
				if c.fails && u.Name == "rough" {
					return sample, errors.New("failed")
				}
			}
			switch u.Name {
			case "steady":
				sample.Units = slices.Repeat([]float64{1}, at.length)
			case "rough":
				pace := 0.7 + 0.3*float64(len(b.did)%3)
				sample.Units, sample.Wall = slices.Repeat([]float64{pace}, at.length), pace*float64(at.length)
			}
			return sample, err
		}
		if err := s.all(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Logf("%v: %s", c.cells, strings.Join(did, " "))
		if got := strings.Join(did, " "); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%+v: %s", c, got)
		}
		if len(did) > 3*mostRounds {
			t.Errorf("%+v: too many: %s", c, did)
		}
	}
}

// A plan names the sampled requests of each job and the number of samples.
func TestPieces(t *testing.T) {
	b := newBench()
	b.units = []*stages.Unit{
		{Name: "a-2", Block: "a", Job: "a", Key: "key", Hash: "h", Threads: 2, Lengths: []int{2, 4}, Repeats: 3},
		{Name: "b", Job: "b", Threads: 1, Lengths: []int{50}, Steps: true},
		{Name: "c", Job: "c", Threads: 4, Copies: 2, Lengths: []int{3}, Repeats: 1},
	}
	p := stages.Planning{Dir: t.TempDir(), Experiment: b, Sampling: b, PastRuns: b}
	pieces, err := list(p)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range pieces {
		got = append(got, fmt.Sprintf("%s (%d) %s", p.Name, p.Count, p.Text))
	}
	lines(t, "pieces", `a-2 (6) on 2 threads: samples of 2 and 4 epochs, 3 times each
b (1) on 1 thread: samples of 50 steps
c (1) 2 side by side on 4 threads each: a sample of 3 epochs`, got)
	d := pieces[0].Details.(details)
	if d.Job != "a" || d.Threads != 2 || d.Repeats != 3 || d.Unit != "epochs" || pieces[0].Family != "a" ||
		!pieces[0].ForCells {
		t.Errorf("%+v", pieces[0])
	}

	found := func(key, kept string) (bool, int) {
		b.samples = map[string][]estimator.Sample{}
		var raw []byte
		if kept != "" {
			raw = []byte(kept)
		}
		return find(p, stages.Piece{Key: key}, raw), len(b.samples["h"])
	}
	for _, c := range []struct {
		name, key, kept string
		found           bool
		samples         int
	}{
		{"kept", "key", `[{}, {}]`, true, 2},
		{"damaged", "key", `[`, false, 0},
		{"of another plan", "other", `[{}]`, false, 0},
		{"in no file", "key", "", false, 0},
	} {
		if ok, n := found(c.key, c.kept); ok != c.found || n != c.samples {
			t.Errorf("%s: %v with %d samples", c.name, ok, n)
		}
	}
	if err := os.MkdirAll(filepath.Join(p.Dir, samplesDir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writeSamples(p.Dir, b.units[0], make([]estimator.Sample, 3)); err != nil {
		t.Fatal(err)
	}
	if ok, n := found("key", ""); !ok || n != 3 {
		t.Errorf("in a file: %v with %d samples", ok, n)
	}
	b.units[0].Key = "changed"
	if ok, n := found("changed", ""); ok || n != 0 {
		t.Errorf("in a file of another key: %v with %d samples", ok, n)
	}
}

// An engine reports the usage of jobs only if a watcher is set and the engine measures it.
func TestWhatJobsUse(t *testing.T) {
	load := hardware.NewToldLoad(time.Second)
	for _, c := range []struct {
		load           *hardware.ToldLoad
		observed, asks bool
	}{{nil, false, false}, {nil, true, false}, {load, false, false}, {load, true, true}} {
		for name, one := range map[string]func(context.Context, Run, *hardware.ToldLoad) (estimator.Sample, error){
			"alone": take, "beside": takeBeside,
		} {
			broken, asked := errors.New("broken"), false
			_, err := one(t.Context(), Run{Observed: c.observed,
				Open: func(_ context.Context, w watchers) (engine.Engine, error) {
					asked = w.observe != nil
					return nil, broken
				}}, c.load)
			if !errors.Is(err, broken) || asked != c.asks {
				t.Errorf("%s: asked %v, %v; %+v", name, asked, err, c)
			}
		}
	}
	b := newBench()
	b.unit(stages.Unit{Job: "a", Threads: 1}, true)
	s, u := newSampling(b.run(t)), b.units[0]
	for _, c := range []struct {
		contained bool
		hardware  *engine.Hardware
		want      bool
	}{{false, nil, false}, {true, nil, false}, {false, &engine.Hardware{}, false}, {true, &engine.Hardware{}, true}} {
		u.Engine, u.Hardware = &engine.Kind{Name: "virtual", Traits: engine.Traits{Contained: c.contained}}, c.hardware
		if got := s.toSample(u, launch.Job{}, 1).Observed; got != c.want {
			t.Errorf("observed: %v; %+v", got, c)
		}
	}
}
