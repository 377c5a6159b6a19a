package estimator

import (
	"encoding/csv"
	"math"
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

func crowdsOf(t *testing.T, path string) []Crowd {
	var crowds []Crowd
	for _, r := range numbers(t, path) {
		crowds = append(crowds, Crowd{
			Own: r["Cores_Per_C"], Others: r["Cores_Per_C"] * (r["Containers"] - 1), Total: 64, Seconds: r["Time"],
		})
	}
	return crowds
}

// contentionError returns the mean absolute relative error of the law's
// predictions for crowds; the run times of each size are known up to a
// factor.
func contentionError(c Contention, crowds []Crowd) float64 {
	scale, n := map[float64]float64{}, map[float64]float64{}
	for _, m := range crowds {
		scale[m.Own] += math.Log(m.Seconds / c.Slowdown(m.Own, m.Others, m.Total))
		n[m.Own]++
	}
	var sum float64
	for _, m := range crowds {
		sum += math.Abs(math.Exp(scale[m.Own]/n[m.Own])*c.Slowdown(m.Own, m.Others, m.Total)/m.Seconds - 1)
	}
	return sum / float64(len(crowds))
}

// Times of 1 to 80 containers at once on 64 logical cores, fitted on every
// second row, and predicted for the others.
func TestContentionOfContainers(t *testing.T) {
	for _, name := range []string{"", "-v2", "-v4"} {
		crowds := crowdsOf(t, "tf_containers/Scripts_times_contention"+name+".csv")
		var half, rest []Crowd
		for i, c := range crowds {
			if i%2 == 0 {
				half = append(half, c)
			} else {
				rest = append(rest, c)
			}
		}
		c, err := FitContention(half)
		if err != nil {
			t.Fatal(err)
		}
		in, out := contentionError(c, half), contentionError(c, rest)
		t.Logf("contention%s: %+v, error %.1f%%, held out %.1f%%", name, c, 100*in, 100*out)
		if out > 0.06 {
			t.Errorf("contention%s: the law errs by %.1f%% on held-out rows", name, 100*out)
		}
	}
}

func TestContentionIsFoundAgain(t *testing.T) {
	want := Contention{Serial: 0.05, Capacity: 0.6, Sharpness: 3}
	var crowds []Crowd
	for _, own := range []float64{1, 4, 16} {
		for _, jobs := range []float64{1, 2, 4, 8, 32} {
			crowds = append(crowds, Crowd{own, own * (jobs - 1), 32, 100 / own * want.Slowdown(own, own*(jobs-1), 32)})
		}
	}
	got, err := FitContention(crowds)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "serial part", got.Serial, want.Serial, 0.005)
	near(t, "capacity", got.Capacity, want.Capacity, 0.01)
	near(t, "sharpness", got.Sharpness, want.Sharpness, 0.1)
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
	if _, err := FitContention([]Crowd{{1, 0, 4, 10}, {2, 0, 4, 5}, {4, 0, 4, 3}}); err == nil {
		t.Error("a slowdown was fitted without neighbors")
	}
}
