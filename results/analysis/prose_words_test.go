package analysis

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// variant adds cells with these mean waiting times to an experiment, one for each replicate.
func variant(e *record.Experiment, workload, policy string, axes []record.Setting, waiting ...float64) {
	for i, w := range waiting {
		ref := record.CellRef{
			Cell: fmt.Sprintf("%s-%s%v-r%d", workload, policy, axes, i+1), Workload: workload, Hardware: "h",
			Policy: policy, Replicate: i + 1, Axes: axes,
		}
		e.Plan.Cells = append(e.Plan.Cells, ref)
		m := MetricsOf(map[string]float64{"jobs": 8, "finished": 8, "mean_waiting_s": w, "utilization": w / 10,
			"mean_jct_s": 0, "p95_jct_s": 0})
		e.Cells = append(e.Cells, record.Cell{CellRef: ref, State: record.CellFinished, Metrics: m})
	}
}

// If hardly any job waits, the answer says so, unless the policies make jobs faster in other ways.
func TestIdle(t *testing.T) {
	cell := func(policy string, waiting, jct float64) record.Cell {
		return record.Cell{
			CellRef: record.CellRef{Workload: "w", Policy: policy, Replicate: 1},
			Metrics: MetricsOf(map[string]float64{"mean_waiting_s": waiting, "mean_jct_s": jct}),
		}
	}
	for name, c := range map[string]struct {
		cells []record.Cell
		want  string
	}{
		"some wait a little": {[]record.Cell{cell("a", 8, 773), cell("b", 4, 769)},
			"at most 1% of the mean completion time was waiting"},
		"nobody waits":      {[]record.Cell{cell("a", 0, 700), cell("b", 0, 700)}, "none waited at all"},
		"one policy waits":  {[]record.Cell{cell("a", 80, 773), cell("b", 4, 769)}, ""},
		"a policy is slow":  {[]record.Cell{cell("a", 0, 900), cell("b", 0, 700)}, ""},
		"there is one only": {[]record.Cell{cell("a", 0, 700), cell("a", 0, 700)}, ""},
		"nothing finished":  {[]record.Cell{cell("a", math.NaN(), math.NaN()), cell("b", 0, 700)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := &record.Experiment{Cells: c.cells}
			got := Unsaid(e, []record.ComparisonRow{{}})
			switch {
			case c.want == "" && len(got) > 0:
				t.Errorf("got %q", got[0].Text)
			case c.want != "" && (len(got) != 1 || !strings.Contains(got[0].Text, c.want)):
				t.Errorf("got %v, want %q", got, c.want)
			}
			if len(Unsaid(e, nil)) > 0 {
				t.Error("there is no answer, but a doubt about it")
			}
		})
	}
}

func axis(pairs ...string) []record.Setting {
	var out []record.Setting
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, record.Setting{Name: pairs[i], Value: pairs[i+1]})
	}
	return out
}

// between sets the two variants that a row compares, such as "rr load=1".
func between(r record.ComparisonRow, baseline, candidate string) record.ComparisonRow {
	parts := func(label string) (policy string, axes []record.Setting) {
		for i, part := range strings.Fields(label) {
			if i == 0 {
				policy = part
				continue
			}
			name, value, _ := strings.Cut(part, "=")
			axes = append(axes, record.Setting{Name: name, Value: value})
		}
		return policy, axes
	}
	r.Baseline, r.Candidate = baseline, candidate
	r.BaselinePolicy, r.BaselineAxes = parts(baseline)
	r.CandidatePolicy, r.CandidateAxes = parts(candidate)
	return r
}

func TestSentence(t *testing.T) {
	p := record.Plan{Policies: []record.Named{
		{Name: "fcfs", Summary: "fcfs, strict"}, {Name: "rr", Summary: "round_robin, quantum 500ms, strict"}, {Name: "fast",
			Summary: "las, strict"},
	}}
	sentence := func(baseline, candidate []float64, metric string, change func(*record.ComparisonRow)) string {
		r := stats.ComparePairs(baseline, candidate, 0.95)
		row := record.ComparisonRow{
			Metric: metric, Workload: "w", Hardware: "h", Baseline: "fcfs", Candidate: "rr", Pairs: r.Pairs,
			BaselineMean: r.BaselineMean, CandidateMean: r.CandidateMean, Ratio: r.Ratio, CILow: r.RatioLow, CIHigh: r.RatioHigh,
			Difference: r.Difference, DifferenceLow: r.DifferenceLow, DifferenceHigh: r.DifferenceHigh,
			PValue: r.P, RawP: r.P, Candidates: 1, Level: 0.95, Method: r.Method, Verdict: record.Worse,
		}
		row = between(row, row.Baseline, row.Candidate)
		change(&row)
		return Comparison(p, row)
	}
	as := func(verdict string) func(*record.ComparisonRow) {
		return func(r *record.ComparisonRow) { r.Verdict = verdict }
	}
	base := []float64{3.1, 3.6, 3.4, 3.9, 3.0}
	for _, c := range []struct{ got, want string }{
		{
			sentence(base, []float64{1.8, 2.0, 1.9, 2.3, 1.7}, "mean_waiting_s", as(record.Better)),
			"rr cuts mean waiting time by 43% (40–45%) against fcfs (5 pairs, p < 0.0001).",
		},
		{
			sentence(base, []float64{3.2, 3.5, 3.5, 3.8, 3.1}, "makespan_s", as(record.NoDifference)),
			"No difference in makespan is known between rr and fcfs: +0.6% (−4.9% to +5.8%) (5 pairs, p = 1.00).",
		},
		{
			sentence(base, []float64{13.2, 15.5, 13.5, 16.8, 12.1}, "mean_slowdown",
				func(r *record.ComparisonRow) { r.Candidates = 3 }),
			"rr raises mean slowdown by 318% (294–346%) against fcfs (5 pairs, p = 0.0001).",
		},
		{
			sentence([]float64{0, 0, 0, 0}, []float64{17, 18, 16, 17}, "preemptions", as(record.Worse)),
			"rr raises preemptions from 0 to 17 (15.5–18.5) against fcfs (4 pairs, p < 0.0001).",
		},
		{
			sentence([]float64{4, 4, 4, 4, 4, 4}, []float64{2, 2, 2, 2, 2, 2}, "mean_jct_s", func(r *record.ComparisonRow) {
				*r = between(*r, "fcfs", "fast quantum=1s")
				r.Verdict = record.Better
			}),
			"fast quantum=1s cuts mean JCT by 50% against fcfs (6 pairs, all with the same difference, p = 0.031).",
		},
		{
			sentence([]float64{4, 4, 4, 4, 4, 4}, []float64{2, 2, 2, 2, 2, 2}, "mean_jct_s", func(r *record.ComparisonRow) {
				*r = between(*r, "fcfs jobs=8 kind=fixed", "rr jobs=8 kind=fixed")
				r.Verdict = record.Better
			}),
			"rr cuts mean JCT by 50% against fcfs at jobs=8 kind=fixed (6 pairs, all with the same difference, p = 0.031).",
		},
		{
			sentence(base, base, "mean_jct_s", as(record.NoDifference)),
			"rr and fcfs have the same mean JCT: 3.40 s (5 pairs, all with the same difference, p = 1.00).",
		},
		{
			sentence(base[:2], base[1:3], "mean_jct_s", as(record.NotEnoughReplicates)),
			"Too few runs to say whether rr or fcfs has the lower mean JCT: 3.50 s against 3.35 s (it takes at least 3 runs).",
		},
	} {
		if c.got != c.want {
			t.Errorf("sentence:\n%s\nwant:\n%s", c.got, c.want)
		}
	}
	if s := sentence(base[:1], base[1:2], "mean_jct_s", func(r *record.ComparisonRow) {
		r.Method, r.Blocks = record.OneRun, 9
	}); !strings.HasSuffix(s, "it takes at least 10 stretches (9 stretches of one log, p unknown).") {
		t.Errorf("with too few stretches: %s", s)
	}
	p.Workloads = []record.Named{{Name: "w"}, {Name: "v"}}
	if s := sentence(base, base, "mean_jct_s", as(record.NoDifference)); !strings.Contains(s,
		"the same mean JCT on w: 3.40 s (") {
		t.Errorf("with two workloads: %s", s)
	}
}

// TestUnsaid: the warning about too few replicates is left out if a comparison already mentions them.
func TestUnsaid(t *testing.T) {
	warnings := []record.Warning{{Code: record.FewReplicates, Text: "few"}, {Code: record.BusyMachine, Text: "busy"}}
	if got := Unsaid(&record.Experiment{Run: record.Run{Warnings: warnings}}, nil); len(got) != 2 {
		t.Errorf("without an answer: %v", got)
	}
	if got := Unsaid(&record.Experiment{Run: record.Run{Warnings: warnings}}, []record.ComparisonRow{{Verdict: record.NotEnoughReplicates}}); len(got) != 1 ||
		got[0].Text != "busy" {
		t.Errorf("%v", got)
	}
}

func TestDoubts(t *testing.T) {
	var warnings []record.Warning
	for i, cores := range []float64{0.8, 12.5, 2.5} {
		warnings = append(warnings, record.Warning{Code: "busy_machine", Cell: fmt.Sprint("cell-r", i),
			Text: fmt.Sprintf("used %g cores beside long-%d", cores, 2)})
	}
	warnings = append(warnings, record.Warning{Code: "busy_machine", Cell: "cell-r3", Text: "used 2.5 of 3.5 cores"})
	got := Doubts(warnings, 2)
	if len(got) != 2 || got[0].String() != "used 0.8 to 12.5 cores beside long-2 (cell-r0, cell-r1 and 1 more)" ||
		got[1].String() != "used 2.5 of 3.5 cores (cell-r3)" {
		t.Errorf("%v", got)
	}
}

func TestSummaryTable(t *testing.T) {
	e := &record.Experiment{}
	variant(e, "w", "fcfs", nil, 4, 5, 6, 5)
	variant(e, "w", "rr", axis("quantum", "1s"), 2, 3, 4, 3)
	e.Cells = e.Cells[:6]
	e.Cells[0].State = record.CellFailed
	got := SummaryTable(e)
	for _, h := range got.Header() {
		if h == "Jain fairness" {
			t.Error("a metric that is known nowhere has a column")
		}
	}
	// By hand: fcfs has a standard deviation of 0.8165, 41% of the correction, t(3, 1 − 2.5%·0.69) = 3.69 and a
	// half-width of 1.5. The values of rr are 2 and 3, with a half-width above 10, so it has no interval.
	if r := got.Rows[0]; r[0] != "fcfs" || r[1] != "4, 1 failed" || r[4] != "5.0 ± 1.5" {
		t.Errorf("%q of %q", r, got.Header())
	}
	if r := got.Rows[1]; r[0] != "rr quantum=1s" || r[1] != "2 of 4" || r[4] != "2.50 ± ?" {
		t.Errorf("%q of %q", r, got.Header())
	}
}

func TestFormatNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 3: "3", 3.4: "3.40", 0.01234: "0.0123", 123.4: "123", 12345.6: "12,346", -1234567: "−1,234,567",
		0.00001: "1e-05", math.Inf(1): "–", math.NaN(): "–", 999.9: "1,000", -0.5: "−0.500",
	} {
		if got := table.Number(v); got != want {
			t.Errorf("FormatNumber(%v) = %q, want %q", v, got, want)
		}
	}
}
