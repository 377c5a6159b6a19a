package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// variant adds cells with the given mean waiting times to an experiment, one a replicate.
func variant(e *record.Experiment, workload, policy string, axes []record.Setting, waiting ...float64) {
	for i, w := range waiting {
		ref := record.CellRef{
			Cell: fmt.Sprintf("%s-%s%v-r%d", workload, policy, axes, i+1), Workload: workload, Hardware: "h",
			Policy: policy, Replicate: i + 1, Axes: axes,
		}
		e.Plan.Cells = append(e.Plan.Cells, ref)
		m := measure.Of(map[string]float64{"jobs": 8, "finished": 8, "mean_waiting_s": w, "utilization": w / 10,
			"mean_jct_s": 0, "p95_jct_s": 0})
		e.Cells = append(e.Cells, record.Cell{CellRef: ref, State: record.CellFinished, Metrics: m})
	}
}

// Where hardly any job waits the answers mention it, unless the policies make jobs faster by other means.
func TestIdle(t *testing.T) {
	cell := func(policy string, waiting, jct float64) record.Cell {
		return record.Cell{
			CellRef: record.CellRef{Workload: "w", Policy: policy, Replicate: 1},
			Metrics: measure.Of(map[string]float64{"mean_waiting_s": waiting, "mean_jct_s": jct}),
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

// between sets the variants of a comparison, "rr load=1".
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
			"rr cut mean waiting time by 43% against fcfs, from 3.40 s to 1.94 s (95% interval 39–46%, 5 pairs, p = 0.0003).",
		},
		{
			sentence(base, []float64{3.2, 3.5, 3.5, 3.8, 3.1}, "makespan_s", as(record.NoDifference)),
			"No difference in makespan was detected between rr and fcfs (95% interval of the change −7.7% to +7.3%, 5 pairs, p " +
				"= 1.00).",
		},
		{
			sentence(base, []float64{13.2, 15.5, 13.5, 16.8, 12.1}, "mean_slowdown",
				func(r *record.ComparisonRow) { r.Candidates = 3 }),
			"rr raised mean slowdown to 4.18 times that of fcfs, from 3.40 to 14.2 (95% interval 3.87–4.61 times, 5 pairs, p = " +
				"0.0003 after Holm's correction for 3 candidates).",
		},
		{
			sentence([]float64{0, 0, 0, 0}, []float64{17, 18, 16, 17}, "preemptions", as(record.Worse)),
			"rr raised preemptions against fcfs, from 0 to 17 (95% interval of the difference 14.8 to 19.2, 4 pairs, p = " +
				"0.0001).",
		},
		{
			sentence([]float64{4, 4, 4, 4, 4, 4}, []float64{2, 2, 2, 2, 2, 2}, "mean_jct_s", func(r *record.ComparisonRow) {
				*r = between(*r, "fcfs", "fast quantum=1s")
				r.Verdict = record.Better
			}),
			"fast quantum=1s cut mean JCT by 50% against fcfs, from 4 s to 2 s (6 pairs, all with the same difference, p = 0.031).",
		},
		{
			sentence([]float64{4, 4, 4, 4, 4, 4}, []float64{2, 2, 2, 2, 2, 2}, "mean_jct_s", func(r *record.ComparisonRow) {
				*r = between(*r, "fcfs jobs=8 kind=fixed", "rr jobs=8 kind=fixed")
				r.Verdict = record.Better
			}),
			"rr cut mean JCT by 50% against fcfs at jobs=8 kind=fixed, from 4 s to 2 s (6 pairs, all with the same difference, p = 0.031).",
		},
		{
			sentence(base, base, "mean_jct_s", as(record.NoDifference)),
			"No difference in mean JCT was detected between rr and fcfs (5 pairs, all equal).",
		},
		{
			sentence(base[:2], base[1:3], "mean_jct_s", as(record.NotEnoughReplicates)),
			"Too few replicates to compare mean JCT under rr and fcfs: 2 pairs; a verdict needs at least 3.",
		},
	} {
		if c.got != c.want {
			t.Errorf("sentence:\n%s\nwant:\n%s", c.got, c.want)
		}
	}
	if s := sentence(base[:1], base[1:2], "mean_jct_s", func(r *record.ComparisonRow) {
		r.Method, r.Blocks = record.OneRun, 9
	}); !strings.HasSuffix(s, "(one log of 9 stretches, no interval: that needs at least 10; a shorter block makes more).") {
		t.Errorf("with too few stretches: %s", s)
	}
	p.Workloads = []record.Named{{Name: "w"}, {Name: "v"}}
	if s := sentence(base, base, "mean_jct_s", as(record.NoDifference)); !strings.Contains(s,
		"between rr and fcfs on w (") {
		t.Errorf("with two workloads: %s", s)
	}
}

func TestAnswers(t *testing.T) {
	row := func(candidate, baseline, verdict string, ratio float64) record.ComparisonRow {
		r := record.ComparisonRow{Metric: "mean_jct_s", Verdict: verdict, Ratio: ratio, Pairs: 1}
		return between(r, baseline, candidate)
	}
	p := record.Plan{Policies: []record.Named{{Name: "rr", Summary: "round_robin, quantum 500ms, strict"}}}
	few := func(verdict string) []record.ComparisonRow {
		return []record.ComparisonRow{row("rr load=1", "fcfs load=1", verdict, 0.5),
			row("rr load=2", "fcfs load=2", verdict, 0.5)}
	}
	var many []record.ComparisonRow
	for i, load := range []string{"1", "2", "3", "4"} {
		verdict := []string{record.Better, record.Better, record.NoDifference, record.Worse}[i]
		many = append(many, row("rr load="+load, "fcfs load="+load, verdict, 0.8+0.1*float64(i)),
			row("las load="+load, "fcfs load="+load, record.Worse, 2+float64(i)))
	}
	once := func(r record.ComparisonRow) record.ComparisonRow {
		r.Method = record.OneRun
		return r
	}
	named := []record.ComparisonRow{ // an axis is compared under each policy
		row("easy sigma=1", "easy sigma=0", record.Better, 0.9), row("sjf sigma=1", "sjf sigma=0", record.NoDifference, 1),
		row("allox sigma=1", "allox sigma=0", record.Worse, 1.3), row("srtf sigma=1", "srtf sigma=0", record.NoDifference, 1),
		once(row("rr load=1", "fcfs load=1", record.NoDifference, 1)), once(row("rr load=2", "fcfs load=2", record.NoDifference, 1)),
		row("a", "b", record.Better, 0.5),
	}
	var within []record.ComparisonRow // the setting has a policy and an axis
	for i, setting := range []string{"fcfs variant=original", "fcfs variant=malleable", "priority variant=original", "priority variant=malleable"} {
		verdict := []string{record.Better, record.Better, record.NoDifference, record.Better}[i]
		within = append(within, row(setting+" allocation=max_prop", setting+" allocation=strict", verdict, 0.7),
			row(setting+" allocation=always_attend", setting+" allocation=strict", record.NoDifference, 0.9))
	}
	var classes []record.ComparisonRow
	for _, class := range []string{"long", "short"} {
		r := once(row("rr", "fcfs", record.NoDifference, 1))
		r.By, r.Group, r.BaselineMean, r.CandidateMean = "class", class, 2, 2
		classes = append(classes, r)
	}
	many = append(many, row("sjf a=1 b=1", "fcfs", record.Better, 0.5), row("sjf a=1 b=2", "fcfs", record.NoDifference, 1))
	for _, c := range []struct {
		rows []record.ComparisonRow
		want []string
	}{
		{few(record.NotEnoughReplicates), []string{"Too few replicates to compare mean JCT, in each of 2 " +
			"comparisons: 1 pair; a verdict needs at least 3."}},
		{many, []string{
			"rr against fcfs, mean JCT: better at load 1 and 2 (−20% to −10%), worse at 4 (+10%), no difference detected at 3.",
			"las against fcfs, mean JCT: worse at all 4 values of load (2 to 5 times).",
			"sjf against fcfs, mean JCT: better in 1 of 2 comparisons (−50%), no difference detected in 1.",
		}},
		{within, []string{"allocation=max_prop against allocation=strict, mean JCT: better under fcfs variant=original, " +
			"fcfs variant=malleable and priority variant=malleable (−30%), no difference detected under priority variant=original.",
			"allocation=always_attend against allocation=strict, mean JCT: no difference detected in all 4 comparisons."}},
		{named, []string{
			"sigma=1 against sigma=0, mean JCT: better under easy (−10%), worse under allox (+30%), no difference detected " +
				"under sjf and srtf.",
			"rr against fcfs, mean JCT: the same at both values of load; one run each, no interval.",
			Comparison(p, named[6]),
		}},
		{classes, []string{"rr against fcfs, mean JCT by class: long 2 s → 2 s (the same); short 2 s → 2 s (the same) " +
			"(one run, no interval: nothing is drawn at random)."}},
	} {
		var got []string
		rows := 0
		for _, a := range Answers(p, c.rows) {
			got, rows = append(got, a.Text), rows+a.Rows
		}
		if !slices.Equal(got, c.want) || rows != len(c.rows) {
			t.Errorf("%d answers for %d rows:\n%s", len(got), rows, strings.Join(got, "\n"))
		}
	}
	if got := Answers(p, named[4:6]); len(got) != 2 || got[0].Verdict != "the same" {
		t.Errorf("runs of a log without a difference: %+v", got)
	}
	if got := Answers(p, few(record.Better)); len(got) != 2 ||
		got[0].Text != Comparison(p, few(record.Better)[0]) {
		t.Errorf("few comparisons have no sentence each: %+v", got)
	}
}

// TestUnsaid checks that too few replicates are mentioned once.
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
	// fcfs: sd 0.8165, t(3, 1 − 2.5%/4) = 5.392, half-width 2.2; rr: 2 and 3, t(1, 1 − 2.5%/4) = 50.92, half-width 25.
	if r := got.Rows[0]; r[0] != "fcfs" || r[1] != "4, 1 failed" || r[4] != "5.0 ± 2.2" {
		t.Errorf("%q of %q", r, got.Header())
	}
	if r := got.Rows[1]; r[0] != "rr quantum=1s" || r[1] != "2 of 4" || r[4] != "2 (0 to 28)" {
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
