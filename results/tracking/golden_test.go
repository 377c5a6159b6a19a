package tracking

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

var update = flag.Bool("update", false, "write the files below testdata that show what is written")

// two is an experiment of a cell that finished and a trial that failed, with a report and pictures.
func two(t *testing.T) *record.Experiment {
	t.Helper()
	e := &record.Experiment{Dir: t.TempDir(), Plan: record.Plan{Experiment: `say "hi"`, Description: "two\nlines",
		Variables: []record.Setting{{Name: "jobs: n", Value: "3"}}},
		Run: record.Run{Started: "2026-01-02T03:04:05Z", Version: "v1", Git: "abc", File: "hi.hcl"}}
	cell := func(name, state, load string) record.Cell {
		ref := record.CellRef{Cell: name, Workload: "w", Hardware: "h", Policy: "fcfs", Replicate: 2, Seed: 7, Engine: "process",
			Axes: []record.Setting{{Name: "load", Value: load}, {Name: "quantum", Value: "1s"}}}
		return record.Cell{CellRef: ref, State: state, Seconds: 1.5,
			Metrics: measure.Of(map[string]float64{"makespan_s": 12.25, "mean_jct_s": math.NaN()})}
	}
	e.Cells, e.Trials = []record.Cell{cell("a", record.CellFinished, "0.5")}, []record.Cell{cell("b", record.CellFailed, "2")}
	for name, text := range map[string]string{
		"report.html": "<html>", "experiment.hcl": "experiment {}", "plots/gantt-a.svg": "<svg/>", "plots/all.svg": "<svg>all</svg>",
		"plots/pictures.json": `[{"name": "gantt-a", "kind": "gantt", "cell": "a", "svg": "gantt-a.svg", "png": "missing.png"},
			{"name": "all", "kind": "metrics", "svg": "all.svg"}]`,
		"cells/a/progress.csv":  "t_s,job,epoch,step,loss,accuracy\n0.5,j,0,10,0.75,0.5\n1,j,0,20,,0.625\n1,k,1,5,2,\n2,k,2,9,1,\n",
		"cells/a/occupancy.csv": "t_s,cores_held,running,queued,paused\n0,2,1,3,4\n1.5,1,1,0,1\n",
		"cells/b/occupancy.csv": "t_s,cores_held,running,queued,paused\n",
	} {
		path := filepath.Join(e.Dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// golden compares a text with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("%s\nIf this is meant: go test ./results/tracking -update", d)
	}
}

// TestMLflowFiles holds all files of a store, without where it was.
func TestMLflowFiles(t *testing.T) {
	dir := t.TempDir()
	if n, err := mlflow(two(t), dir); err != nil || n != 2 {
		t.Fatal(n, err)
	}
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		text := strings.ReplaceAll(string(raw), (&url.URL{Path: filepath.ToSlash(dir)}).String(), "/DIR")
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		fmt.Fprintf(&b, "-- %s\n%s", filepath.ToSlash(name), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "mlflow.txt", b.String())
}

// dump writes the fields of a message, and of the messages in it.
func dump(b *strings.Builder, indent string, raw []byte) {
	for len(raw) > 0 {
		number, kind, n := protowire.ConsumeTag(raw)
		raw = raw[max(n, 0):]
		switch kind {
		case protowire.Fixed64Type:
			v, n := protowire.ConsumeFixed64(raw)
			fmt.Fprintf(b, "%s%d: %g\n", indent, number, math.Float64frombits(v))
			raw = raw[n:]
		case protowire.VarintType:
			v, n := protowire.ConsumeVarint(raw)
			fmt.Fprintf(b, "%s%d: %d\n", indent, number, v)
			raw = raw[n:]
		default:
			v, n := protowire.ConsumeBytes(raw)
			if isMessage(v) {
				fmt.Fprintf(b, "%s%d:\n", indent, number)
				dump(b, indent+"  ", v)
			} else {
				fmt.Fprintf(b, "%s%d: %q\n", indent, number, v)
			}
			raw = raw[n:]
		}
	}
}

// isMessage reports whether bytes are a message: they begin with a tag, which is no letter, and if it is a line break,
// with the length of a text.
func isMessage(raw []byte) bool {
	return len(raw) > 1 && raw[0] < ' ' && raw[0] != '\n' || len(raw) > 1 && raw[0] == '\n' && int(raw[1]) <= len(raw)-2
}

// TestHyperparameters holds the messages about the experiment and its sessions.
func TestHyperparameters(t *testing.T) {
	e := two(t)
	e.Trials[0].Axes = append(e.Trials[0].Axes, record.Setting{Name: "later", Value: "3"})
	b := board{Experiment: e, cells: runs(e), begin: started(e)}
	b.params = paramsOf(b.cells)
	var s strings.Builder
	s.WriteString("columns\n")
	dump(&s, "  ", b.columns())
	for i := range b.cells {
		s.WriteString("session\n")
		dump(&s, "  ", b.sessionStart(&b.cells[i]))
		dump(&s, "  ", sessionEnd(&b.cells[i], 9.5))
	}
	golden(t, "hyperparameters.txt", s.String())
}

// TestCurves checks the curves of a cell.
func TestCurves(t *testing.T) {
	e := two(t)
	var got []string
	for _, cell := range []string{"a", "b", "none"} {
		all, err := curves(e, record.CellRef{Cell: cell})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			got = append(got, fmt.Sprintf("%s %s %v", cell, c.Name, c.Points))
		}
	}
	want := []string{"a loss/j [{0.5 10 0.75}]", "a accuracy/j [{0.5 10 0.5} {1 20 0.625}]", "a loss/k [{1 1 2} {2 2 1}]",
		"a over time/cores in use [{0 0 2} {1.5 1500 1}]", "a over time/jobs waiting [{0 0 7} {1.5 1500 1}]"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, name := range []string{"progress.csv", "occupancy.csv"} {
		path := filepath.Join(e.Dir, record.CellsDir, "b", name)
		if err := os.WriteFile(path, []byte("t_s,job\n\"a\"x,y\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := curves(e, record.CellRef{Cell: "b"}); err == nil {
			t.Errorf("a damaged %s is no error", name)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if got := started(&record.Experiment{}); got != 0 {
		t.Errorf("a run that is not known began at %g", got)
	}
}

// TestManyChanges: of a cell whose occupancy changes often, each second, fourth, eighth change is kept, from the first on.
func TestManyChanges(t *testing.T) {
	e := two(t)
	for _, c := range []struct{ rows, kept, every int }{{1999, 1999, 1}, {2000, 1000, 2}, {2001, 1001, 2}, {4000, 1000, 4}, {9000, 1125, 8}} {
		var b strings.Builder
		b.WriteString("t_s,cores_held,running,queued,paused\n")
		for i := range c.rows {
			fmt.Fprintf(&b, "%d,%d,1,%d,0\n", i, i, 2*i)
		}
		if err := os.WriteFile(filepath.Join(e.Dir, "cells", "a", "occupancy.csv"), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		all, err := occupancy(e, record.CellRef{Cell: "a"})
		if err != nil || len(all) != 2 || len(all[0].Points) != c.kept || len(all[1].Points) != c.kept {
			t.Fatalf("%+v: %d curves, %v", c, len(all), err)
		}
		for i, p := range all[0].Points {
			if q := all[1].Points[i]; p.At != float64(c.every*i) || p.Value != p.At || q.Value != 2*p.At {
				t.Fatalf("%+v: point %d is %v and %v", c, i, p, q)
			}
		}
	}
}

// Names keep letters, digits and a few signs.
func TestKeys(t *testing.T) {
	const kept = "azAZ09_-./ mM5"
	if got := key(kept + "`{@[/:" + "ä,=\x00"); got != kept+"____/_"+"____" {
		t.Errorf("%q", got)
	}
}

// TestClear: runs that others wrote into the experiment of the same name stay; folders that are no experiments are passed
// over.
func TestClear(t *testing.T) {
	e := two(t)
	dir := t.TempDir()
	foreign := filepath.Join(dir, "7", "foreign", "tags", "user")
	for path, text := range map[string]string{filepath.Join(dir, "7", "meta.yaml"): "name: \"say \\\"hi\\\"\"\n", foreign: "x",
		filepath.Join(dir, "1", "note"): "no experiment", filepath.Join(dir, "2", "meta.yaml"): "name: another\n"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := mlflow(e, dir); err != nil {
		t.Fatal(err)
	}
	e.Trials = nil
	if _, err := mlflow(e, dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "7"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range entries {
		names = append(names, d.Name())
	}
	s := store{Experiment: e}
	want := []string{s.id(""), s.id("a"), "foreign", "meta.yaml"}
	slices.Sort(want)
	if d := cmp.Diff(want, names); d != "" {
		t.Error(d)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 3 {
		t.Errorf("%v, %v", all, err)
	}
}
