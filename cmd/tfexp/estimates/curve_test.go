package estimates

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/estimator"
)

func TestReadTimings(t *testing.T) {
	groups, err := ReadTimings(strings.NewReader("Cores,Model,Time\n4,a,30\n1,a,100\n2,a,55\n1,b,7\n"), "times")
	if err != nil {
		t.Fatal(err)
	}
	if len(groups) != 2 || groups[0].Group != "Model=a" || len(groups[0].Points) != 3 ||
		groups[0].Points[0] != (Timing{1, 100}) {
		t.Errorf("%+v", groups)
	}
	_, err = ReadTimings(strings.NewReader("threads,seconds\n0,1\n2,-1\n2\n"), "times")
	for _, want := range []string{
		`times:2: threads "0" is not a whole number`, `times:3: seconds "-1" is not a time above 0`,
		"times:4: the row has 1 fields instead of 2",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	_, err = ReadTimings(strings.NewReader("threads,seconds,threads\n1,1,2\n"), "times")
	if err == nil || !strings.Contains(err.Error(), `two columns "threads"`) {
		t.Errorf("a column twice: %v", err)
	}
}

// The run times follow Amdahl's law with a serial part of a tenth. Every second number of threads is left out of the
// fit.
func TestFitCurveHoldsOut(t *testing.T) {
	timings := Timings{File: "times"}
	law := estimator.Curve{Sigma: 0.1}
	for _, n := range []int{1, 2, 4, 8, 16, 32} {
		timings.Points = append(timings.Points, Timing{n, 100 / law.Speedup(float64(n))})
	}
	f, err := FitCurve(timings, []int{24}, true, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(f.Curve.Sigma-0.1) > 0.01 || f.Curve.Law() != "amdahl" {
		t.Errorf("%s %+v", f.Curve.Law(), f.Curve)
	}
	for i, p := range f.Points {
		want := 100 / law.Speedup(float64(p.Threads))
		if math.Abs(p.Seconds/want-1) > 0.02 {
			t.Errorf("%g s on %d threads, want %g", p.Seconds, p.Threads, want)
		}
		if p.Held != (i%2 == 1 && p.Threads != 24) {
			t.Errorf("%d threads: held out is %v", p.Threads, p.Held)
		}
	}
	_, err = FitCurve(Timings{File: "times", Points: timings.Points[:1]}, nil, false, 0.9)
	if !errors.Is(err, estimator.ErrUnfit) {
		t.Errorf("one point gives %v", err)
	}
}
