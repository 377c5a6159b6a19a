package results

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/scheduler"
)

// FuzzRecords: a file is read as encoding/csv reads it, with lines of quotes or
// without; a stray quote may be an error or not.
func FuzzRecords(f *testing.F) {
	for _, s := range []string{
		"a,b\n1,2\n3,4", "a,b\r\n1,2\r\n", "a,b\n\n1,2\n", "a,b\n\"1\n,1\",2\n3,4\n\"\",5\n", "a\n1,2\n", "",
		"a,b\n,\n", "a,b\n" + strings.Repeat("x", 1<<17) + ",2\n3,4\n", "a,b\n1,\"", "a,b\n1,2\n1,2,3\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r") {
			return // encoding/csv keeps carriage returns of its own in odd places
		}
		in := records{in: bufio.NewReaderSize(strings.NewReader(text), 16)}
		want := csv.NewReader(strings.NewReader(text))
		for n := 0; ; n++ {
			w, werr := want.Read()
			got, err := in.next()
			if n == 0 {
				in.width = len(got)
			}
			if (err == nil) != (werr == nil) || errors.Is(err, io.EOF) != errors.Is(werr, io.EOF) {
				t.Fatalf("record %d: error %v instead of %v", n, err, werr)
			}
			if err != nil {
				return
			}
			if !reflect.DeepEqual(got, w) {
				t.Fatalf("record %d: %q instead of %q", n, got, w)
			}
		}
	})
}

// TestCopyJobs: lines that are copied are those that would be written, though
// fields hold quotes and line breaks, and the cells read different axes.
func TestCopyJobs(t *testing.T) {
	dir := t.TempDir()
	e := &Experiment{Dir: dir, Plan: Plan{Axes: []string{"gap", "quantum"}}}
	for i, axes := range [][]Setting{nil, {{Name: "quantum", Value: `"1s", or 2`}}, {{Name: "gap", Value: "5"}, {Name: "quantum", Value: "1s"}}} {
		ref := CellRef{Cell: []string{"a", "b", "c"}[i], Workload: "w\n1", Policy: `p"q`, Engine: simulated, Axes: axes}
		jobs := []scheduler.Job{{Number: 0, Name: "x-1", Class: "x,\ny", Threads: 1}, {Number: 1, Name: "x-2", Class: "x", Threads: 2}}
		s := Setup{Cell: ref, Jobs: jobs}
		if _, err := WriteCell(filepath.Join(dir, CellsDir, ref.Cell), s, AllRecords, nil, nil, Cell{}); err != nil {
			t.Fatal(err)
		}
		write := func(name string, add func(*tableFile[JobRow]) error) string {
			path := filepath.Join(dir, name)
			table, err := newTableFile(path, false, jobColumns, e.Plan.Axes)
			if err != nil {
				t.Fatal(err)
			}
			if err := add(table); err != nil {
				t.Fatal(err)
			}
			if _, err := table.replace(); err != nil {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return string(raw)
		}
		copied := write("copied.csv", func(table *tableFile[JobRow]) error {
			done, err := e.copyJobs(table, ref)
			if !done {
				t.Errorf("cell %s: its columns are not those of today", ref.Cell)
			}
			return err
		})
		written := write("written.csv", func(table *tableFile[JobRow]) error {
			return e.eachJob(ref, jobColumns, 1, func(r *JobRow) bool {
				return table.write(r, axisValues(e.Plan.Axes, axes)) == nil
			})
		})
		if copied != written || !strings.Contains(copied, `"x,`) {
			t.Errorf("cell %s: copied\n%s\nwritten\n%s", ref.Cell, copied, written)
		}
	}
}

// TestStep: every step-th row is read, whether lines hold quotes or not.
func TestStep(t *testing.T) {
	for _, quote := range []string{"", `"`} {
		text := "t_s,cores_held\n"
		for i := range 10 {
			text += quote + strconv.Itoa(i) + quote + ",1\n"
		}
		var got []float64
		err := readTable(strings.NewReader(text), "test", occupancyColumns, 3, func(o *Occupancy) bool {
			got = append(got, o.At)
			return true
		})
		if err != nil || !slices.Equal(got, []float64{0, 3, 6, 9}) {
			t.Errorf("%v, %v", got, err)
		}
	}
}

// TestTornCell: a cell whose files are not as long as they were is not complete.
func TestTornCell(t *testing.T) {
	dir := t.TempDir()
	s := Setup{Cell: CellRef{Cell: "a", Engine: simulated}, Jobs: []scheduler.Job{{Name: "x-1", Threads: 1}}}
	cell, err := WriteCell(dir, s, AllRecords, nil, nil, Cell{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range cell.Files {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "decisions.jsonl events.jsonl jobs.csv occupancy.csv" {
		t.Errorf("files: %s", got)
	}
	if !Intact(dir) {
		t.Error("the cell is not complete")
	}
	if err := os.Truncate(filepath.Join(dir, JobsFile), 10); err != nil {
		t.Fatal(err)
	}
	if Intact(dir) {
		t.Error("a cell with half of its jobs is complete")
	}
	if _, err := readCell(dir, s.Cell); !errors.Is(err, errTorn) {
		t.Errorf("reading it: %v", err)
	}
}
