package record

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/table"
)

// Each line can be read at once under the temporary name. The file is removed when the cell ends.
func TestStandingWriter(t *testing.T) {
	dir := t.TempDir()
	path := table.Temporary(filepath.Join(dir, CellProgressFile))
	w := CellProgressWriter{Dir: dir}
	for n := 1; n <= 3; n++ {
		w.Add(CellProgress{At: float64(n), Jobs: 9, Running: n})
		raw, err := os.ReadFile(path)
		lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
		var last CellProgress
		if err := errors.Join(err, json.Unmarshal([]byte(lines[len(lines)-1]), &last)); err != nil || len(lines) != n ||
			last != (CellProgress{At: float64(n), Jobs: 9, Running: n}) {
			t.Errorf("%d lines, the last %+v, %v", len(lines), last, err)
		}
	}
	w.Close()
	w.Add(CellProgress{})
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	// Nothing is written without a folder, and nothing fails.
	for _, w := range []*CellProgressWriter{{}, {Dir: filepath.Join(dir, "none")}} {
		w.Add(CellProgress{})
		w.Add(CellProgress{})
		w.Close()
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(table.Temporary(CellProgressFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the writer without a folder writes here: %v", err)
	}
	late := CellProgressWriter{Dir: filepath.Join(dir, "soon")}
	late.Add(CellProgress{})
	if err := os.Mkdir(late.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	late.Add(CellProgress{}) // it has given up
	if left, err := os.ReadDir(late.Dir); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}
