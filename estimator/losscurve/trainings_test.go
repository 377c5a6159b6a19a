package losscurve

import (
	"strings"
	"testing"

	"github.com/tfexp/tfexp/hardware/need"
)

// trained returns the curves of a set of trainings, known or held out.
func trained(t *testing.T, set string) []curve {
	t.Helper()
	var curves []curve
	for _, row := range rows(t, "testdata/trainings.csv") {
		if row[0] != set {
			continue
		}
		c := curve{name: row[1], target: number(t, row[2])}
		for i, loss := range strings.Fields(row[3]) {
			c.points = append(c.points, Point{Step: float64(i + 1), Loss: number(t, loss)})
		}
		curves = append(curves, c)
	}
	return curves
}

// Predictions on trainings of other programs and data stay within the given mean error and coverage at each part of the
// run. In these trainings the learning rate drops without a report. The held-out trainings were not used to choose
// constants.
func TestTrainingsOfOtherPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	for _, set := range []string{"known", "held out"} {
		curves := trained(t, set)
		for _, at := range []struct{ part, off, covered float64 }{
			{0.1, 0.9, 0.82}, {0.2, 0.7, 0.82}, {0.4, 0.55, 0.82}, {0.6, 0.5, 0.82},
		} {
			if (set == "known" || at.part == 0.1 || at.part == 0.6) && !need.Long() {
				continue
			}
			q := judge(t, combined, curves, at.part)
			t.Logf("%-9s after %2.0f%%: off by %5.1f%%, covered %3.0f%%", set, 100*at.part, 100*q.off, 100*q.covered)
			if q.off > at.off || q.covered < at.covered {
				t.Errorf("%s, after %.0f%%: off by %.1f%%, covered %.0f%%", set, 100*at.part, 100*q.off, 100*q.covered)
			}
		}
	}
}
