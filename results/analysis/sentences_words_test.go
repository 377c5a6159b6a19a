package analysis

import (
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/plot/plottest"
)

var update = flag.Bool("update", false, "write testdata/sentences.txt")

// TestSentences compares all sentences of results with testdata/sentences.txt, which lists them for readers.
func TestSentences(t *testing.T) {
	var s plottest.Sentences
	fidelitySentences(&s)
	comparisonSentences(&s)
	otherSentences(&s)
	groupTables(&s)
	s.Golden(t, *update)
}

func fidelitySentences(s *plottest.Sentences) {
	makespan := FidelityMetric{Metric: "makespan_s", MeanAbsPct: 3.2, BiasPct: -1, QuietAbsPct: 2, Worst: "c-r2",
		WorstPct: -8, Pairs: 2, Same: 1, Significant: 1, SameSignificant: 1}
	jct := FidelityMetric{Metric: "mean_jct_s", MeanAbsPct: 5.5, BiasPct: 4, QuietAbsPct: 4.4, Worst: "c-r1",
		WorstPct: 9, Pairs: 1, Same: 1}
	both := []FidelityMetric{makespan, jct}
	for _, f := range []Fidelity{
		{}, {Cells: 1, Metrics: both}, {Cells: 10, Metrics: both}, {Cells: 10, Busy: 3, Metrics: both},
		{Cells: 3, Busy: 3, Metrics: both}, {Cells: 3, Metrics: both[:1]}, {Cells: 3, Metrics: both[1:]},
	} {
		s.Add(fmt.Sprintf("fidelity of %d cells, %d busy, %d metrics", f.Cells, f.Busy, len(f.Metrics)), FidelitySentence(f))
	}
	s.Table("fidelity", fidelityTable(Fidelity{Metrics: both}))
	same := record.FidelityDecisionRow{Cell: "c-r1", Decisions: 4, Simulated: 4, Same: 4, DiffersAt: -1}
	early := record.FidelityDecisionRow{Cell: "c-r2", Decisions: 1, Simulated: 2, Same: 0, DiffersAt: 0,
		Real: "start a", Instead: "start b"}
	ended := record.FidelityDecisionRow{Cell: "c-r3", Decisions: 3, Simulated: 2, Same: 2, DiffersAt: 3.2, Real: "start a"}
	for _, rows := range [][]record.FidelityDecisionRow{nil, {same}, {same, early, ended}, {ended, early}} {
		s.Add("decisions", fidelityOfDecisions(rows))
	}
}

// compared returns a row without unknown values, for a change from 4 to 3 s.
func compared(change func(r *record.ComparisonRow)) record.ComparisonRow {
	r := record.ComparisonRow{Metric: "mean_jct_s", Workload: "w", Hardware: "h", BaselineWorkload: "w",
		BaselineHardware: "h", Baseline: "fcfs", Candidate: "rr", BaselinePolicy: "fcfs", CandidatePolicy: "rr", Pairs: 5,
		BaselineMean: 4, CandidateMean: 3, Difference: -1, DifferenceLow: -1.5, DifferenceHigh: -0.5, Ratio: 0.75,
		CILow: 0.6, CIHigh: 0.9, PValue: 0.012, RawP: 0.012, Level: 0.95, Candidates: 1, Method: stats.PairedT,
		Verdict: record.Better}
	change(&r)
	return r
}

func comparisonSentences(s *plottest.Sentences) {
	nan := math.NaN()
	one := record.Plan{Workloads: []record.Named{{Name: "w"}}, Hardware: []record.Named{{Name: "h"}},
		Policies: []record.Named{{Name: "fcfs"}, {Name: "rr"}}}
	log := one
	log.Workloads = []record.Named{{Name: "w", Log: true}}
	many := one
	many.Workloads, many.Hardware = append(one.Workloads, record.Named{Name: "v"}), append(one.Hardware,
		record.Named{Name: "g"})
	sole := one
	sole.Policies = one.Policies[:1]
	ratio := func(ratio, low, high float64) func(*record.ComparisonRow) {
		return func(r *record.ComparisonRow) {
			r.Ratio, r.CILow, r.CIHigh, r.CandidateMean = ratio, low, high, 4*ratio
			r.Difference, r.DifferenceLow, r.DifferenceHigh = 4*(ratio-1), 4*(low-1), 4*(high-1)
			r.Verdict = record.Worse
			if ratio < 1 {
				r.Verdict = record.Better
			}
		}
	}
	alone := func(r *record.ComparisonRow) {
		r.Method, r.Pairs, r.PValue, r.CILow, r.CIHigh = record.OneRun, 1, nan, nan, nan
	}
	equal := func(r *record.ComparisonRow) {
		r.Verdict, r.Ratio, r.Difference, r.CandidateMean = record.NoDifference, 1, 0, 4
	}
	axes := func(candidate, baseline string) func(*record.ComparisonRow) {
		settings := func(text string) (all []record.Setting) {
			for part := range strings.FieldsSeq(text) {
				name, value, _ := strings.Cut(part, "=")
				all = append(all, record.Setting{Name: name, Value: value})
			}
			return all
		}
		return func(r *record.ComparisonRow) {
			r.CandidatePolicy, r.CandidateAxes, r.BaselineAxes = "fcfs", settings(candidate), settings(baseline)
		}
	}
	then := func(all ...func(*record.ComparisonRow)) func(*record.ComparisonRow) {
		return func(r *record.ComparisonRow) {
			for _, change := range all {
				change(r)
			}
		}
	}
	for _, c := range []struct {
		name   string
		plan   record.Plan
		change func(*record.ComparisonRow)
	}{
		{"plain", one, func(*record.ComparisonRow) {}},
		{"less than twice", one, ratio(1.5, 1.2, 1.9)},
		{"just once", one, ratio(1, 0.9, 1.1)},
		{"twice", one, ratio(2, 1.5, 2.5)},
		{"wide", one, ratio(2, 1.5, 20)},
		{"almost too wide", one, ratio(0.5, 0.1, 9.9)},
		{"too wide", one, ratio(0.5, 0.1, 10)},
		{"no ratio", one, ratio(nan, nan, nan)},
		{"no difference", one, then(ratio(0.9, 0.7, 1.2), func(r *record.ComparisonRow) { r.Verdict = record.NoDifference })},
		{"too few", one, func(r *record.ComparisonRow) { r.Verdict, r.Pairs = record.NotEnoughReplicates, 1 }},
		{"too few on several", many, func(r *record.ComparisonRow) { r.Verdict, r.Pairs = record.NotEnoughReplicates, 2 }},
		{"one run", one, alone},
		{"one run, the same", one, then(alone, equal)},
		{"one run of a log", log, alone},
		{"one run of a log, the same", log, then(alone, equal)},
		{"stretches of a log", log, func(r *record.ComparisonRow) { r.Method, r.Blocks, r.Pairs = "block bootstrap", 12, 1 }},
		{"exact", one, func(r *record.ComparisonRow) { r.Method = stats.SignFlips }},
		{"exact, the same", one, then(equal, func(r *record.ComparisonRow) { r.Method = stats.SignFlips })},
		{"not paired", one, func(r *record.ComparisonRow) { r.Method, r.Pairs = "Welch's t", 0 }},
		{"disturbed", one, func(r *record.ComparisonRow) { r.Doubtful = 2 }},
		{"several candidates", one, func(r *record.ComparisonRow) { r.Candidates = 2 }},
		{"by class", one, func(r *record.ComparisonRow) { r.By, r.Group, r.Candidates = "class", "long", 2 }},
		{"by size", one, func(r *record.ComparisonRow) { r.By, r.Group = "size", "2 cores" }},
		{"nobody's jobs", one, func(r *record.ComparisonRow) { r.By = "user" }},
		{"several places", many, func(*record.ComparisonRow) {}},
		{"other hardware", many, func(r *record.ComparisonRow) { r.BaselineHardware = "g" }},
		{"other hardware alone", many, func(r *record.ComparisonRow) {
			r.BaselineHardware, r.CandidatePolicy = "g", "fcfs"
		}},
		{"other workload", many, func(r *record.ComparisonRow) { r.BaselineWorkload = "v" }},
		{"other workload alone", many, func(r *record.ComparisonRow) {
			r.BaselineWorkload, r.CandidatePolicy = "v", "fcfs"
		}},
		{"other places alone", many, func(r *record.ComparisonRow) {
			r.BaselineWorkload, r.BaselineHardware, r.CandidatePolicy = "v", "g", "fcfs"
		}},
		{"older files", many, func(r *record.ComparisonRow) { r.BaselineWorkload, r.BaselineHardware = "", "" }},
		{"an axis of one policy", one, axes("load=2 n=1", "load=1 n=1")},
		{"an axis of the sole policy", sole, axes("load=2 n=1", "load=1 n=1")},
		{"an axis that one reads", one, axes("load=2", "")},
		{"other counts", one, func(r *record.ComparisonRow) { r.Metric = "no_such_metric" }},
	} {
		row := compared(c.change)
		s.Add(c.name, Comparison(c.plan, row))
	}
}

func otherSentences(s *plottest.Sentences) {
	packages := func(text string) (all []record.Setting) {
		for name := range strings.FieldsSeq(text) {
			all = append(all, record.Setting{Name: name, Value: "1." + fmt.Sprint(len(name))})
		}
		return all
	}
	for _, p := range []record.Python{
		{Interpreter: "/usr/bin/python3", Error: "it does not start"}, {Interpreter: "py", Version: "3.11"},
		{Interpreter: "py", Version: "3.11", Packages: packages("pip")}, {Interpreter: "py", Version: "3.11", Packages: packages("pip wheel")},
		{Interpreter: "py", Version: "3.11", Packages: packages("pip NumPy torch wheel")},
		{Interpreter: "py", Version: "3.11", Packages: packages("numpy tensorflow")},
		{Interpreter: "py", Version: "3.11", Packages: packages("numpy pip")},
	} {
		s.Add("python", Python(p))
	}
	nan := math.NaN()
	accuracy := record.AccuracyRow{Model: "linear", Runs: 3, MeanAbs: 4.1, SD: 5.2, Bias: 1.3, Coverage: 0.9, Level: 0.9}
	for _, change := range []func(*record.AccuracyRow){
		func(*record.AccuracyRow) {}, func(r *record.AccuracyRow) { r.Coverage = 0.89 }, func(r *record.AccuracyRow) { r.Coverage = 0.8968 },
		func(r *record.AccuracyRow) { r.SD, r.Coverage, r.Runs = nan, nan, 1 },
		func(r *record.AccuracyRow) { r.Made, r.Group = record.MadeCorrected, "long" },
	} {
		r := accuracy
		change(&r)
		s.Add("accuracy", AccuracySentence(r))
	}
	for _, r := range []record.ProfilingRow{
		{Policy: "sjf", Baseline: "fcfs", Pairs: 1, Cost: 3, Makespan: 0, JCT: 0, Net: 0},
		{Policy: "sjf", Baseline: "fcfs", Pairs: 2, Cost: 3, Makespan: -2, JCT: 1.5, Net: -7},
	} {
		s.Add("profiling", ProfilingSentence(r))
	}
	for _, share := range []float64{0.004, 0.0994, 0.0999, 0.1, 0.12, 0.9899, 0.99, 0.994, 0.9994, 1, 1.006, 1.2, -0.05, -0.0004, 0.0006, 0.0005} {
		s.Add(fmt.Sprint("change ", share), table.Signed(share))
	}
	for _, r := range []SummaryRow{{Planned: 5, Complete: 5}, {Planned: 5, Complete: 3}, {Planned: 5, Complete: 5, Failed: 1}, {Planned: 5, Complete: 3, Failed: 2}} {
		s.Add("cells", cells(r))
	}
	bound := func(v float64) *float64 { return &v }
	for _, v := range []Verdict{
		{Metric: "mean_jct_s", Variant: "rr", Workload: "w", Hardware: "h", Value: bound(11), Max: bound(12)},
		{Metric: "makespan_s", Judged: JudgedFidelity, Policy: "rr", Min: bound(1), Max: bound(2), Value: bound(3)},
		{Metric: "makespan_s", Judged: JudgedFidelity, Max: bound(2)},
		{Metric: record.EstimateError, Judged: JudgedEstimates, Max: bound(2), Value: bound(3)},
	} {
		for _, n := range [][2]int{{1, 1}, {2, 1}, {1, 2}} {
			s.Add(fmt.Sprintf("threshold on %d of %d", n[0], n[1]), clause(record.Plan{Workloads: make([]record.Named, n[0]), Hardware: make([]record.Named, n[1])}, v))
		}
	}
}

func groupTables(s *plottest.Sentences) {
	row := func(group string, jobs, jct float64) GroupRow {
		r := GroupRow{By: "class", Group: group, Workload: "w", Hardware: "h", Variant: "rr"}
		for _, m := range GroupMetrics() {
			v := math.NaN()
			switch m.Name {
			case measure.Jobs.Name:
				v = jobs
			case "mean_jct_s":
				v = jct
			}
			r.Metrics = append(r.Metrics, SummaryMetric{Metric: m.Name,
				Interval: stats.Interval{Mean: v, Low: v - 1, High: v + 1}})
		}
		return r
	}
	rows := []GroupRow{row("", 2, 10), row("long", 3, 20)}
	for _, n := range [][2]int{{1, 1}, {2, 1}, {1, 2}} {
		p := record.Plan{Workloads: make([]record.Named, n[0]), Hardware: make([]record.Named, n[1])}
		t := groupTable(p, "class", rows)
		s.Table(fmt.Sprintf("classes on %d of %d", n[0], n[1]), t)
		for i, c := range t.Columns {
			if c.Metric != "" {
				s.Add("column", fmt.Sprint(i, " ", c.Metric))
			}
		}
	}
	e := &record.Experiment{}
	for _, policy := range []string{"fcfs", "rr"} {
		ref := record.CellRef{Cell: policy, Workload: "w", Hardware: "h", Policy: policy, Replicate: 1}
		e.Plan.Cells = append(e.Plan.Cells, ref)
		m := MetricsOf(map[string]float64{"jobs": 2, "mean_jct_s": float64(len(policy))})
		e.Cells = append(e.Cells, record.Cell{CellRef: ref, State: record.CellFinished, Metrics: m,
			Groups: []measure.Group{{By: "user", Name: "ada", Metrics: m}}})
	}
	told, err := Parts(e)
	if err != nil {
		panic(err)
	}
	for _, g := range told {
		if by, ok := strings.CutPrefix(g.Name, "by-"); ok && len(g.Report) > 0 {
			s.Table("groups by "+by, g.Report[0].Table)
		}
	}
}
