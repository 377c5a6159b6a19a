package tuning

import "testing"

// TestRegretCaption: the caption mentions the median, and the greatest distance, only of pictures that have them.
func TestRegretCaption(t *testing.T) {
	const begin = "Distance of the best feasible settings so far from the best known ones, by number of trials"
	const end = ". The dashed line is at 10%. Lower is better."
	for _, c := range []struct {
		runs   int
		first  float64
		middle string
	}{
		{1, 40, ". Cube-root scale"},
		{1, mostRegret, ". Cube-root scale; 1000% = no feasible settings yet, or a greater distance"},
		{3, 40, ": the median over replicates, and its 95% confidence interval. Cube-root scale"},
	} {
		values := []float64{c.first, 0}
		got := regretFigure("t", []curve{{label: "bo", runs: c.runs, median: values, low: values, high: values}}).Caption
		if want := begin + c.middle + end; got != want {
			t.Errorf("%d runs from %g%%: %q, want %q", c.runs, c.first, got, want)
		}
	}
}
