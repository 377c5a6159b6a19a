package contention

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/tfexp/tfexp/estimator"
)

// numbers reads a table of numbers by column. The table is in the folder of real measurements, which are not part of
// the repository.
func numbers(t *testing.T, path string) (table []map[string]float64) {
	t.Helper()
	dir := os.Getenv("TFEXP_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(path)))
	if err != nil {
		t.Skipf("the measurements %s are not here; TFEXP_DATA names the folder that has them", path)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		m := map[string]float64{}
		for i, name := range rows[0] {
			if m[name], err = strconv.ParseFloat(row[i], 64); err != nil {
				t.Fatal(err)
			}
		}
		table = append(table, m)
	}
	return table
}

func crowdsOf(t *testing.T, path string) []crowd {
	var crowds []crowd
	for _, r := range numbers(t, path) {
		crowds = append(crowds, crowd{
			Own: r["Cores_Per_C"], Others: r["Cores_Per_C"] * (r["Containers"] - 1), Total: 64, Seconds: r["Time"],
		})
	}
	return crowds
}

// contentionError returns the mean absolute relative error of the law's predictions. Run times of each size are known
// only up to a factor.
func contentionError(c estimator.Contention, crowds []crowd) float64 {
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

// Run times of 1 to 80 containers at once on 64 logical cores. Every second row is fitted, and the others are
// predicted.
func TestContentionOfContainers(t *testing.T) {
	for _, name := range []string{"", "-v2", "-v4"} {
		crowds := crowdsOf(t, "tf_containers/Scripts_times_contention"+name+".csv")
		var half, rest []crowd
		for i, c := range crowds {
			if i%2 == 0 {
				half = append(half, c)
			} else {
				rest = append(rest, c)
			}
		}
		c, err := fitted(half)
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
	want := estimator.Contention{Serial: 0.05, Capacity: 0.6, Sharpness: 3}
	var crowds []crowd
	for _, own := range []float64{1, 4, 16} {
		for _, jobs := range []float64{1, 2, 4, 8, 32} {
			crowds = append(crowds, crowd{own, own * (jobs - 1), 32, 100 / own * want.Slowdown(own, own*(jobs-1), 32)})
		}
	}
	got, err := fitted(crowds)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got.Serial-want.Serial) > 0.005 {
		t.Errorf("%s = %g, want %g", "serial part", got.Serial, want.Serial)
	}
	if math.Abs(got.Capacity-want.Capacity) > 0.01 {
		t.Errorf("%s = %g, want %g", "capacity", got.Capacity, want.Capacity)
	}
	if math.Abs(got.Sharpness-want.Sharpness) > 0.1 {
		t.Errorf("%s = %g, want %g", "sharpness", got.Sharpness, want.Sharpness)
	}
}

// A slowdown without neighbors is an error.
func TestTooFewMeasurements(t *testing.T) {
	if _, err := fitted([]crowd{{1, 0, 4, 10}, {2, 0, 4, 5}, {4, 0, 4, 3}}); err == nil {
		t.Error("a slowdown was fitted without neighbors")
	}
}

// Some measurements with neighbors can be fitted, and others cannot.
func TestContentionNeeds(t *testing.T) {
	law := estimator.Contention{Serial: 0.05, Capacity: 0.7, Sharpness: 4}
	var crowds []crowd
	rng := rand.New(rand.NewPCG(1, 1))
	for _, others := range []float64{0, 2, 4, 6} {
		crowds = append(crowds, crowd{2, others, 8, 3 * law.Slowdown(2, others, 8) * (1 + 1e-6*rng.NormFloat64())})
	}
	if _, err := fitted(crowds[:3]); err == nil {
		t.Error("two differences are enough for three parameters")
	}
	c, err := fitted(crowds)
	if err != nil {
		t.Fatal(err)
	}
	for _, others := range []float64{2, 4, 6} {
		if got, want := c.Slowdown(2, others, 8), law.Slowdown(2, others, 8); math.Abs(got-want) > 1e-3 {
			t.Errorf("slowdown %g, want %g", got, want)
		}
	}
	for _, bad := range []crowd{{0, 1, 8, 1}, {1, -1, 8, 1}, {1, 1, 0, 1}, {1, 1, 8, 0}} {
		if _, err := fitted(append([]crowd{bad}, crowds...)); err == nil {
			t.Errorf("%+v was fitted", bad)
		}
		if s := law.Slowdown(bad.Own, bad.Others, bad.Total); bad.Seconds > 0 && s != 1 {
			t.Errorf("%+v is slowed by %g", bad, s)
		}
	}
	for _, none := range []estimator.Contention{{}, {Capacity: 1}, {Sharpness: 1}} {
		if s := none.Slowdown(1, 7, 8); s != 1 {
			t.Errorf("%+v slows by %g", none, s)
		}
	}
}
