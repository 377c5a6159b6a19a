package estimator

import (
	"math"
	"strings"
	"testing"
)

// The first unit of a job is slower, so it is not used if the job has an estimate.
func TestUpdateLeavesOutTheFirstUnit(t *testing.T) {
	known := Estimate{Slope: 1, SlopeSE: 0.1, PaceSD: 0.1, DF: 5, Resource: Resource{Threads: 1}}
	slow := Unit{{Seconds: 5, Threads: 1}}
	if got := known.Update([]Unit{slow}); got.Slope != 1 {
		t.Errorf("after its first unit the pace is %g", got.Slope)
	}
	if got := known.Update([]Unit{slow, slow}); got.Slope <= 1 {
		t.Errorf("after two units the pace is %g", got.Slope)
	}
	unknown := Estimate{Resource: Resource{Threads: 1}}
	if got := unknown.Update([]Unit{slow}); math.Abs(got.Slope-5) > 1e-9 {
		t.Errorf("of a job of which nothing is known the pace is %g after a unit of 5 s", got.Slope)
	}
}

// Samples without a number of threads give no speed-up. Each law of scaling is found by its name.
func TestFormsOfScaling(t *testing.T) {
	samples := []Sample{{Length: 2, Threads: 1, Wall: 4}, {Length: 4, Threads: 1, Wall: 8}, {Length: 2, Wall: 3}, {Length: 4, Wall: 6}}
	if _, err := (Scaling{}).Fit(Problem{Samples: samples}); err == nil || !strings.Contains(err.Error(), "without threads") {
		t.Errorf("a sample without threads: %v", err)
	}
	for want, c := range map[string]Curve{"linear": {}, "amdahl": {Sigma: 0.1}, "usl": {Sigma: 0.1, Kappa: 0.1}, "limited": {Sigma: 0.1, Kappa: 0.1, Limit: 2}} {
		if got := c.Law(); got != want {
			t.Errorf("%+v is %s", c, got)
		}
	}
	if got := (fitted{curve0: Curve{Limit: 8}}).curve(Resource{Inter: 2, Intra: 3}); got.Limit != 6 {
		t.Errorf("pools of 6 threads: %+v", got)
	}
	if got := (fitted{curve0: Curve{Limit: 4}}).curve(Resource{Inter: 2, Intra: 3}); got.Limit != 4 {
		t.Errorf("a limit of 4 threads: %+v", got)
	}
	if got := (fitted{}).curve(Resource{Inter: 2}); got.Limit != 0 {
		t.Errorf("without pools: %+v", got)
	}
}
