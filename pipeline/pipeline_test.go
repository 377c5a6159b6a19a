package pipeline

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/process"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/execute"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

func TestMain(m *testing.M) {
	if handled, code := process.Main(os.Args[1:]); handled {
		os.Exit(code)
	}
	os.Setenv(execute.KeepDisturbed, "1")    // tests run at the same time and disturb each other's measurements
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else programs with the race detector sleep for 1 s at their end
	plot.Usual = []string{canvas.SVG}
	os.Exit(m.Run())
}

// simulatedFile is a small simulated experiment that runs in a few milliseconds.
const simulatedFile = `
experiment "small" {
  seed       = 3
  replicates = 4
}

job "long" {
  builtin "mlp" {}
  epochs  = 40
  threads = 2
  runtime {
    epoch = "200ms"
  }
}

job "short" {
  builtin "softmax" {}
  epochs = 10
  runtime {
    epoch = "100ms"
  }
}

workload "mixed" {
  submit {
    job   = job.long
    count = 2
  }
  submit {
    job          = job.short
    count        = 6
    interarrival = exponential("400ms")
  }
}

hardware "sim" {
  engine  = "simulated"
  threads = 2
}

policy "fcfs" {
  order = "fcfs"
}

policy "rr" {
  order   = "round_robin"
  quantum = "500ms"
}

compare "mean_jct" {
  baseline = policy.fcfs
}
`

func loadSmall(t testing.TB, source string) *experiment.Spec {
	t.Helper()
	spec, diags := decode.Source("small.hcl", []byte(source), decode.Options{
		Host: experiments.HostFacts{Threads: 2, Cores: 2},
	})
	if diags.HasErrors() {
		var b strings.Builder
		diags.Render(&b, false)
		t.Fatal(b.String())
	}
	return spec
}

func plan(t testing.TB, source, out string) *Plan {
	t.Helper()
	p, err := New(loadSmall(t, source), Options{Out: out})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ran runs an experiment and opens its results.
func ran(t testing.TB, source string) *record.Experiment {
	t.Helper()
	p := plan(t, source, t.TempDir())
	if _, err := p.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	e, err := record.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// runs runs an experiment and checks that it ran `want` cells.
func runs(t *testing.T, source, out string, want int) *Outcome {
	t.Helper()
	o, err := plan(t, source, out).Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if o.Ran != want || o.Failed != 0 {
		t.Fatalf("%d cells ran, %d of them failed; want %d and 0", o.Ran, o.Failed, want)
	}
	return o
}

// reasons returns the reason for which each cell runs, by cell; it leaves out reused cells.
func reasons(p *Plan) map[string]string {
	m := map[string]string{}
	for i, w := range p.Work {
		if !w.Reuse {
			m[p.Cells[i].Cell] = w.Reason
		}
	}
	return m
}

func TestSecondRunReusesAll(t *testing.T) {
	out := t.TempDir()
	runs(t, simulatedFile, out, 8)
	o := runs(t, simulatedFile, out, 0)
	if o.Reused != 8 {
		t.Errorf("%d cells were reused, want 8", o.Reused)
	}
	for _, edited := range []string{
		"# a comment\n" + simulatedFile,
		strings.Replace(simulatedFile, "  order   = \"round_robin\"\n  quantum = \"500ms\"\n",
			"  quantum = \"0.5s\"\n  order   = \"round_robin\"\n", 1),
	} {
		if got := reasons(plan(t, edited, out)); len(got) != 0 {
			t.Errorf("an edit of the form alone runs %v", got)
		}
	}
}

func TestEditRunsWhatItTouches(t *testing.T) {
	out := t.TempDir()
	runs(t, simulatedFile, out, 8)
	edited := strings.Replace(simulatedFile, `"500ms"`, `"250ms"`, 1)
	p := plan(t, edited, out)
	got := reasons(p)
	if len(got) != 4 {
		t.Errorf("the quantum was edited, and %v run", got)
	}
	for i, c := range p.Cells {
		if c.Policy != "rr" {
			continue
		}
		w := p.Work[i]
		if w.Reason != "policy.quantum changed" || len(w.Changes) != 1 ||
			w.Changes[0].String() != "policy.quantum: 500ms → 250ms" {
			t.Errorf("%s runs because %q %v", c.Cell, w.Reason, w.Changes)
		}
	}
	runs(t, edited, out, 4)
	// Work that was finished before the file was edited is taken from the cache when the edit is undone.
	before := plan(t, simulatedFile, out)
	if got := reasons(before); len(got) != 0 {
		t.Errorf("after the edit is taken back %v run", got)
	}
	runs(t, simulatedFile, out, 0)
}

// The name of a cell contains its value of the axis, so a new value makes a new cell. Its reason to run is still the
// difference from the cell that was in the same place.
func TestEditOfAnAxisIsExplained(t *testing.T) {
	file := strings.Replace(simulatedFile, `quantum = "500ms"`, `quantum = each.q`, 1) + "matrix {\n  q = [\"500ms\"]\n}\n"
	out := t.TempDir()
	runs(t, file, out, 8)
	p := plan(t, strings.Replace(file, `["500ms"]`, `["250ms"]`, 1), out)
	if got := reasons(p); len(got) != 4 {
		t.Errorf("%v run, want the four of rr", got)
	}
	for i, c := range p.Cells {
		if c.Policy == "rr" && !strings.Contains(p.Work[i].Reason, "policy.quantum") {
			t.Errorf("%s runs because %q", c.Cell, p.Work[i].Reason)
		}
	}
	if len(p.Stale) != 4 {
		t.Errorf("stale cells: %v, want those of the old quantum", p.Stale)
	}
}

func TestFilesAreEnoughWithoutTheCache(t *testing.T) {
	out := t.TempDir()
	runs(t, simulatedFile, out, 8)
	if err := os.Remove(filepath.Join(out, "small", record.CacheFile)); err != nil {
		t.Fatal(err)
	}
	runs(t, simulatedFile, out, 0)
}

func TestCacheBringsFilesBack(t *testing.T) {
	out := t.TempDir()
	runs(t, simulatedFile, out, 8)
	cells := filepath.Join(out, "small", record.CellsDir)
	before := tree(t, cells)
	if err := os.RemoveAll(cells); err != nil {
		t.Fatal(err)
	}
	runs(t, simulatedFile, out, 0)
	if after := tree(t, cells); len(after) != len(before) {
		t.Errorf("%d files came back of %d", len(after), len(before))
	} else {
		for name, content := range before {
			if after[name] != content {
				t.Errorf("%s came back different", name)
			}
		}
	}
}

// The same seed gives files with the same bytes, whichever cells run at the same time.
func TestSimulationIsReproducible(t *testing.T) {
	crowded := strings.Replace(simulatedFile, `threads = 2
}

policy "fcfs"`, `threads = 3
  contention { capacity = 0.7 }
}

policy "fcfs"`, 1)
	if crowded == simulatedFile {
		t.Fatal("the file has no contention")
	}
	tables := func(parallel int) map[string]string {
		p, err := New(loadSmall(t, crowded), Options{Out: t.TempDir(), Parallel: parallel})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		files := map[string]string{}
		for _, f := range []string{record.Jobs.File, record.Comparisons.File} {
			raw, err := os.ReadFile(filepath.Join(p.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			files[f] = string(raw)
		}
		return files
	}
	one, four := tables(1), tables(4)
	for name := range one {
		if one[name] != four[name] {
			t.Errorf("%s differs between one and four at a time", name)
		}
	}
}

// An interrupted cell leaves its folder incomplete, and runs again.
func TestInterruptedRunIsResumed(t *testing.T) {
	out := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	spec := loadSmall(t, simulatedFile)
	p, err := New(spec, Options{Out: out, Parallel: 1, Observe: func(p Progress) {
		if p.Kind == stages.UnitEnd && p.Done == 3 {
			cancel()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	o, err := p.Run(ctx)
	if !errors.Is(err, ErrInterrupted) {
		t.Fatalf("Run = %v, want ErrInterrupted", err)
	}
	if o.Ran < 3 || o.Ran == 8 {
		t.Fatalf("%d cells had run when it was interrupted", o.Ran)
	}
	resumed, diags, err := Resume(out, Options{}, experiments.HostFacts{Threads: 2, Cores: 2})
	if err != nil || diags.HasErrors() {
		t.Fatal(err, diags)
	}
	if resumed.Dir != p.Dir {
		t.Errorf("resumed %s, want %s", resumed.Dir, p.Dir)
	}
	o2, err := resumed.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if o.Ran+o2.Ran != 8 {
		t.Errorf("%d and then %d cells ran, want 8 in all", o.Ran, o2.Ran)
	}
	if _, _, err := Resume(out, Options{}, experiments.HostFacts{}); !errors.Is(err, ErrNothingToResume) {
		t.Errorf("after all has finished Resume = %v", err)
	}
}

func TestRunOrderInterleavesPolicies(t *testing.T) {
	p := plan(t, simulatedFile, t.TempDir())
	if len(p.RunOrder) != 8 {
		t.Fatalf("%d cells are in the order, want 8", len(p.RunOrder))
	}
	for k, i := range p.RunOrder {
		if want := k/2 + 1; p.Cells[i].Replicate != want {
			t.Errorf("place %d has replicate %d, want %d: replicate after replicate", k, p.Cells[i].Replicate, want)
		}
	}
	for first := 0; first < 8; first += 4 {
		a, b, c, d := p.Cells[p.RunOrder[first]], p.Cells[p.RunOrder[first+1]], p.Cells[p.RunOrder[first+2]], p.Cells[p.RunOrder[first+3]]
		if a.Policy != d.Policy || b.Policy != c.Policy || a.Policy == b.Policy {
			t.Errorf("%s, %s, %s, %s: not there and back", a.Policy, b.Policy, c.Policy, d.Policy)
		}
	}
}

// Workloads with the same jobs and different names draw different arrivals. All policies of a replicate have the same
// arrivals.
func TestComparedCellsShareArrivals(t *testing.T) {
	out := t.TempDir()
	runs(t, simulatedFile, out, 8)
	e, err := record.Open(filepath.Join(out, "small"))
	if err != nil {
		t.Fatal(err)
	}
	arrivals := map[string]string{}
	for _, c := range e.Cells {
		raw, err := os.ReadFile(filepath.Join(e.Dir, record.CellsDir, c.Cell, record.Jobs.File))
		if err != nil {
			t.Fatal(err)
		}
		var column []string
		for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n")[1:] {
			column = append(column, strings.Split(line, ",")[7])
		}
		seed := string(rune('0' + c.Replicate))
		got := strings.Join(column, " ")
		if was, ok := arrivals[seed]; ok && was != got {
			t.Errorf("replicate %s: arrivals %s and %s", seed, was, got)
		}
		arrivals[seed] = got
	}
	if arrivals["1"] == arrivals["2"] {
		t.Error("two replicates have the same arrivals")
	}
}

func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		files[path] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A run that runs no cell does not write tables, pictures and report again.
func TestViewsAreReused(t *testing.T) {
	out := t.TempDir()
	runs(t, simulatedFile, out, 8)
	report := filepath.Join(out, "small", record.ReportFile)
	before, err := os.Stat(report)
	if err != nil {
		t.Fatal(err)
	}
	runs(t, simulatedFile, out, 0)
	if after, err := os.Stat(report); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the report was written again (%v)", err)
	}
	plots := filepath.Join(out, "small", record.PlotsDir)
	pictures := filepath.Join(plots, record.PicturesFile)
	for what, damage := range map[string]func() error{
		"all pictures are removed": func() error { return os.RemoveAll(plots) },
		"one file is removed":      func() error { return os.Remove(pictures) },
		"one file is cut":          func() error { return os.Truncate(pictures, 3) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		runs(t, simulatedFile, out, 0)
		if info, err := os.Stat(pictures); err != nil || info.Size() == 3 {
			t.Errorf("after %s, the pictures did not come back: %v", what, err)
		}
	}
}

func readRecord(t *testing.T, dir string) record.Run {
	t.Helper()
	r, err := readRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Resume completes a run that was killed while it wrote the report.
func TestResumeWritesAMissingReport(t *testing.T) {
	out := t.TempDir()
	runs(t, simulatedFile, out, 8)
	dir := filepath.Join(out, "small")
	r := readRecord(t, dir)
	if r.State != "finished" || !r.Reported {
		t.Fatalf("after a run: state %s, reported %v", r.State, r.Reported)
	}
	r.Reported = false
	if err := writeJSON(filepath.Join(dir, record.RunFile), r); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, record.ReportFile)); err != nil {
		t.Fatal(err)
	}
	p, _, err := Resume(out, Options{}, experiments.HostFacts{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	if o, err := p.Run(context.Background()); err != nil || o.Ran != 0 {
		t.Fatalf("resumed: %+v, %v", o, err)
	}
	if _, err := os.Stat(filepath.Join(dir, record.ReportFile)); err != nil {
		t.Error(err)
	}
}

// Resume chooses the newest interrupted run, even if a run that ended with failed cells is newer.
func TestResumePrefersWhatWasBrokenOff(t *testing.T) {
	out := t.TempDir()
	for name, state := range map[string]string{"early": "interrupted", "late": "failed"} {
		runs(t, strings.Replace(simulatedFile, `"small"`, `"`+name+`"`, 1), out, 8)
		dir := filepath.Join(out, name)
		r := readRecord(t, dir)
		r.State = state
		r.Started = map[string]string{"early": "2024-01-01T00:00:00Z", "late": "2024-01-02T00:00:00Z"}[name]
		if err := writeJSON(filepath.Join(dir, record.RunFile), r); err != nil {
			t.Fatal(err)
		}
	}
	p, _, err := Resume(out, Options{}, experiments.HostFacts{Threads: 2})
	if err != nil || filepath.Base(p.Dir) != "early" {
		t.Errorf("resumed %v, %v", p, err)
	}
}

// A folder keeps only the experiment file of its last run, in HCL or in JSON.
func TestSyntaxOfTheExperimentMayChange(t *testing.T) {
	out := t.TempDir()
	const asJSON = `{"experiment": {"small": {"replicates": 3}},
 "job": {"j": {"builtin": {"softmax": {}}, "epochs": 2, "runtime": {"epoch": "100ms"}}},
 "workload": {"w": {"submit": [{"job": "${job.j}"}]}},
 "hardware": {"h": {"engine": "simulated", "threads": 1}},
 "policy": {"fcfs": {"order": "fcfs"}}}`
	runs(t, simulatedFile, out, 8)
	spec, diags := decode.Source("small.hcl.json", []byte(asJSON), decode.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, err := New(spec, Options{Out: out})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, diags, err := Resume(p.Dir, Options{}, experiments.HostFacts{}); err != nil || diags.HasErrors() {
		t.Errorf("%v %v", diags, err)
	}
}

// A fresh run first removes all results: after an interruption, results that it had not made again are missing.
func TestFreshForgets(t *testing.T) {
	out := t.TempDir()
	runs(t, simulatedFile, out, 8)
	ctx, cancel := context.WithCancel(context.Background())
	p, err := New(loadSmall(t, simulatedFile), Options{Out: out, Fresh: true, Parallel: 1, Observe: func(p Progress) {
		if p.Kind == stages.UnitEnd && p.Done == 2 {
			cancel()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	o, err := p.Run(ctx)
	if !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	runs(t, simulatedFile, out, 8-o.Ran)
}

func TestSeedIsExplained(t *testing.T) {
	out := t.TempDir()
	runs(t, simulatedFile, out, 8)
	p := plan(t, strings.Replace(simulatedFile, "= 3\n", "= 4\n", 1), out)
	for i, w := range p.Work {
		if w.Reuse || w.Reason != "experiment.seed changed" {
			t.Errorf("%s: %+v", p.Cells[i].Cell, w)
		}
	}
}

// When a project's folder is moved, all its results are reused.
func TestMovedProjectRunsNothingAgain(t *testing.T) {
	const file = `
experiment "moved" {
  replicates = 1
}
job "j" {
  command = ["sh", "train.sh"]
  epochs  = 1
}
workload "w" {
  submit { job = job.j }
}
hardware "h" {
  engine  = "process"
  threads = 1
}
policy "fcfs" { order = "fcfs" }
`
	key := func(dir string) string {
		if err := os.WriteFile(filepath.Join(dir, "train.sh"), []byte("echo trained\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		spec, diags := decode.Source(filepath.Join(dir, "moved.hcl"), []byte(file), decode.Options{
			Host: experiments.HostFacts{Threads: 1, Cores: 1},
		})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		p, err := New(spec, Options{Out: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		return p.keys[0].Description()
	}
	if a, b := key(t.TempDir()), key(t.TempDir()); a != b {
		t.Errorf("the key changes with the folder: %v", store.Diff(a, b))
	}
}

// TestExperimentsOfAFolder checks that Experiments returns the folder itself if it holds an experiment, and otherwise
// the folders in it with a plan; it ignores files.
func TestExperimentsOfAFolder(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for _, name := range []string{"b", "a"} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, record.PlanFile), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		want = slices.Insert(want, 0, at)
	}
	if err := os.MkdirAll(filepath.Join(dir, "c"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "d"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := Experiments(dir); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if got, err := Experiments(want[0]); err != nil || !slices.Equal(got, want[:1]) {
		t.Errorf("of an experiment: %q, %v", got, err)
	}
	for path, none := range map[string]bool{"e": true, "d": false} {
		if got, err := Experiments(filepath.Join(dir, path)); err == nil || errors.Is(err, fs.ErrNotExist) != none {
			t.Errorf("of %s: %q, %v", path, got, err)
		}
	}
}
