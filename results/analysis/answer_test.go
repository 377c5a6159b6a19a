package analysis

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// asked describes an experiment that compares a metric. It has the values of each policy, one per replicate or per
// load.
type asked struct {
	metric, baseline string
	values           map[string][]float64
	policies         []string
	fixed, log       bool
}

func (a asked) experiment() *record.Experiment {
	e := &record.Experiment{}
	e.Plan.Compares = []record.Compare{{Metric: a.metric, Baseline: a.baseline, Level: 0.95}}
	e.Plan.Workloads, e.Plan.Hardware = []record.Named{{Name: "w", Log: a.log}}, []record.Named{{Name: "h"}}
	for _, p := range a.policies {
		e.Plan.Policies = append(e.Plan.Policies, record.Named{Name: p})
		for i, v := range a.values[p] {
			c := record.Cell{CellRef: record.CellRef{Cell: fmt.Sprintf("%s-r%d", p, i+1), Workload: "w", Hardware: "h",
				Policy: p, Replicate: i + 1, Fixed: a.fixed}, State: record.CellFinished,
				Metrics: MetricsOf(map[string]float64{"jobs": 9, "finished": 9, a.metric: v})}
			e.Cells, e.Plan.Cells = append(e.Cells, c), append(e.Plan.Cells, c.CellRef)
		}
	}
	return e
}

func headline(t interface {
	Helper()
	Fatal(...any)
}, e *record.Experiment) table.Headline {
	t.Helper()
	rows, err := Comparisons(e)
	if err != nil {
		t.Fatal(err)
	}
	h, err := HeadlineOf(e, rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// An answer says which policy is better and by how much. If there are too few runs, it says so, and how many are
// needed.
func TestAnswers(t *testing.T) {
	three := []string{"fcfs", "rr", "sjf"}
	for _, c := range []struct {
		name string
		asked
		want string
	}{
		{"a winner", asked{"mean_waiting_s", "fcfs", map[string][]float64{"fcfs": {4, 5, 4.5, 5.5, 5}, "rr": {2, 2.6, 2.2, 2.8, 2.4}},
			three[:2], false, false}, "rr cuts mean waiting time by 50% (47–52%) against fcfs."},
		{"no difference", asked{"mean_jct_s", "fcfs", map[string][]float64{"fcfs": {4, 5, 6, 5}, "rr": {4.1, 4.9, 5.9, 5.2}}, three[:2],
			false, false}, "No difference in mean JCT is known between rr and fcfs: +0.5% (−4.3% to +9.9%)."},
		{"a wide interval", asked{"mean_waiting_s", "fcfs", map[string][]float64{"fcfs": {9000, 10000, 7900}, "rr": {21000, 76000, 5500}},
			three[:2], false, false}, "Too few runs to say whether rr or fcfs has the lower mean waiting time: 9.49 h against 2.49 h " +
			"(about 54 runs would do)."},
		{"rare events", asked{"preemptions", "fcfs", map[string][]float64{"fcfs": {0, 1, 0}, "rr": {1, 0, 0}}, three[:2], false, false},
			"Too few runs to say whether rr or fcfs has the fewer preemptions: 0.333 against 0.333 (it takes more than 200 runs)."},
		{"two replicates", asked{"mean_jct_s", "fcfs", map[string][]float64{"fcfs": {4, 5}, "rr": {2, 3}}, three[:2], false, false},
			"Too few runs to say whether rr or fcfs has the lower mean JCT: 2.50 s against 4.50 s (it takes at least 3 runs)."},
		{"from none", asked{"preemptions", "fcfs", map[string][]float64{"fcfs": {0, 0, 0, 0}, "rr": {17, 18, 16, 17}}, three[:2], false,
			false}, "rr raises preemptions from 0 to 17 (15.5–18.5) against fcfs."},
		{"to none", asked{"mean_waiting_s", "fcfs", map[string][]float64{"fcfs": {5, 6, 7, 6}, "rr": {0, 0, 0, 0}}, three[:2], false,
			false}, "rr cuts mean waiting time by 100% against fcfs."},
		{"one log", asked{"mean_jct_s", "fcfs", map[string][]float64{"fcfs": {40}, "rr": {10}, "sjf": {20}}, three, true, true},
			"On this log, rr has the lowest mean JCT, 75% below fcfs; sjf is better than fcfs (−50%)."},
		{"a simulation without chance", asked{"utilization", "fcfs", map[string][]float64{"fcfs": {0.5}, "rr": {0.75}}, three[:2], true,
			false}, "rr raises utilization by 50% against fcfs."},
		{"equal runs", asked{"mean_jct_s", "fcfs", map[string][]float64{"fcfs": {40}, "rr": {40}}, three[:2], true, true},
			"On this log, rr and fcfs have the same mean JCT: 40 s."},
		{"ties on a log", asked{"mean_jct_s", "fcfs", map[string][]float64{"fcfs": {40}, "rr": {10}, "sjf": {10}}, three, true, true},
			"On this log, rr has the lowest mean JCT, 75% below fcfs, the same as sjf."},
		{"a tie", asked{"mean_jct_s", "fcfs", map[string][]float64{"fcfs": {8, 9, 10, 9, 8}, "rr": {4.1, 5, 6.2, 5, 4.4}, "sjf": {4.2, 4.9, 6.2,
			4.8, 4.6}}, three, false, false}, "rr has the lowest mean JCT, 44% (34–52%) below fcfs; no difference from sjf is known."},
		{"the baseline wins", asked{"mean_jct_s", "fcfs", map[string][]float64{"fcfs": {4, 5, 6, 5, 4}, "rr": {8, 9.2, 10.4, 9, 8.1}, "sjf": {12,
			13.5, 14, 13.2, 12.1}}, three, false, false}, "fcfs, the baseline, has the lowest mean JCT: 4.80 s; 2 others are worse (+86% to +170%)."},
		{"undecided", asked{"mean_jct_s", "fcfs", map[string][]float64{"fcfs": {4, 5, 6, 5}, "rr": {4.1, 4.9, 5.9, 5.2}, "sjf": {4.2, 4.8,
			6.2, 4.9}}, three, false, false}, "No difference in mean JCT is known among fcfs, rr and sjf: the largest seen is that of rr against " +
			"fcfs, +0.5% (−4.3% to +9.9%)."},
		{"too few of all", asked{"mean_jct_s", "fcfs", map[string][]float64{"fcfs": {4, 5}, "rr": {2, 3}, "sjf": {3, 3}}, three, false, false},
			"Too few runs to say which has the lowest mean JCT: in these it is 2.50 s under rr and 4.50 s under fcfs (it takes at least 3 runs)."},
		{"means of two units", asked{"mean_jct_s", "fcfs", map[string][]float64{"fcfs": {1.4e6, 1.4e6}, "rr": {294000, 294000}, "sjf": {3e6,
			3e6}}, three, false, false}, "Too few runs to say which has the lowest mean JCT: in these it is 3.40 d under rr and 16.2 d under " +
			"fcfs (it takes at least 3 runs)."},
		{"the baseline is the best of too few", asked{"mean_jct_s", "fcfs", map[string][]float64{"fcfs": {2, 2}, "rr": {4, 4}, "sjf": {3, 3}},
			three, false, false}, "Too few runs to say which has the lowest mean JCT: in these it is 2 s under fcfs and 3 s under sjf (it takes " +
			"at least 3 runs)."},
		{"one run, nobody waits", asked{"mean_waiting_s", "fcfs", map[string][]float64{"fcfs": {0}, "rr": {0}, "sjf": {0}}, three, false,
			false}, "Too few runs to say which has the lowest mean waiting time: in these it is 0 s under all of them (it takes at least 3 runs)."},
		{"nobody waits", asked{"mean_waiting_s", "fcfs", map[string][]float64{"fcfs": {0, 0, 0, 0, 0, 0}, "rr": {0, 0, 0, 0, 0, 0}, "sjf": {0,
			0, 0, 0, 0, 0}}, three, false, false}, "fcfs, rr and sjf have the same mean waiting time: 0 s."},
		{"too few runs of one", asked{"mean_jct_s", "fcfs", map[string][]float64{"fcfs": {12, 12.5, 11.8}, "rr": {20, 21, 19.7}, "sjf": {13,
			2000, 40}}, three, false, false}, "fcfs, the baseline, has the lowest mean JCT: 12.1 s; too few runs to tell sjf apart; rr is " +
			"worse (+67%)."},
	} {
		got := headline(t, c.experiment()).Sentence
		if got != c.want && strings.ReplaceAll(got, "rr and sjf are worse", "2 others are worse") != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// The answer names a setting in which there are too few runs to find the best policy. Policies that do not differ have
// the same value in all settings.
func TestAnswersInSettings(t *testing.T) {
	for _, c := range []struct {
		name   string
		values map[string]map[string][]float64
		want   string
	}{
		{"too few runs at one", map[string]map[string][]float64{
			"1": {"fcfs": {8, 9, 10, 9, 8}, "rr": {4.1, 5, 6.2, 5, 4.4}, "sjf": {6, 7.1, 8.2, 7, 6.3}},
			"2": {"fcfs": {8, 90, 10, 9, 8}, "rr": {700, 8, 8, 3000, 7}, "sjf": {3, 3, 2000, 1, 400}}},
			"rr has the lowest mean waiting time at load 1 (−44% against fcfs); too few runs to say which at 2."},
		{"equal", map[string]map[string][]float64{"1": {"fcfs": {8}, "rr": {8}, "sjf": {8}}, "2": {"fcfs": {9}, "rr": {9}}},
			"fcfs, rr and sjf have the same mean waiting time in both settings (8 to 9 s)."},
	} {
		e := &record.Experiment{}
		e.Plan.Compares = []record.Compare{{Metric: "mean_waiting_s", Baseline: "fcfs", Level: 0.95}}
		for _, load := range []string{"1", "2"} {
			for _, p := range []string{"fcfs", "rr", "sjf"} {
				if values := c.values[load][p]; values != nil {
					variant(e, "w", p, axis("load", load), values...)
				}
			}
		}
		for i := range e.Cells {
			e.Cells[i].Fixed = c.name == "equal"
		}
		if got := headline(t, e).Sentence; got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// For a single log, the answer first states the difference on this log. Then it says whether the difference is likely
// on other days.
func TestAnswersOfALog(t *testing.T) {
	row := func(verdict string, low, high float64) *record.ComparisonRow {
		r := compared(func(r *record.ComparisonRow) {
			r.Method, r.Blocks, r.Pairs, r.Verdict = "block bootstrap", 12, 1, verdict
			r.Metric, r.BaselineMean, r.CandidateMean, r.Ratio = "mean_waiting_s", 100, 4, 0.04
			r.CILow, r.CIHigh, r.Difference, r.DifferenceLow, r.DifferenceHigh = low, high, -96, -100+100*low, -100+100*high
		})
		return &r
	}
	p := record.Plan{Workloads: []record.Named{{Name: "w", Log: true}}}
	for _, c := range []struct {
		row  *record.ComparisonRow
		want string
	}{
		{row(record.NoDifference, 0, 3), "On this log, rr cuts mean waiting time by 96% against fcfs; 12 stretches of the log are too few " +
			"to say whether other days would show it: about 50 stretches would do (12 stretches of one log, p = 0.012)."},
		{row(record.Better, 0.02, 0.06), "On this log, rr cuts mean waiting time by 96% against fcfs; other days would show 96% (94–98%) " +
			"(12 stretches of one log, p = 0.012)."},
	} {
		if got := Comparison(p, *c.row); got != c.want {
			t.Errorf("%s\nwant\n%s", got, c.want)
		}
	}
	known, open := row(record.Better, 0.02, 0.06), row(record.NoDifference, 0, 3)
	for _, c := range []struct {
		rows []*record.ComparisonRow
		want string
	}{
		{[]*record.ComparisonRow{nil, nil}, ""}, {[]*record.ComparisonRow{nil, open}, "whether other days would show this is not known"},
		{[]*record.ComparisonRow{known, open}, "other days would show the same side in 1 of 2 comparisons"},
	} {
		q := Question{Fields: make([]Field, 2), Entries: []Entry{{Base: true}, {Rows: c.rows}}}
		if got := q.otherDays(); got != c.want {
			t.Errorf("in two settings: %q, want %q", got, c.want)
		}
	}
}

// If values have no meaningful interval, the table shows none.
func TestMeansWithoutAnInterval(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{[]float64{2, 10, 36}, "16 ± ?"}, // the interval would be 0 to 127
		{[]float64{15, 16, 17}, "16.0 ± 2.7"}, {[]float64{16}, "16"}, {[]float64{0, 0, 0}, "0 ± 0"},
		{[]float64{0, 1, 0, 0, 1}, "0.400 ± ?"},
	} {
		if got := table.Interval(MeanOf(measure.MeanJCT, c.values)); got != c.want {
			t.Errorf("%v: %s, want %s", c.values, got, c.want)
		}
	}
}

// The best variants of a setting are the one with the best mean and all that do not differ from it significantly.
func TestBest(t *testing.T) {
	all := []string{"fcfs", "sjf", "rr"}
	for _, c := range []struct {
		values map[string][]float64
		want   []string
	}{
		{map[string][]float64{"fcfs": {4, 5, 6, 5}, "sjf": {2, 3, 4, 3.1}, "rr": {2.1, 3, 3.9, 3.2}}, []string{"sjf", "rr"}},
		{map[string][]float64{"fcfs": {4, 5, 6, 5}, "sjf": {7, 8.1, 9, 8}, "rr": {7.1, 8, 9.1, 8}}, []string{"fcfs"}},
		{map[string][]float64{"fcfs": {4, 5}, "sjf": {2, 3}, "rr": {2, 4}}, nil},
	} {
		e := asked{"mean_waiting_s", "fcfs", c.values, all, false, false}.experiment()
		rows, err := Comparisons(e)
		if err != nil {
			t.Fatal(err)
		}
		q := Questions(e, rows)[0]
		got, _, err := q.best(e, 0)
		if d := cmp.Diff(c.want, got); d != "" || err != nil {
			t.Error(d, err)
		}
	}
}

var (
	percents = regexp.MustCompile(`([0-9.]+)% \((−?[0-9.]+)–(−?[0-9.]+)%\)`)
	winner   = regexp.MustCompile(`^(p\d)(?:, the baseline,)? has the lowest`)
	compares = regexp.MustCompile(`^(p\d) (cuts|raises) `)
)

// TestAnswersAgreeWithTheirNumbers draws random results. The winner has the best mean, and a change has the sign of the
// difference and its size. Intervals contain their value, have possible bounds only, and are not wider than a factor of
// ten.
func TestAnswersAgreeWithTheirNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, replicates := rapid.IntRange(2, 5).Draw(t, "policies"), rapid.IntRange(1, 8).Draw(t, "replicates")
		a := asked{metric: "mean_waiting_s", baseline: "p0", values: map[string][]float64{},
			fixed: rapid.Bool().Draw(t, "fixed"), log: rapid.Bool().Draw(t, "log")}
		scatter := rapid.SampledFrom([]float64{0, 0.01, 0.3, 2}).Draw(t, "scatter")
		for p := range n {
			name := fmt.Sprint("p", p)
			a.policies = append(a.policies, name)
			level := rapid.SampledFrom([]float64{0, 1, 1, 1.2, 3, 100, 5000}).Draw(t, "level")
			for i := range replicates {
				v := level * math.Exp(scatter*rapid.Float64Range(-1, 1).Draw(t, "value"))
				if a.fixed && i > 0 {
					v = a.values[name][0]
				}
				a.values[name] = append(a.values[name], v)
			}
		}
		e := a.experiment()
		h := headline(t, e)
		said := strings.TrimPrefix(strings.TrimPrefix(h.Sentence, "On this log, "), "On these logs, ")
		mean := func(name string) float64 { return stats.MeanInterval(a.values[name], 0.95).Mean }
		least := slices.MinFunc(a.policies, func(x, y string) int { return better(mean(x), mean(y), measure.MeanWaiting) })
		if w := winner.FindStringSubmatch(said); w != nil && mean(w[1]) > mean(least)*(1+1e-9) {
			t.Fatalf("%s: %s has %g, and %s %g", h.Sentence, w[1], mean(w[1]), least, mean(least))
		}
		if w := compares.FindStringSubmatch(said); w != nil && (w[2] == "cuts") != (mean(w[1]) < mean("p0")) {
			t.Fatalf("%s: %g against %g", h.Sentence, mean(w[1]), mean("p0"))
		}
		if a.fixed && (strings.Contains(h.Sentence, "too few") || strings.Contains(h.Sentence, "–")) {
			t.Fatalf("there is nothing to test in %s", h.Sentence)
		}
		number := func(s string) float64 {
			v, err := strconv.ParseFloat(strings.ReplaceAll(s, "−", "-"), 64)
			if err != nil {
				t.Fatal(err)
			}
			return v / 100
		}
		for _, m := range percents.FindAllStringSubmatch(h.Sentence, -1) {
			at, low, high := number(m[1]), number(m[2]), number(m[3])
			if at < low-0.01 || at > high+0.01 || low > high || strings.Contains(h.Sentence, " below ") && high > 1 {
				t.Fatalf("%s: %s", h.Sentence, m[0])
			}
		}
		rows, _ := Comparisons(e)
		for i := range rows {
			c := ChangeOf(&rows[i])
			switch {
			case c.Finding == falls && !(c.To < c.From), c.Finding == rises && !(c.To > c.From):
				t.Fatalf("%+v of %+v", c, rows[i])
			case stats.Finite(c.Low) && (c.Low <= 0 || c.High > 10*c.Low*(1+1e-9) || c.Ratio < c.Low-1e-9 || c.Ratio > c.High+1e-9):
				t.Fatalf("%+v of %+v", c, rows[i])
			case (c.Finding == falls || c.Finding == rises) && stats.Finite(c.Low) && (c.Low-1)*(c.High-1) < 0:
				t.Fatalf("%+v of %+v", c, rows[i])
			case (c.Finding == unclear) != (c.Few != "") && c.Finding == unclear:
				t.Fatalf("%+v does not say how many runs would do", c)
			}
		}
		if len(h.Table.Rows) > mostHeadlineRows || strings.Count(h.Sentence, ". ") > 1 {
			t.Fatalf("%d rows, %s", len(h.Table.Rows), h.Sentence)
		}
	})
}

// Intervals of means and of comparisons contain possible values only. A bounded slowdown is at least 1. An accuracy is
// at most 1 if it is a fraction.
func TestIntervalsOfPossibleValues(t *testing.T) {
	for _, c := range []struct {
		metric measure.Metric
		values []float64
		open   bool
	}{
		{measure.MeanBoundedSlowdown, []float64{1.01, 1.02, 1.3}, true}, {measure.MeanBoundedSlowdown, []float64{3, 3.1, 3.2}, false},
		{measure.FinalAccuracy, []float64{0.97, 0.99, 0.99}, true}, {measure.FinalAccuracy, []float64{97, 99, 99}, false},
	} {
		if got := table.Interval(MeanOf(c.metric, c.values)); table.IsOpen(got) != c.open {
			t.Errorf("%s of %v: %s", c.metric.Title, c.values, got)
		}
	}
	r := compared(func(r *record.ComparisonRow) {
		r.Metric, r.Verdict, r.BaselineMean, r.CandidateMean, r.Ratio = "mean_bounded_slowdown", record.NoDifference, 1.5, 1.2, 0.8
		r.CILow, r.CIHigh, r.Difference, r.DifferenceLow, r.DifferenceHigh, r.PValue = 0.4, 1.6, -0.3, -0.9, 0.9, 0.5
	})
	if c := ChangeOf(&r); c.Finding != unclear || sized(&r, measure.MeanBoundedSlowdown) {
		t.Errorf("a slowdown of 0.6 is possible: %+v", c)
	}
}

// The mean of runs without randomness has no interval.
func TestMeansOfFixedRuns(t *testing.T) {
	e := asked{"mean_jct_s", "fcfs", map[string][]float64{"fcfs": {40, 40, 40}, "rr": {10, 10, 10}}, []string{"fcfs", "rr"}, true, false}.experiment()
	for _, row := range headline(t, e).Table.Rows {
		if strings.Contains(strings.Join(row, " "), "±") {
			t.Errorf("%q", row)
		}
	}
}

// If the ratio has no interval, the change gets the interval of the difference, divided by the baseline's mean.
func TestChangeByTheDifference(t *testing.T) {
	r := compared(func(r *record.ComparisonRow) {
		r.Metric, r.Verdict, r.BaselineMean, r.CandidateMean, r.Ratio = "mean_jct_s", record.NoDifference, 100, 70, 0.7
		r.CILow, r.CIHigh, r.Difference, r.DifferenceLow, r.DifferenceHigh, r.PValue = 0, 8, -30, -48, 12, 0.2
	})
	c := ChangeOf(&r)
	if got := c.Clause("rr", "fcfs", ""); got != "no difference in mean JCT is known between rr and fcfs: −30% (−48% to +12%)" {
		t.Error(got)
	}
}

// If there are too few replicates, their number is reported. More replicates of one log, or of runs without randomness,
// would not help.
func TestLacking(t *testing.T) {
	for _, c := range []struct {
		name string
		row  func(*record.ComparisonRow)
		want int
	}{
		{"two pairs", func(r *record.ComparisonRow) {
			r.Pairs, r.Verdict, r.PValue, r.DifferenceLow, r.DifferenceHigh = 2, record.NotEnoughReplicates, math.NaN(), math.NaN(), math.NaN()
		}, 1},
		{"one run", func(r *record.ComparisonRow) { r.Method, r.Pairs = record.OneRun, 1 }, 0},
		{"a log", func(r *record.ComparisonRow) {
			r.Method, r.Blocks, r.Verdict, r.PValue = "block bootstrap", 4, record.NotEnoughReplicates, math.NaN()
		}, 0},
		{"hopeless", func(r *record.ComparisonRow) {
			r.Pairs, r.Verdict, r.PValue, r.CILow, r.CIHigh = 3, record.NotEnoughReplicates, 0.9, 0, 90
			r.Difference, r.DifferenceLow, r.DifferenceHigh = 0.001, -1e6, 1e6
		}, 0},
	} {
		if got, _ := Lacking([]record.ComparisonRow{compared(c.row)}); got != c.want {
			t.Errorf("%s: %d more, want %d", c.name, got, c.want)
		}
	}
}

// If jobs failed in some cells, the table says that its means and its changes are over different cells.
func TestMeansOverOtherCells(t *testing.T) {
	a := asked{"mean_jct_s", "fcfs", map[string][]float64{"fcfs": {40, 42, 41, 43}, "rr": {20, 22, 21, 90}}, []string{"fcfs", "rr"}, false,
		false}
	const note = "a change is over the replicates of both sides in which the same jobs finished"
	e := a.experiment()
	if got := headline(t, e).Note; strings.Contains(got, note) {
		t.Errorf("all jobs finished: %q", got)
	}
	e.Cells[7].Error = "a job failed"
	if got := headline(t, e).Note; !strings.Contains(got, note) {
		t.Errorf("a job failed: %q", got)
	}
}
