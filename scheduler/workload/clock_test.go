package workload

import (
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// A span is drawn for each job, unless it is fixed. Its text is as in experiments.
func TestSpans(t *testing.T) {
	for _, c := range []struct {
		span  Span
		fixed bool
		text  string
	}{
		{Span{Kind: Every, Mean: 500 * time.Millisecond}, true, "500ms"},
		{Span{Kind: Exponential, Mean: 100 * time.Second}, false, "exponential(1m40s)"},
		{Span{Kind: Normal, Mean: 100 * time.Second, SD: 10 * time.Second}, false, "normal(1m40s, 10s)"},
	} {
		rng := Stream(1, "spans")
		sum, squares, n := 0.0, 0.0, 4000
		for range n {
			v := c.span.Draw(rng).Seconds()
			sum, squares = sum+v, squares+v*v
		}
		mean := sum / float64(n)
		variance, want := squares/float64(n)-mean*mean, map[ArrivalKind]float64{Exponential: 1e4, Normal: 100}[c.span.Kind]
		if c.span.Fixed() != c.fixed || c.span.String() != c.text || mean/c.span.Mean.Seconds() < 0.94 ||
			mean/c.span.Mean.Seconds() > 1.06 || variance < 0.85*want || variance > 1.15*want+1e-6 {
			t.Errorf("%s: fixed %t, a mean of %g s and a variance of %g", c.span, c.span.Fixed(), mean, variance)
		}
	}
	if d := (Span{Kind: Normal, SD: time.Second}); d.Draw(Stream(2, "a")) < 0 || d.Draw(Stream(3, "a")) < 0 {
		t.Error("a span below 0")
	}
}

// The hash of a workload includes properties that have no column: the units of jobs, and their weights.
func TestWriteRest(t *testing.T) {
	var out strings.Builder
	WriteRest(&out, []scheduler.Job{{}, {Special: &scheduler.Special{Units: 3}}, {Special: &scheduler.Special{Weight: 2}}, {Special: &scheduler.Special{Units: 1, Weight: 0.5}}})
	if want := "1 has 3 units of work and the weight 0\n2 has 0 units of work and the weight 2\n" +
		"3 has 1 units of work and the weight 0.5\n"; out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
