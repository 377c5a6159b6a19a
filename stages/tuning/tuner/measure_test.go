package tuner

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tfexp/tfexp/estimator/losscurve"
)

// near reports whether two numbers are equal up to rounding errors.
func near(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-9*math.Max(1, math.Abs(b)) }

// The first interval between reports includes the cost of the change. Reports that arrive at once count as one.
func TestIntervals(t *testing.T) {
	s := settingPeriod{first: math.NaN()}
	for _, c := range []struct {
		seconds, units, told float64
		first, inFirst       float64
		each, length         []float64
	}{
		{5, 2, 1, 5, 2, nil, nil},
		{0.39, 2, 1, 5.39, 4, nil, nil}, // less than a fifth of 2 s
		{0.4, 2, 1, 5.39, 4, []float64{0.2}, []float64{2}},
		{3, 2, 1, 5.39, 4, []float64{0.2, 1.5}, []float64{2, 2}},
		{0.1, 1, 1, 5.39, 4, []float64{0.2, 3.1 / 3}, []float64{2, 3}},
		{0.1, 1, math.NaN(), 5.39, 4, []float64{0.2, 3.1 / 3, 0.1}, []float64{2, 3, 1}}, // the program reports no times
		{0.9, 1, 3, 5.39, 4, []float64{0.2, 3.1 / 3, 0.1, 0.9}, []float64{2, 3, 1, 1}},  // more than a fifth of 3 s
	} {
		s.add(c.seconds, c.units, c.told)
		if !near(s.first, c.first) || s.units != c.inFirst || !slices.EqualFunc(s.each, c.each, near) || !slices.Equal(s.length, c.length) {
			t.Errorf("%g s, %g units: %+v, want %+v", c.seconds, c.units, s, c)
		}
	}
}

// A pace is the median of the intervals. Before the first one, it is the first interval less the mean cost of such a
// change.
func TestPace(t *testing.T) {
	c := Controller{now: settingPeriod{first: 10, units: 4}}
	if c.pace() != 2.5 {
		t.Errorf("before anything is known of the cost, it is %g", c.pace())
	}
	c.costs = [2]mean{{sum: 4, n: 2}, {sum: 6, n: 1}}
	if c.pace() != 2 {
		t.Errorf("with a change in place that costs 2 s, it is %g", c.pace())
	}
	if c.now.anew = true; c.pace() != 1 {
		t.Errorf("with a start that costs 6 s, it is %g", c.pace())
	}
	for _, v := range []struct {
		each []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{5, 3}, 4}, {[]float64{5, 1, 2}, 2}, {[]float64{9, 1, 2, 4}, 3}} {
		if c.now.each = v.each; c.pace() != v.want {
			t.Errorf("of %g it is %g, want %g", v.each, c.pace(), v.want)
		}
	}
}

// A measured period gives a trial, the cost of its change, and the spread of its reports.
func TestMeasured(t *testing.T) {
	x := func(v float64) []float64 { return []float64{v} }
	c := Controller{at: x(0), factor: 1, now: settingPeriod{first: 7, units: 2, each: []float64{1, 2, 4}}}
	c.measured()
	if c.start != 3 || c.costs != [2]mean{} {
		t.Errorf("the first start costs %g, and changes %v", c.start, c.costs)
	}
	if want := 2 * math.Ln2 * math.Ln2; !near(c.spread.sum, want) || c.spread.n != 2 {
		t.Errorf("the spread is %+v, want %g of 2", c.spread, want)
	}
	if want := math.Sqrt((4*0.05*0.05 + 2*math.Ln2*math.Ln2) / 6); !near(c.deviation(), want) {
		t.Errorf("the deviation is %g, want %g", c.deviation(), want)
	}
	c.at, c.now, c.failed = x(1), settingPeriod{first: 5, units: 2, each: []float64{2}, before: x(0)}, 2
	c.measured()
	// the cost is not negative
	c.at, c.now = x(2), settingPeriod{first: 3, units: 3, each: []float64{2}, before: x(1), anew: true}
	c.measured()
	if c.costs != [2]mean{{1, 1}, {0, 1}} || c.now.before != nil || c.failed != 0 {
		t.Errorf("the costs are %v, %+v", c.costs, c.now)
	}
	c.at, c.now = x(3), settingPeriod{first: 6, units: 2, before: x(2)} // clearly measured after its first interval
	c.measured()
	if t4 := c.trials[3]; t4.pace != 2.5 || t4.reports != 1 || c.costs[0].n != 1 {
		t.Errorf("after one interval: %+v, %v", t4, c.costs)
	}
	// The first point again: the result is the mean of the logarithms of its three reports of 2 and of these two of 4.
	c.at, c.now = x(0), settingPeriod{first: 4, units: 1, each: []float64{4, 4}, before: x(3)}
	c.measured()
	if k := c.find(x(0)); len(c.trials) != 4 || k != 0 || c.trials[0].reports != 5 || !near(c.trials[0].pace, math.Pow(2, 1.4)) {
		t.Errorf("measured twice: %+v", c.trials)
	}
	// If a setting affects learning, only the newest measurement counts.
	c.Learns = []bool{true}
	c.at, c.now = x(0), settingPeriod{first: 4, units: 1, each: []float64{8, 8}, before: x(1)}
	if c.measured(); c.trials[0].pace != 8 || c.trials[0].reports != 2 {
		t.Errorf("measured again: %+v", c.trials[0])
	}
	if c.find(x(9)) != -1 || c.best() != 1 {
		t.Errorf("of %+v the best is %d", c.trials, c.best())
	}
	c.trials[1].pace, c.trials[3].pace = math.Inf(1), 1.5
	if c.best() != 3 {
		t.Errorf("of %+v the best is %d", c.trials, c.best())
	}
	for i, tried := range c.tried() {
		if crashed := tried.State == "crashed"; crashed != (i == 1) || !crashed && tried.Objective != c.trials[i].pace {
			t.Errorf("trial %d is for methods %+v", i, tried)
		}
	}
}

// The loss falls by a power of the units. If it falls half as fast as before a change, the setting counts as half as
// fast, within bounds.
func TestSlope(t *testing.T) {
	c := Controller{curve: []losscurve.Point{{Step: 1, Loss: 8}, {Step: 2, Loss: 4}, {Step: 4, Loss: 2}, {Step: 16, Loss: 1}}}
	for from, want := range []float64{0, 0.75, 2.0 / 3, 0.5, 0, 0} {
		if got := c.slope(from); !near(got, want) {
			t.Errorf("from %d on the exponent is %g, want %g", from, got, want)
		}
	}
	for _, last := range []losscurve.Point{{Step: 20, Loss: 0}, {Step: 20, Loss: -1}, {Step: 16, Loss: 0.5}, {Step: 3, Loss: 0.5}} {
		d := c
		if d.curve = append(slices.Clone(c.curve), last); d.slope(4) != 0 {
			t.Errorf("with %+v behind, the exponent is %g", last, d.slope(4))
		}
	}
	if d := (Controller{curve: []losscurve.Point{{Step: 1, Loss: 0}, {Step: 2, Loss: 1}}}); d.slope(1) != 0 {
		t.Errorf("from a loss of nothing the exponent is %g", d.slope(1))
	}
	for _, k := range []struct{ before, factor float64 }{{1, 2}, {0.5, 1}, {0.25, 0.5}, {9, 4}, {0.01, 0.25}, {0, 1}, {-1, 1}} {
		d := Controller{Options: Options{Learns: []bool{true}}, curve: c.curve, factor: 1, at: []float64{1},
			now: settingPeriod{first: 3, units: 1, each: []float64{2, 2}, from: 3, speed: k.before, before: []float64{0}}}
		if d.measured(); !near(d.factor, k.factor) || !near(d.trials[0].pace, 2*k.factor) || d.trials[0].loss != 1 {
			t.Errorf("with %g before, the factor is %g, and the trial %+v; want %g", k.before, d.factor, d.trials[0], k.factor)
		}
		for name, change := range map[string]func(*Controller){
			"a setting that changes nothing": func(d *Controller) { d.Learns[0] = false },
			"the same setting":               func(d *Controller) { d.at[0] = 0 },
			"the first stretch":              func(d *Controller) { d.now.before = nil },
		} {
			d := Controller{Options: Options{Learns: []bool{true}}, curve: c.curve, factor: 1, at: []float64{1},
				now: settingPeriod{first: 3, units: 1, each: []float64{2, 2}, from: 3, speed: k.before, before: []float64{0}}}
			change(&d)
			if d.measured(); d.factor != 1 {
				t.Errorf("%s: the factor is %g", name, d.factor)
			}
		}
	}
}

// A period ends after all of its reports, or earlier if its pace differs by more than three standard deviations.
func TestEnough(t *testing.T) {
	made := func(each ...float64) Controller {
		return Controller{Options: Options{Stretch: 3}, factor: 1, at: []float64{1}, trials: []trial{{at: []float64{0}, pace: 1, reports: 4}},
			costs: [2]mean{{sum: 2, n: 2}, {}}, now: settingPeriod{first: 3, units: 2, each: each, before: []float64{0}}}
	}
	// With sd = 0.05·√(1/k+1/4): after one report 3 sd are 0.1677, after two 0.1299.
	for _, c := range []struct {
		name   string
		each   []float64
		change func(*Controller)
		want   bool
	}{
		{"all reports", []float64{1, 1, 1}, nil, true},
		{"one that is as fast", []float64{1}, nil, false},
		{"one that is faster, hardly", []float64{math.Exp(-0.167)}, nil, false},
		{"one that is surely faster", []float64{math.Exp(-0.168)}, nil, true},
		{"one that is surely slower", []float64{math.Exp(0.168)}, nil, true},
		{"two that are hardly slower", []float64{math.Exp(0.129), math.Exp(0.129)}, nil, false},
		{"two that are surely slower", []float64{math.Exp(0.131), math.Exp(0.131)}, nil, true},
		{"one of a setting that learns twice as fast", []float64{2}, func(c *Controller) { c.factor = 0.5 }, false},
		{"no trial", []float64{9}, func(c *Controller) { c.trials = nil }, false},
		{"no change", []float64{9}, func(c *Controller) { c.now.before = nil }, false},
		{"nothing more is tried", []float64{9}, func(c *Controller) { c.over = true }, false},
		{"the best itself", []float64{9}, func(c *Controller) { c.trials[0].at = []float64{1} }, false},
		{"a setting that changes what is learned", []float64{9}, func(c *Controller) { c.Learns = []bool{true} }, false},
		// The first interval of 2 units has a cost of 1 s in it, known to 0.3 s: 0.15/y of the pace y, in addition to
		// 0.05·√(5/4).
		{"a first interval as fast as the best", nil, nil, false},
		{"a first interval that is slower", nil, func(c *Controller) { c.now.first = 1 + 2*1.35 }, false}, // 0.3 of 3·0.124
		{"a first interval that is surely slower", nil, func(c *Controller) { c.now.first = 1 + 2*1.5 }, true},
		// the cost of changes is known only to within a half
		{"a first interval that is surely faster", nil, func(c *Controller) { c.now.first = 1 + 2*0.3 }, false},
		{"less than its cost", nil, func(c *Controller) { c.now.first = 1 }, false},
		{"of a change that was never made", nil, func(c *Controller) { c.now.first, c.now.anew = 9, true }, false},
	} {
		d := made(c.each...)
		if c.change != nil {
			c.change(&d)
		}
		if got := d.enough(); got != c.want {
			t.Errorf("%s: enough %t", c.name, got)
		}
	}
}

// A program had to restart although it should change in place. The settings that it cannot change while it runs are the
// cause, or else all changed settings.
func TestNeedsStart(t *testing.T) {
	for _, c := range []struct {
		live, anew  []bool
		before, now []float64
		want        []bool
	}{
		{nil, []bool{false, false, false}, []float64{0, 0, 0}, []float64{1, 1, 0}, []bool{true, true, false}},
		{[]bool{true, false, false}, []bool{false, false, false}, []float64{0, 0, 0}, []float64{1, 1, 0}, []bool{false, true, false}},
		{[]bool{true, true, false}, []bool{false, false, false}, []float64{0, 0, 0}, []float64{1, 1, 0}, []bool{true, true, false}},
		{[]bool{true, false, false}, []bool{true, false, false}, []float64{0, 0, 0}, []float64{1, 1, 0}, []bool{true, false, false}},
		{[]bool{true, false, false}, []bool{true, false, false}, []float64{1, 0, 0}, []float64{1, 1, 0}, []bool{true, true, false}},
	} {
		d := Controller{Options: Options{Live: c.live}, at: c.now, anew: slices.Clone(c.anew)}
		if d.needsStart(c.before); !slices.Equal(d.anew, c.want) {
			t.Errorf("%+v: %v", c, d.anew)
		}
		to := slices.Clone(c.now)
		if d.restarts(to) {
			t.Errorf("%+v: it is restarted for the same settings", c)
		}
		for i := range to {
			if to[i]++; d.restarts(to) != c.want[i] {
				t.Errorf("%+v: setting %d is changed by a new start: %t", c, i, !c.want[i])
			}
			to[i]--
		}
	}
}

// The pace is checked again after a number of reports. The search starts again if the pace has changed by more than
// random variation.
func TestLooksAgain(t *testing.T) {
	for stretch, want := range map[int]int{1: 8, 2: 8, 3: 12} {
		if got := firstPaceCheck(stretch); got != want {
			t.Errorf("after stretches of %d, the first look is after %d reports, want %d", stretch, got, want)
		}
	}
	made := func(pace float64) Controller {
		c := Controller{factor: 2, at: []float64{0}, over: true, expectedPaces: expectedPaces{next: 8, looks: 1},
			trials: []trial{
				{at: []float64{0}, pace: 1, reports: 2}, {at: []float64{1}, pace: 3, reports: 2}, {at: []float64{2}, pace: math.Inf(1)}}}
		// only the last half counts
		c.now.each = append(slices.Repeat([]float64{99}, 4), slices.Repeat([]float64{pace / 2}, 4)...)
		return c
	}
	wide := func(c *Controller) {
		c.now.each[4], c.now.each[7] = c.now.each[4]*math.Exp(0.1), c.now.each[7]*math.Exp(-0.1)
	}
	for _, c := range []struct {
		name   string
		pace   float64
		change func(*Controller)
		want   bool
	}{
		{"as before", 1, nil, false},
		{"hardly faster", math.Exp(-0.17), nil, false}, // 4 sd are 4·0.05·√(1/4+1/2) = 0.1732
		{"faster", math.Exp(-0.175), nil, true},
		{"slower", math.Exp(0.175), nil, true},
		{"too early", 2, func(c *Controller) { c.next = 9 }, false},
		{"at no trial", 2, func(c *Controller) { c.at = []float64{5} }, false},
		{"at one that cannot be", 2, func(c *Controller) { c.at = []float64{2} }, false},
		{"measured well, by less than counts", math.Exp(0.135), func(c *Controller) { c.spread.n = 1000 }, false},
		{"measured well, by what counts", math.Exp(0.145), func(c *Controller) { c.spread.n = 1000 }, true},
		// The values e^−0.1, 1, 1 and e^0.1 have a deviation of 0.1·√(2/3), so 4 standard deviations of the difference
		// are 0.2828.
		{"reports that differ a little, by less than chance can", math.Exp(0.27), wide, false},
		{"reports that differ a little, by more", math.Exp(0.29), wide, true},
		{"reports that differ", math.Exp(0.2), func(c *Controller) { c.now.each[4], c.now.each[5] = 0.3, 1.2 }, false},
	} {
		d := made(c.pace)
		if c.change != nil {
			c.change(&d)
		}
		got := d.paceChanged()
		if got != c.want || d.over == got {
			t.Errorf("%s: it looks again: %t", c.name, got)
		}
		if !got {
			continue
		}
		gap := math.Log(c.pace)
		if len(d.trials) != 2 || !near(d.trials[0].pace, c.pace) || d.trials[0].reports != 4 || d.looks != 2 || d.next != 16 ||
			!near(d.apart, math.Abs(gap)/2) || !near(d.shift, math.Log(3)/2) ||
			!near(d.known["[0]"], gap/2) || !near(d.known["[1]"], math.Log(3)) || len(d.known) != 2 {
			t.Errorf("%s: %+v of %+v", c.name, d.expectedPaces, d.trials)
		}
	}
}

// A change that did not happen is undone. The interval in which it was requested counts for the period before.
func TestBack(t *testing.T) {
	for _, c := range []struct {
		first, units float64
		each         []float64
	}{{6, 2, []float64{1, 3}}, {math.NaN(), 2, []float64{1}}, {6, 0, []float64{1}}} {
		d := Controller{at: []float64{1}, now: settingPeriod{first: c.first, units: c.units, before: []float64{0}},
			earlier: settingPeriod{first: 9, units: 1, each: []float64{1}, length: []float64{1}}}
		if d.back(); d.at[0] != 0 || d.now.first != 9 || !slices.Equal(d.now.each, c.each) || len(d.now.length) != len(c.each) {
			t.Errorf("after %g s and %g units, it goes on at %g with %+v", c.first, c.units, d.at, d.now)
		}
	}
}

// A program neither confirms a change in place nor changes its pace. It is restarted if the settings affect learning;
// otherwise the settings count as impossible.
func TestIgnored(t *testing.T) {
	for _, c := range []struct {
		name                string
		live, took, learns  []bool
		change              func(*Controller)
		ignored, starts     bool
		anew, stuck         []bool
		crashed, at, before float64 // impossible trials, and the first point of the settings
	}{
		{name: "both", live: []bool{true, true}, learns: []bool{true, true}, ignored: true, starts: true,
			anew: []bool{true, true}, stuck: []bool{false, false}, at: 1},
		{name: "one that changes nothing that is learned", live: []bool{true, true}, learns: []bool{true, false}, ignored: true,
			anew: []bool{true, true}, stuck: []bool{false, true}, crashed: 1, before: 1},
		{name: "the one of which it says nothing", live: []bool{true, true}, took: []bool{true, false}, learns: []bool{true, true},
			ignored: true, starts: true, anew: []bool{false, true}, stuck: []bool{false, false}, at: 1},
		{name: "it has said both", live: []bool{true, true}, took: []bool{true, true}},
		{name: "it takes nothing on while it runs", live: []bool{false, false}},
		{name: "there is no program", live: nil},
		{name: "it was started anew", live: []bool{true, true}, change: func(c *Controller) { c.now.anew = true }},
		{name: "no change", live: []bool{true, true}, change: func(c *Controller) { c.now.before = nil }},
		{name: "it goes faster", live: []bool{true, true}, change: func(c *Controller) { c.now.each = []float64{1, 1} }},
		{name: "the pace before is not known", live: []bool{true, true}, change: func(c *Controller) { c.trials = nil }},
		{name: "a setting that was not changed", live: []bool{true, false}, change: func(c *Controller) { c.at = []float64{0, 1} }},
	} {
		d := Controller{Options: Options{Names: []string{"a", "b"}, Live: c.live, Learns: c.learns, Values: func(at []float64) []string {
			return []string{fmt.Sprint(at[0]), fmt.Sprint(at[1])}
		}}, at: []float64{1, 1}, factor: 1, anew: make([]bool, 2), stuck: make([]bool, 2),
			trials: []trial{{at: []float64{0, 0}, pace: 2, reports: 2}}}
		d.now = settingPeriod{first: 3, units: 1, each: []float64{2, 2}, before: []float64{0, 0}, took: c.took}
		if c.took == nil {
			d.now.took = make([]bool, 2)
		}
		if c.change != nil {
			c.change(&d)
		}
		a, ignored := d.ignored()
		if ignored != c.ignored || a.Restart != c.starts {
			t.Errorf("%s: ignored %t, %+v", c.name, ignored, a)
		}
		if !ignored {
			continue
		}
		crashed := 0.0
		for _, trial := range d.trials {
			if math.IsInf(trial.pace, 1) {
				crashed++
			}
		}
		if !slices.Equal(d.anew, c.anew) || !slices.Equal(d.stuck, c.stuck) || crashed != c.crashed || d.at[0] != c.at ||
			d.now.before[0] != c.before || d.now.anew != c.starts {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
}
