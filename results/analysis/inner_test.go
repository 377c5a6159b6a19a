package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// Jobs that arrived within the same two seconds are one block. A job that did not finish under both policies is left
// out.
func TestBlocks(t *testing.T) {
	nan := math.NaN()
	b := []jobValue{{"a", 0, 1}, {"b", 1.9, 2}, {"c", 2, 4}, {"d", 3, nan}, {"e", 3, 8}, {"f", 1, 16}}
	c := []jobValue{{"a", 0, 10}, {"b", 1.9, 20}, {"c", 2, 40}, {"d", 3, 80}, {"e", 3, nan}, {"f", 1, 160}}
	want := []stats.Block{{N: 3, Baseline: 19, Candidate: 190}, {N: 1, Baseline: 4, Candidate: 40}}
	if d := cmp.Diff(want, blocks(b, c, 2)); d != "" {
		t.Error(d)
	}
	c[1].name = "x"
	if got := blocks(b, c, 2); got != nil {
		t.Errorf("other jobs: %v", got)
	}
}

// Values at a limit: a p-value of exactly 1 − level is not significant, and a single run is exact.
func TestVerdicts(t *testing.T) {
	jct, _ := measure.MetricByName("mean_jct_s")
	utilization, _ := measure.MetricByName("utilization")
	for _, c := range []struct {
		row  record.ComparisonRow
		m    measure.Metric
		want string
	}{
		{record.ComparisonRow{PValue: 0.25, Level: 0.75, Difference: 1, CILow: 0.9, CIHigh: 1.2}, jct, record.NoDifference},
		{record.ComparisonRow{PValue: 0.25, Level: 0.75, Difference: 1, CILow: 0.3, CIHigh: 3}, jct, record.NoDifference},
		{record.ComparisonRow{PValue: 0.25, Level: 0.75, Difference: 1, CILow: 0.3, CIHigh: 3.1}, jct, record.NotEnoughReplicates},
		{record.ComparisonRow{PValue: 0.25, Level: 0.75, Difference: 1, CIHigh: 2}, jct, record.NotEnoughReplicates},
		{record.ComparisonRow{PValue: 0.2, Level: 0.75, Difference: 1}, jct, record.Worse},
		{record.ComparisonRow{PValue: 0.2, Level: 0.75, Difference: -1}, jct, record.Better},
		{record.ComparisonRow{PValue: 0.2, Level: 0.75, Difference: -1}, utilization, record.Worse},
		{record.ComparisonRow{PValue: math.NaN(), Level: 0.75, Difference: 1}, jct, record.NotEnoughReplicates},
		{record.ComparisonRow{PValue: math.NaN(), Method: record.OneRun, Difference: 1}, jct, record.Worse},
		{record.ComparisonRow{PValue: math.NaN(), Method: record.OneRun}, jct, record.NoDifference},
	} {
		if got := verdict(c.row, c.m); got != c.want {
			t.Errorf("%+v: %s, want %s", c.row, got, c.want)
		}
	}
}

// Errors are relative to the real value. If both values are zero, there is no error; if only the real one is, the error
// is unknown.
func TestErrorsInPercent(t *testing.T) {
	for _, c := range []struct{ simulated, real, want float64 }{
		{11, 10, 10}, {9, 10, -10}, {0, 0, 0}, {1, 0, math.NaN()}, {0, 4, -100},
	} {
		if got := errorPct(c.simulated, c.real); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%g against %g: %g, want %g", c.simulated, c.real, got, c.want)
		}
	}
	for _, c := range []struct{ simulated, real, want float64 }{
		{3, 2, 1}, {0, 0, 0}, {0, 2, -2}, {2, 0, 2}, {-1, 2, math.NaN()}, {2, -1, math.NaN()},
	} {
		if got := apart(c.simulated, c.real); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%g and %g are %g apart, want %g", c.simulated, c.real, got, c.want)
		}
	}
}

// Cells do not have the same jobs if different jobs failed.
func TestSameJobs(t *testing.T) {
	cell := func(finished, failed float64, names ...string) *record.Cell {
		c := &record.Cell{Metrics: MetricsOf(map[string]float64{"finished": finished, "failed": failed})}
		for _, n := range names {
			c.Failures = append(c.Failures, measure.Failure{Job: n})
		}
		return c
	}
	most := float64(measure.MaxFailures)
	for _, c := range []struct {
		name string
		a, b *record.Cell
		want bool
	}{
		{"all finished", cell(2, 0), cell(2, 0), true},
		{"one less", cell(2, 0), cell(1, 0), false},
		{"in another order", cell(1, 2, "x", "y"), cell(1, 2, "y", "x"), true},
		{"others", cell(1, 1, "x"), cell(1, 1, "y"), false},
		{"as many as are kept", cell(1, most, "x"), cell(1, most, "x"), true},
		{"more than are kept", cell(1, most+1, "x"), cell(1, most+1, "x"), false},
	} {
		if got := sameJobs(c.a, c.b); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// An interval covers a run time equal to one of its bounds. An estimate without an interval covers nothing.
func TestCovered(t *testing.T) {
	for _, c := range []struct {
		low, high, service float64
		bounded, covered   int
	}{
		{9, 11, 9, 1, 1}, {9, 11, 11, 1, 1}, {9, 11, 8.9, 1, 0}, {9, 11, 11.1, 1, 0}, {0, 11, 5, 1, 1}, {-1, -1, 5, 0, 0},
	} {
		var l latest
		l.add(record.Estimated{Predicted: 10, Low: c.low, High: c.high}, c.service, 1)
		if l.bounded != c.bounded || l.covered != c.covered || l.corrected {
			t.Errorf("%+v: %+v", c, l)
		}
		var o outcomes
		o.add(record.EstimateRow{Predicted: 10, Low: c.low, High: c.high}, c.service, realCell("c"), 1)
		if o.covered != c.covered {
			t.Errorf("%+v: %d", c, o.covered)
		}
		row := record.EstimateRow{Job: "j", Model: "m", Predicted: 10, Low: c.low, High: c.high}
		want := float64(c.covered)
		if c.bounded == 0 {
			want = math.NaN()
		}
		got := accuracy([]record.EstimateRow{row}, []outcomes{o})[0]
		if got.Coverage != want && !(math.IsNaN(got.Coverage) && math.IsNaN(want)) || !math.IsNaN(got.SD) {
			t.Errorf("%+v: %+v", c, got)
		}
	}
	for want, r := range map[string]record.EstimateRow{
		"h, 1 thread": {Hardware: "h", Threads: 1}, "h, 2 threads": {Hardware: "h", Threads: 2},
		"h, 2 threads, 1 GPUs": {Hardware: "h", Threads: 2, GPUs: 1},
	} {
		if got := resource(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// An estimate is used for its own request only.
func TestEstimatesInForce(t *testing.T) {
	p := predicted{estimated: []record.Estimated{{Job: "j", Threads: 1, Factor: 0}, {Job: "j", Threads: 1, Factor: 1.5},
		{Job: "j", Threads: 2, GPUs: 1, Factor: 2}}}
	for _, c := range []struct {
		job           string
		threads, gpus int
		factor        float64
		known         bool
	}{{"j", 1, 0, 1.5, true}, {"j", 2, 1, 2, true}, {"j", 2, 0, 1, false}, {"k", 1, 0, 1, false}, {"j", 1, 1, 1, false}} {
		e, ok := p.inForce(record.EstimateRow{Job: c.job, Threads: c.threads, GPUs: c.gpus})
		if ok != c.known || e.Factor != c.factor {
			t.Errorf("%+v: %+v, %v", c, e, ok)
		}
	}
}

// If the experiment compares with no policy, profiling is judged against the first policy that has cells with the same
// workload, hardware and values of axes.
func TestProfilingWithoutABaseline(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(e *record.Experiment)
		want   string
	}{
		{"first", func(*record.Experiment) {}, "rr"},
		{"first has no cells", func(e *record.Experiment) { e.Cells = e.Cells[1:] }, "fcfs"},
		{"other hardware", func(e *record.Experiment) { e.Plan.Cells[0].Hardware, e.Cells[0].Hardware = "g", "g" }, "fcfs"},
		{"other workload", func(e *record.Experiment) { e.Plan.Cells[0].Workload, e.Cells[0].Workload = "v", "v" }, "fcfs"},
		{"other load", func(e *record.Experiment) {
			for i, v := range []string{"1", "2", "2"} {
				at := []record.Setting{{Name: "load", Value: v}}
				e.Plan.Cells[i].Axes, e.Cells[i].Axes = at, at
			}
		}, "fcfs"},
		{"nothing to compare with", func(e *record.Experiment) { e.Plan.Estimating = []string{"rr", "fcfs", "sjf"} }, ""},
		{"unknown", func(e *record.Experiment) { e.Cells[2].Metrics.Set(measure.MeanJCT, math.NaN()) }, ""},
	} {
		e := &record.Experiment{Plan: record.Plan{Estimating: []string{"sjf"}}}
		for _, policy := range []string{"rr", "fcfs", "sjf"} {
			ref := record.CellRef{Cell: policy, Workload: "w", Hardware: "h", Policy: policy, Replicate: 1}
			e.Plan.Cells = append(e.Plan.Cells, ref)
			m := MetricsOf(map[string]float64{"makespan_s": 10, "mean_jct_s": 5})
			e.Cells = append(e.Cells, record.Cell{CellRef: ref, Metrics: m})
		}
		c.change(e)
		got := ""
		if rows := profiling(e, 1); len(rows) > 0 {
			got = rows[0].Baseline[:min(4, len(rows[0].Baseline))]
			got = map[string]string{"rr": "rr", "rr l": "rr", "fcfs": "fcfs"}[got]
		}
		if got != c.want {
			t.Errorf("%s: against %q, want %q", c.name, got, c.want)
		}
	}
}

// The best values come first, whether more or less is better. Unknown values come last.
func TestRanked(t *testing.T) {
	means := []float64{2, math.NaN(), 1, 3, 1}
	jct, _ := measure.MetricByName("mean_jct_s")
	utilization, _ := measure.MetricByName("utilization")
	for _, c := range []struct {
		metric measure.Metric
		want   string
	}{{jct, "[1 1 2 3 NaN]"}, {utilization, "[3 2 1 1 NaN]"}} {
		slices.SortStableFunc(means, func(a, b float64) int { return better(a, b, c.metric) })
		if got := fmt.Sprint(means); got != c.want {
			t.Errorf("by %s: %s", c.metric.Name, got)
		}
	}
	if m := ranking(record.Plan{}); m.Name != "mean_jct_s" {
		t.Errorf("ranked by %s", m.Name)
	}
	if m := ranking(record.Plan{Compares: []record.Compare{{Metric: "utilization"}}}); m.Name != "utilization" {
		t.Errorf("ranked by %s", m.Name)
	}
}

// A run counts for an estimate if it has the same request from begin to end.
func TestShows(t *testing.T) {
	run := func(change func(*record.JobRow)) *record.JobRow {
		r := &record.JobRow{Hardware: "h"}
		r.Class, r.GPUs, r.State, r.ThreadsRequested, r.ThreadsMean = "j", 1, "finished", 2, 2
		change(r)
		return r
	}
	e := record.EstimateRow{Job: "j", Hardware: "h", Threads: 2, GPUs: 1}
	if !shows(run(func(*record.JobRow) {}), e) {
		t.Fatal("a whole run does not count")
	}
	for name, change := range map[string]func(*record.JobRow){
		"failed": func(r *record.JobRow) { r.State = "failed" }, "fewer cores": func(r *record.JobRow) { r.ThreadsMean = 1 },
		"another class": func(r *record.JobRow) { r.Class = "k" }, "elsewhere": func(r *record.JobRow) { r.Hardware = "g" },
		"another request": func(r *record.JobRow) { r.ThreadsRequested, r.ThreadsMean = 1, 1 },
		"no GPU":          func(r *record.JobRow) { r.GPUs = 0 },
	} {
		if shows(run(change), e) {
			t.Errorf("%s: it counts", name)
		}
	}
}

// A simulation that uses the true expected values has an average error of chancePoints.
func TestChancePoints(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, replicates := range []int{2, 3, 10} {
		var off, chance float64
		const trials = 4000
		for range trials {
			x, y := make([]float64, replicates), make([]float64, replicates)
			u, v := slices.Clone(x), slices.Clone(x)
			for k := range x {
				u[k], v[k] = 10, 12
				x[k], y[k] = 10+0.3*random.NormFloat64(), 12+0.5*random.NormFloat64()
			}
			off += 100 * math.Abs(stat.Mean(y, nil)/stat.Mean(x, nil)-1.2) / trials
			chance += chancePoints(x, y, u, v) / trials
		}
		if math.Abs(chance/off-1) > 0.05 {
			t.Errorf("%d replicates: off by %.3g points, by chance alone %.3g", replicates, off, chance)
		}
	}
	if one := []float64{1}; !math.IsNaN(chancePoints(one, one, one, one)) {
		t.Error("one replicate has a spread")
	}
}
