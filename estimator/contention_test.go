package estimator

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// openData opens a file of the folder with the real measurements, which are
// not part of the repository.
func openData(t *testing.T, name string) *os.File {
	t.Helper()
	dir := os.Getenv("TFEXP_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Skipf("the measurements %s are not here; TFEXP_DATA names the folder that has them", name)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// numbers reads the rows of a table of numbers, by column.
func numbers(t *testing.T, path string) []map[string]float64 {
	t.Helper()
	rows, err := csv.NewReader(openData(t, path)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var table []map[string]float64
	for _, row := range rows[1:] {
		m := map[string]float64{}
		for i, name := range rows[0] {
			x, err := strconv.ParseFloat(row[i], 64)
			if err != nil {
				t.Fatal(err)
			}
			m[name] = x
		}
		table = append(table, m)
	}
	return table
}

func TestSlowdownGrowsFromOne(t *testing.T) {
	c := Contention{Serial: 0.02, Capacity: 0.5, Sharpness: 2}
	if s := c.Slowdown(4, 0, 64); s != 1 {
		t.Errorf("alone: %g", s)
	}
	if s := (Contention{}).Slowdown(4, 60, 64); s != 1 {
		t.Errorf("without contention: %g", s)
	}
	last := 1.0
	for _, others := range []float64{1, 4, 16, 60, 600, 1e6} {
		s := c.Slowdown(4, others, 64)
		if s < last {
			t.Errorf("%g neighbors' cores slow down by %g, fewer by %g", others, s, last)
		}
		last = s
	}
}
