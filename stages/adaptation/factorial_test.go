package adaptation

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// Tables of single effects, or with effects of pairs, have no noise. An addition to one value is found as noise.
func TestFactorialOfKnownEffects(t *testing.T) {
	values := make([]float64, 27)
	at := func(a, b, c int) *float64 { return &values[9*a+3*b+c] }
	for a := range 3 {
		for b := range 3 {
			for c := range 3 {
				*at(a, b, c) = 0.5 + 0.1*float64(a) - 0.03*float64(b*b) + 0.02*float64(c)
			}
		}
	}
	f := newFactorial(values, 3, 3)
	if !nearly(f.MainR2, 1) || !nearly(f.Noise, 0) || !nearly(f.Regret, 0) {
		t.Errorf("single effects: %+v", f)
	}
	for a := range 3 {
		for b := range 3 {
			for c := range 3 {
				*at(a, b, c) += 0.05 * float64(a*c)
			}
		}
	}
	if f = newFactorial(values, 3, 3); f.MainR2 > 0.99 || f.MainR2 < 0.5 || !nearly(f.Noise, 0) {
		t.Errorf("effects of pairs: %+v", f)
	}
	// A change by 1 leaves, after all effects of singles and pairs, ((1−1/3)³)·1 in its sum of squares; 8 are free.
	*at(1, 1, 1)++
	if f = newFactorial(values, 3, 3); !nearly(f.Noise, math.Sqrt(math.Pow(2.0/3, 3)/8)) || !(f.Regret > 0) {
		t.Errorf("a change of one value: %+v", f)
	}
	if f = newFactorial([]float64{.1, .4}, 2, 1); !math.IsNaN(f.Noise) || !math.IsNaN(f.Regret) || f.MainR2 != 1 {
		t.Errorf("one factor: %+v", f)
	}
	if f = newFactorial([]float64{.5, .5, .5, .5}, 2, 2); !math.IsNaN(f.MainR2) || f.Noise != 0 {
		t.Errorf("equal values: %+v", f)
	}
}

func nearly(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// The recorded table gives the same result as an independent computation by least squares.
func TestFactorialOfTheRecordedTable(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "experiments", "papers", "adaptation", "cnn1.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]float64{}
	for _, r := range rows[1:] {
		i, at := 0, 0.0
		for _, a := range r[1:4] {
			n, _ := strconv.Atoi(a)
			i = 4*i + n
		}
		if at, err = strconv.ParseFloat(r[8], 64); err != nil {
			t.Fatal(err)
		}
		if values[r[0]] == nil {
			values[r[0]] = make([]float64, 64)
		}
		values[r[0]][i] = at
	}
	for name, want := range map[string]factorial{
		"early": {.8290, .0114, .0120}, "middle": {.7919, .0146, .0097}, "late": {.4705, .0252, .0358},
	} {
		got := newFactorial(values[name], 4, 3)
		if math.Abs(got.MainR2-want.MainR2) > 1e-4 || math.Abs(got.Noise-want.Noise) > 1e-4 ||
			math.Abs(got.Regret-want.Regret) > 1e-3 {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
