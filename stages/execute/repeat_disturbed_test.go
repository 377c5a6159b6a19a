package execute

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/results/record"
)

// A disturbed cell runs again a limited number of times. The files and the warning are of the least disturbed run.
func TestDisturbedCellsRunAgain(t *testing.T) {
	stopped := func(d time.Duration) disturbance { return disturbance{gaps: hardware.Gaps{Stopped: d}} }
	busy := func(cores float64) disturbance { return disturbance{busy: cores} }
	unknown := disturbance{busy: hardware.UnknownLoad}
	const s = time.Second
	for _, c := range []struct {
		name  string
		tries []disturbance
		took  float64 // seconds
		keep  bool
		ran   int
		best  int // number of the run whose files are kept
		warns string
	}{
		{"quiet", []disturbance{busy(0.2)}, 1, false, 1, 1, ""},
		{"unknown load", []disturbance{unknown}, 1, false, 1, 1, ""},
		{"stopped once", []disturbance{stopped(5 * s), unknown}, 1, false, 2, 2, ""},
		{"stopped always", []disturbance{stopped(5 * s), stopped(2 * s), stopped(3 * s)}, 1, false, 3, 2,
			"tfexp could not run for 2.0 s (it was stopped, or the machine was overloaded) while jobs ran: its times are " +
				"too long (the least disturbed of 3 runs)"},
		{"a lasting load", []disturbance{busy(1), busy(0.9)}, 1, false, 2, 2,
			"other programs used 0.9 CPU cores while jobs ran (the least disturbed of 2 runs)"},
		{"a load that ends", []disturbance{busy(1), busy(0.3), busy(0.1)}, 1, false, 3, 3, ""},
		{"a load, then a stop", []disturbance{busy(1), stopped(s), stopped(s)}, 1, false, 3, 1,
			"other programs used 1 CPU cores while jobs ran (the least disturbed of 3 runs)"},
		{"a load on a long cell", []disturbance{busy(1)}, 601, false, 1, 1, "other programs used 1 CPU cores while jobs ran"},
		{"a long cell that was stopped", []disturbance{stopped(s), {}}, 601, false, 2, 2, ""},
		{"asked to keep it", []disturbance{busy(1)}, 1, true, 1, 1, "other programs used 1 CPU cores while jobs ran"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(KeepDisturbed, map[bool]string{true: "1"}[c.keep])
			dir, aside := filepath.Join(t.TempDir(), "cell"), filepath.Join(t.TempDir(), "aside")
			write(t, filepath.Join(dir, "key.txt"), "key")
			ran := 0
			cell, err := undisturbed(dir, aside, &Repeats{}, func() (record.Cell, disturbance, error) {
				if _, err := os.Stat(filepath.Join(dir, record.CellFile)); err == nil {
					t.Error("the run before has left its record")
				}
				d := c.tries[ran]
				ran++
				write(t, filepath.Join(dir, "logs", "job.log"), strconv.Itoa(ran))
				out := record.Cell{Seconds: c.took}
				d.warn(&out, "cell")
				return out, d, record.Amend(dir, out)
			})
			if err != nil || ran != c.ran {
				t.Fatalf("%d runs, want %d; %v", ran, c.ran, err)
			}
			if got := read(t, filepath.Join(dir, "logs", "job.log")); got != strconv.Itoa(c.best) {
				t.Errorf("run %s stays, want %d", got, c.best)
			}
			if got := read(t, filepath.Join(dir, "key.txt")); got != "key" {
				t.Errorf("the key is %q", got)
			}
			var texts []string
			for _, w := range cell.Warnings {
				texts = append(texts, w.Text)
			}
			if got := strings.Join(texts, "; "); got != c.warns {
				t.Errorf("warnings %q, want %q", got, c.warns)
			}
			var onDisk record.Cell
			if err := record.ReadCellFile(dir, &onDisk); err != nil || len(onDisk.Warnings) != len(cell.Warnings) ||
				onDisk.Tries != cell.Tries || c.ran > 1 && cell.Tries != c.ran {
				t.Errorf("recorded %+v, returned %+v, %v", onDisk, cell, err)
			}
			if _, err := os.Stat(aside); err == nil {
				t.Error("what was set aside is still there")
			}
		})
	}
}

// Cells with a common limit of repeated runs do not exceed it.
func TestDisturbedCellsShareWhatIsSpare(t *testing.T) {
	t.Setenv(KeepDisturbed, "")
	spare := Repeats{Bounded: true, Left: 3}
	for i, want := range []int{3, 2, 1} {
		ran := 0
		dir := t.TempDir()
		_, err := undisturbed(dir, filepath.Join(t.TempDir(), "aside"), &spare,
			func() (record.Cell, disturbance, error) {
				ran++
				return record.Cell{}, disturbance{gaps: hardware.Gaps{Stopped: time.Second}}, record.Amend(dir, record.Cell{})
			})
		if err != nil || ran != want {
			t.Errorf("cell %d: %d runs, want %d; %v", i+1, ran, want, err)
		}
	}
}

// Under a lasting load, one cell runs again without success. Other cells run again only when the load has fallen by
// half.
func TestDisturbedCellsBesideALastingLoad(t *testing.T) {
	t.Setenv(KeepDisturbed, "")
	var repeats Repeats
	for i, c := range []struct {
		busy float64
		ran  int
	}{{2, 2}, {2, 1}, {1.5, 1}, {0.9, 2}, {2, 1}} {
		ran, dir := 0, t.TempDir()
		_, err := undisturbed(dir, filepath.Join(t.TempDir(), "aside"), &repeats,
			func() (record.Cell, disturbance, error) {
				ran++
				return record.Cell{}, disturbance{busy: c.busy}, record.Amend(dir, record.Cell{})
			})
		if err != nil || ran != c.ran {
			t.Errorf("cell %d: %d runs, want %d; %v", i+1, ran, c.ran, err)
		}
	}
}

// If other programs use the machine, repeated runs take at most a quarter of the time, or 30 s. Repeated runs after a
// gap do not count.
func TestFurtherRunsAreBoundedByTime(t *testing.T) {
	busy, gap := disturbance{busy: 1}, disturbance{gaps: hardware.Gaps{Suspended: time.Hour}, busy: hardware.UnknownLoad}
	for _, c := range []struct {
		repeats Repeats
		by      disturbance
		took    time.Duration
		want    bool
	}{
		{Repeats{first: 29 * time.Second}, busy, 29 * time.Second, true},
		{Repeats{first: 31 * time.Second}, busy, 31 * time.Second, false},
		{Repeats{first: 31 * time.Second}, gap, 31 * time.Second, true},
		{Repeats{first: time.Hour, further: 14 * time.Minute}, busy, time.Minute, true},
		{Repeats{first: time.Hour, further: 14 * time.Minute}, busy, 2 * time.Minute, false},
	} {
		if got := c.repeats.allows(c.by, c.took); got != c.want {
			t.Errorf("%+v after %v: %v", c.repeats, c.took, got)
		}
	}
}

// An error in a repeated run ends the cell.
func TestDisturbedCellThatCannotRunAgain(t *testing.T) {
	t.Setenv(KeepDisturbed, "")
	dir, aside := filepath.Join(t.TempDir(), "cell"), filepath.Join(t.TempDir(), "aside")
	gone := errors.New("gone")
	ran := 0
	_, err := undisturbed(dir, aside, &Repeats{}, func() (record.Cell, disturbance, error) {
		if ran++; ran == 2 {
			return record.Cell{}, disturbance{}, gone
		}
		write(t, filepath.Join(dir, record.CellFile), "{}")
		return record.Cell{}, disturbance{gaps: hardware.Gaps{Suspended: time.Second}}, nil
	})
	if !errors.Is(err, gone) || ran != 2 {
		t.Errorf("%d runs, %v", ran, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The message before a cell runs again names the gap, or how busy the machine was.
func TestWhyACellRunsAgain(t *testing.T) {
	if got := (disturbance{busy: 1.84}).why(); got != "other programs used 1.8 CPU cores" {
		t.Errorf("a busy machine: %q", got)
	}
	stopped := disturbance{busy: 1.84}
	stopped.gaps.Stopped = 3 * time.Second
	if got := stopped.why(); !strings.Contains(got, "stopped") {
		t.Errorf("a stop: %q", got)
	}
}
