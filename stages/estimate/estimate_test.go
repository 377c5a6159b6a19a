package estimate

import (
	"math"
	"testing"

	"github.com/tfexp/tfexp/estimator"
)

func TestFit(t *testing.T) {
	j := Job{
		Name: "long", Threads: 2, Length: 100, Model: "linear", Level: 0.9,
		Samples: []estimator.Sample{{Length: 3, Wall: 1.6}, {Length: 6, Wall: 2.2}},
	}
	e, row, err := Fit(j)
	if err != nil {
		t.Fatal(err)
	}
	if want := e.Predict(100, 0.9).Seconds; row.Predicted != want || math.Abs(want-21) > 3 || row.Low > 21 || row.High < 21 {
		t.Errorf("predicted %g, the estimate says %g, and the line through the samples 21", row.Predicted, want)
	}
	if row.SampleFraction != 0.09 || row.Samples != 2 || row.Actual >= 0 {
		t.Errorf("%+v", row)
	}
	j.Model = "cubic"
	if _, _, err := Fit(j); err == nil {
		t.Error("an unknown model was accepted")
	}
	j.Model, j.Samples = "linear", nil
	if _, _, err := Fit(j); err == nil {
		t.Error("no samples were fitted")
	}
}
