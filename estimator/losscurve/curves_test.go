package losscurve

import (
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/hardware/need"
)

// curve has the losses of a whole training until its target.
type curve struct {
	name   string
	points []Point
	target float64
}

// shipped returns curves of real trainings: from curves, whose settings were chosen, or from drawn, whose settings
// and targets were drawn at random.
func shipped(t *testing.T, kind string) []curve {
	t.Helper()
	var curves []curve
	for _, row := range rows(t, "testdata/"+kind+".csv") {
		c := curve{name: row[0], target: number(t, row[1])}
		for _, r := range rows(t, filepath.Join("testdata", kind, c.name+".csv")) {
			c.points = append(c.points, Point{Step: number(t, r[0]), Loss: number(t, r[1])})
			if c.points[len(c.points)-1].Loss <= c.target {
				break
			}
		}
		curves = append(curves, c)
	}
	return curves
}

func rows(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all[1:]
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// quality says how good a model's predictions are after a part of the run.
type quality struct {
	off, covered, n float64
}

// judge predicts the end of each curve from its first part, and returns the quality of these predictions.
func judge(t *testing.T, m Model, curves []curve, part float64) quality {
	t.Helper()
	var q quality
	for _, c := range curves {
		cut := max(int(math.Round(part*float64(len(c.points)))), Least)
		f, ok := m.Forecast(c.points[:cut], Ask{Target: c.target, Level: 0.9, Seed: 1})
		if !ok {
			t.Fatalf("%s: no forecast by %s", c.name, m.Name)
		}
		truth := c.points[len(c.points)-1].Step - c.points[cut-1].Step
		q.off += math.Abs(f.Steps-truth) / truth
		if f.Low <= truth && truth <= f.High {
			q.covered++
		}
		q.n++
	}
	q.off, q.covered = q.off/q.n, q.covered/q.n
	return q
}

func TestRemainingStepsOfShippedCurves(t *testing.T) {
	for _, m := range Models() {
		line, covered := "", 0.0
		at := map[float64]quality{}
		for _, part := range []float64{0.1, 0.2, 0.4, 0.6} {
			q := judge(t, m, shipped(t, "curves"), part)
			at[part] = q
			covered += q.covered / 4
			line += fmt.Sprintf("  %2.0f%%: off by %5.1f%%, covered %3.0f%%", 100*part, 100*q.off, 100*q.covered)
		}
		t.Logf("%-12s%s", m.Name, line)
		if covered < 0.85 || covered > 0.97 {
			t.Errorf("%s: the 90%% intervals hold %.0f%%", m.Name, 100*covered)
		}
		if m.Name == Default && at[0.4].off > 0.15 {
			t.Errorf("%s: off by %.1f%% at 40%% of the run", m.Name, 100*at[0.4].off)
		}
	}
}

// On trainings with random settings and targets, intervals have the right coverage at each part of the run, and for
// each family over all parts.
func TestIntervalsOfDrawnCurves(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	families, together := map[string][]curve{}, shipped(t, "drawn")
	for _, c := range together {
		family, _, _ := strings.Cut(c.name, "_")
		families[family] = append(families[family], c)
	}
	total := map[float64]quality{}
	parts := []float64{0.1, 0.4}
	if need.Long() {
		parts = []float64{0.1, 0.2, 0.4, 0.6}
	}
	for _, family := range slices.Sorted(maps.Keys(families)) {
		curves, line, covered := families[family], "", 0.0
		for _, part := range parts {
			q := judge(t, combined, curves, part)
			line += fmt.Sprintf("  %2.0f%%: off by %5.1f%%, covered %3.0f%%", 100*part, 100*q.off, 100*q.covered)
			share := float64(len(curves)) / float64(len(together))
			all := total[part]
			total[part] = quality{off: all.off + share*q.off, covered: all.covered + share*q.covered}
			covered += q.covered / float64(len(parts))
		}
		t.Logf("%-8s%s", family, line)
		if covered < 0.6 {
			t.Errorf("%s: the 90%% intervals hold %.0f%%", family, 100*covered)
		}
	}
	for _, part := range parts {
		q := total[part]
		t.Logf("after %2.0f%%: off by %5.1f%%, covered %3.0f%%", 100*part, 100*q.off, 100*q.covered)
		if q.covered < 0.85 || q.covered > 0.99 {
			t.Errorf("after %.0f%%: the 90%% intervals hold %.0f%%", 100*part, 100*q.covered)
		}
	}
}
