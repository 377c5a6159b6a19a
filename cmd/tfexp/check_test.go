package main

import (
	"encoding/csv"
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/check/recompute"
	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/hardware/need"
)

// checkedExperiment has pauses, resizes, retries, users, classes, deadlines and several replicates: most features
// of a simulated cell.
const checkedExperiment = `
experiment "checked" {
  seed       = 3
  replicates = 4
}
job "wide" {
  command   = ["train"]
  epochs    = 10
  threads   = 4
  malleable = true
  runtime {
    epoch   = normal("3s", "1s")
    speedup = amdahl(0.1)
  }
}
job "narrow" {
  command = ["train"]
  epochs  = 4
  threads = 1
  runtime { epoch = normal("2s", "0.5s") }
}
workload "mixed" {
  submit {
    job          = job.wide
    count        = 6
    interarrival = exponential("8s")
  }
  submit {
    job          = job.narrow
    count        = 10
    interarrival = exponential("4s")
  }
}
hardware "machine" {
  engine  = "simulated"
  threads = 6
}
policy "fcfs" { order = "fcfs" }
policy "rr" {
  order   = "round_robin"
  quantum = "3s"
}
policy "share" {
  order      = "fcfs"
  allocation = "max_prop"
}
compare "mean_jct" { baseline = policy.fcfs }
compare "preemptions" { baseline = policy.fcfs }
compare "mean_waiting" {
  baseline = policy.fcfs
  by       = "class"
}
`

const checkedForReal = `
experiment "real" { replicates = 3 }
job "train" {
  builtin "softmax" { passes = 2 }
  epochs = 12
}
workload "three" {
  submit {
    job   = job.train
    count = 3
  }
}
hardware "here" {
  engine  = "process"
  threads = 1
}
policy "fcfs" { order = "fcfs" }
policy "rr" {
  order   = "round_robin"
  quantum = "20ms"
}
`

// checkedResults runs both experiments and returns their folders.
func checkedResults(t *testing.T) (simulated, real string) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs real jobs")
	}
	s := inSandbox(t, checkedExperiment)
	run := func() {
		if out, err := exec.Command("tfexp", "run", "--out", s.out, s.file).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	run()
	s.write("e.hcl", checkedForReal)
	run()
	return filepath.Join(s.out, "checked"), filepath.Join(s.out, "real")
}

// findings returns the findings of a check of a folder, by the files that they name.
func findings(t *testing.T, dir string) map[string][]recompute.Difference {
	t.Helper()
	var reports []recompute.Report
	code, out, errs := inProcess("check", dir, "--json")
	if json.Unmarshal([]byte(out), &reports) != nil { // the folder no longer has results
		return map[string][]recompute.Difference{errs: {{File: errs}}}
	}
	found := map[string][]recompute.Difference{}
	for _, d := range reports[0].Differences {
		found[d.File] = append(found[d.File], d)
	}
	if (code == command.ExitCellsFailed) != (len(found) > 0) {
		t.Fatalf("exit status %d with %d differences", code, len(found))
	}
	return found
}

// TestCheck checks the results of two experiments.
func TestCheck(t *testing.T) {
	t.Parallel()
	simulated, real := checkedResults(t)
	t.Run("finds nothing", func(t *testing.T) { findsNothing(t, simulated, real) })
	t.Run("finds planted changes", func(t *testing.T) { findsPlantedChanges(t, simulated, real) })
	t.Run("recomputes", func(t *testing.T) { recomputes(t, simulated, real) })
}

// After a run, or after commands that rewrite parts of its folder, check finds no difference.
func findsNothing(t *testing.T, simulated, real string) {
	for _, dir := range []string{simulated, real} {
		for _, command := range []string{"status", "plot", "report", "run"} {
			args := []string{command, dir}
			if command == "run" {
				args = []string{command, "--out", filepath.Dir(dir), filepath.Join(dir, "experiment.hcl")}
			}
			if out, err := exec.Command("tfexp", args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for file, d := range findings(t, dir) {
				t.Errorf("after %s: %s: %v", command, file, d)
			}
		}
	}
	// If another command writes into the folder after a change, check still finds the change.
	rng := rand.New(rand.NewPCG(1, 1))
	comparisons, before := filepath.Join(simulated, "comparisons.csv"), time.Now().Add(-time.Minute)
	_, undo := plant(t, comparisons, regexp.MustCompile(`[1-9]`), rng)
	if err := os.Chtimes(comparisons, before, before); err != nil {
		t.Fatal(err)
	}
	outputOf(t, "plot", simulated)
	if findings(t, simulated)["comparisons.csv"] == nil {
		t.Error("plot hid what had been changed before")
	}
	undo()
}

// Change a random digit in files of each kind: each change must be found, in its file.
func findsPlantedChanges(t *testing.T, simulated, real string) {
	rng := rand.New(rand.NewPCG(28, 40))
	kinds := map[string][]string{} // files of each kind
	var order []string
	for _, dir := range []string{simulated, real} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			name := e.Name()
			if err != nil || e.IsDir() || slices.Contains([]string{"cache.db", "lock"}, name) || strings.HasPrefix(name, ".") {
				return err
			}
			if raw, _ := os.ReadFile(path); !digit.Match(raw) {
				return nil
			}
			kind := filepath.Base(dir) + " " + name
			if strings.Contains(path, "/plots/") || strings.HasSuffix(name, ".log") || strings.Contains(path, "/profile/") {
				kind = filepath.Base(dir) + " " + filepath.Base(filepath.Dir(path)) + filepath.Ext(path)
			}
			if kinds[kind] == nil {
				order = append(order, kind)
			}
			kinds[kind] = append(kinds[kind], path)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// miss changes several files, and returns the files whose change check does not find.
	miss := func(paths []string) (missed []string) {
		var undone []func()
		found := map[string]map[string][]recompute.Difference{} // of each folder
		was := map[string]string{}
		for _, path := range paths {
			line, undo := plant(t, path, digit, rng)
			was[path], undone = line, append(undone, undo)
		}
		for _, dir := range []string{simulated, real} {
			if slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(p, dir) }) {
				found[dir] = findings(t, dir)
			}
		}
		for _, undo := range undone {
			undo()
		}
		for _, path := range paths {
			dir := simulated
			if strings.HasPrefix(path, real) {
				dir = real
			}
			file, _ := filepath.Rel(dir, path)
			found := found[dir]
			if len(found[file]) > 0 || len(found) > 0 && (strings.HasSuffix(file, "SHA256SUMS") || names(found, file)) {
				continue
			}
			if missed = append(missed, path); len(paths) == 1 {
				t.Errorf("%s: %s: not found; found %v", file, was[path], found)
			}
		}
		return missed
	}
	var drawn []string
	for _, kind := range order {
		drawn = append(drawn, kinds[kind][rng.IntN(len(kinds[kind]))])
	}
	for paths := range slices.Chunk(drawn, need.Cases(4, 1)) {
		for _, path := range miss(paths) { // one change may hide another, so try each separately
			if len(paths) > 1 {
				miss([]string{path})
			}
		}
	}
	t.Logf("changes in %d kinds of files: %q", len(order), order)
}

// names reports whether a finding names a file.
func names(found map[string][]recompute.Difference, file string) bool {
	for at := range found {
		if strings.Contains(at, filepath.Base(file)) {
			return true
		}
	}
	return false
}

var digit = regexp.MustCompile(`[0-9]`)

// plant replaces a random digit that matches in a file by another digit. It returns the changed line and a function
// that undoes the change.
func plant(t *testing.T, path string, at *regexp.Regexp, rng *rand.Rand) (string, func()) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := at.FindAllIndex(raw, -1)
	i := all[rng.IntN(len(all))][0]
	changed := slices.Clone(raw)
	changed[i] = '0' + (raw[i]-'0'+1+byte(rng.IntN(9)))%10
	if err := os.WriteFile(path, changed, 0o644); err != nil {
		t.Fatal(err)
	}
	line := string(raw[strings.LastIndexByte(string(raw[:i]), '\n')+1 : i+1])
	return line, func() {
		if err := os.WriteFile(path, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Hour)
		_ = os.Chtimes(path, old, old)
	}
}

// Change a number in recomputed tables, without SHA256SUMS and the cache. Recomputing from events alone must find the
// change and name its column.
func recomputes(t *testing.T, simulated, real string) {
	rng := rand.New(rand.NewPCG(28, 41))
	for _, dir := range []string{simulated, real} {
		for _, name := range []string{"SHA256SUMS", "cache.db"} {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if found := findings(t, dir); len(found) > 0 {
			t.Fatal(found)
		}
	}
	planted := map[string]int{}
	for range need.Cases(1, 4) {
		for _, name := range []string{"metrics.csv", "jobs.csv", "timings.csv", "cells/*/jobs.csv", "cells/*/occupancy.csv"} {
			files, _ := filepath.Glob(filepath.Join(simulated, name))
			dir := simulated
			if more, _ := filepath.Glob(filepath.Join(real, name)); len(files) == 0 || rng.IntN(2) == 0 {
				files, dir = more, real
			}
			if len(files) == 0 {
				t.Fatalf("no %s", name)
			}
			path := files[rng.IntN(len(files))]
			file, _ := filepath.Rel(dir, path)
			column, undo := plantInTable(t, path, rng)
			found := findings(t, dir)
			undo()
			named := len(found[file]) > 0
			for _, d := range found["jobs.csv"] { // columns that no event has are compared with the experiment's table
				named = named || d.Column == column
			}
			if planted[name]++; !named {
				t.Errorf("%s, column %s: not found; found %v", file, column, found)
			}
		}
	}
	t.Log(planted)
}

// plantInTable changes the last digit of a number of a table, and returns its column.
func plantInTable(t *testing.T, path string, rng *rand.Rand) (column string, undo func()) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(raw))).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatal(path, err)
	}
	for {
		r, k := 1+rng.IntN(len(rows)-1), rng.IntN(len(rows[0]))
		f := rows[r][k]
		if !regexp.MustCompile(`^-?[0-9.]+$`).MatchString(f) {
			continue
		}
		if strings.Contains(path, "cells/") && slices.Contains([]string{"threads_requested", "gpus"}, rows[0][k]) {
			continue // inputs of the cell; the whole jobs.csv has them too
		}
		at := len(f) - 1
		rows[r][k] = f[:at] + string('0'+(f[at]-'0'+1+byte(rng.IntN(9)))%10) + f[at+1:]
		var out strings.Builder
		w := csv.NewWriter(&out)
		if err := w.WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return rows[0][k], func() { _ = os.WriteFile(path, raw, 0o644) }
	}
}
