package estimator

import (
	"math"
	"strings"
	"testing"
)

// The first unit of a known job is not used: it warms up.
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

// A law of the batch is fitted where there are several, and nothing is taken from a resource without one.
func TestBatchesOfScaling(t *testing.T) {
	at := func(threads, batch int, seconds float64) point {
		return point{at: Resource{Threads: threads, Batch: batch}, log: math.Log(seconds)}
	}
	for _, c := range []struct {
		points []point
		want   bool
	}{
		{[]point{at(1, 8, 4), at(2, 8, 2), at(4, 8, 1)}, false},
		{[]point{at(1, 8, 4), at(2, 16, 1), at(4, 8, 1)}, true},
	} {
		if l, _ := choose(c.points); l.batch != c.want {
			t.Errorf("%v: the law has the batch: %t", c.points, l.batch)
		}
	}
	f := fitted{law: law{batch: true}, one: 2, beta: 0.5}
	if got := f.log(Resource{Threads: 1}); got != 2 {
		t.Errorf("without a batch the log pace is %g", got)
	}
	if got := f.log(Resource{Threads: 1, Batch: 4}); math.Abs(got-(2-math.Log(2))) > 1e-9 {
		t.Errorf("with a batch of 4 the log pace is %g", got)
	}
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

// What other jobs say of another host counts, of those that ran here and there.
func TestJobsThatRanHereAlone(t *testing.T) {
	run := func(job, host string, pace float64) Run {
		return Run{Job: job, Kind: "k", Resource: Resource{Host: host, Threads: 1}, Length: 4, Seconds: 4 * pace,
			Units: []float64{pace, pace, pace, pace}}
	}
	past := []Run{run("own", "there", 2), run("other", "there", 3), run("other", "here", 6), run("third", "here", 50)}
	p := Problem{Job: "own", Kind: "k"}
	b, _, known := remember(p, past, Resource{Host: "here", Threads: 1}, 0)
	if !known || math.Abs(math.Exp(b.mean)-4) > 0.4 {
		t.Errorf("its pace here is %g, want about twice 2", math.Exp(b.mean))
	}
	without, _, _ := remember(p, past[:3], Resource{Host: "here", Threads: 1}, 0)
	if math.Abs(without.mean-b.mean) > 0.2 {
		t.Errorf("a job that ran here alone changes %g to %g", without.mean, b.mean)
	}
}

// What runs took beyond their units is known of those alone that have reported all of several units.
func TestStartupOfWholeRuns(t *testing.T) {
	whole := Run{Job: "a", Kind: "k", Length: 3, Seconds: 7, Units: []float64{3, 1, 1}}
	one := Run{Job: "a", Kind: "k", Length: 1, Seconds: 50, Units: []float64{1}}
	part := Run{Job: "a", Kind: "k", Length: 9, Seconds: 90, Units: []float64{1, 1, 1}}
	if got := startup(Problem{Job: "a", Kind: "k"}, []Run{one, whole, part}); got != 4 {
		t.Errorf("a start takes %g s, want 4", got)
	}
	if got := startup(Problem{Job: "a"}, []Run{one, part}); got != 0 {
		t.Errorf("of no whole run it takes %g s", got)
	}
}
