package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// mostHeadlineRows bounds the table of a headline.
const mostHeadlineRows = 8

// Headline is the headline of an experiment, from its files alone.
func Headline(e *record.Experiment) (h table.Headline, err error) {
	rows, err := Comparisons(e)
	if err != nil {
		return h, err
	}
	contents, err := Parts(e)
	if err != nil {
		return h, err
	}
	return HeadlineOf(e, rows, contents)
}

// HeadlineOf answers the question of an experiment in a sentence, with a small table. The answer comes from a part
// that leads, or from the comparisons. Without comparisons it comes from a part (table.Section.Headline, or its
// first sentence), else from the means.
func HeadlineOf(e *record.Experiment, rows []record.ComparisonRow, contents []Content) (table.Headline, error) {
	variants := Variants(e)
	so := ""
	if !e.Complete() {
		so = fmt.Sprintf("So far, with %d of %d cells: ", len(e.Cells), len(e.Plan.Cells))
	}
	for _, t := range contents {
		if t.Headline.Leads {
			t.Headline.Sentence = so + t.Headline.Sentence
			return t.Headline, nil
		}
	}
	finished := slices.ContainsFunc(e.Cells, func(c record.Cell) bool { return measure.Finished.CountOf(&c.Metrics) > 0 })
	if len(e.Cells) > 0 && !finished && len(e.Cells[0].Failures) > 0 {
		first := e.Cells[0].Failures[0]
		return table.Headline{Sentence: fmt.Sprintf("%sNo job finished: %s ended with %s.", so, first.Job, first.Reason)}, nil
	}
	questions := questions(e, variants, rows)
	if len(e.Cells) == 0 {
		questions, variants = nil, nil
	}
	if len(questions) == 0 {
		for _, t := range contents {
			if t.Headline.Sentence != "" {
				return t.Headline, nil
			}
		}
		if len(variants) > 0 && len(e.Plan.Compares) == 0 {
			return table.Headline{Sentence: so + firstSentence(e, variants, contents), Table: means(e, variants)}, nil
		}
		return table.Headline{Sentence: firstOf(e, contents)}, nil
	}
	leaders, err := Leaders(e)
	if err != nil {
		return table.Headline{}, err
	}
	var clauses []string
	for i, q := range questions[:min(len(questions), mostClauses)] {
		clause := q.clause(e.Plan, leaders, i == 0)
		if i == 0 {
			lost, err := q.losers(e)
			if err != nil {
				return table.Headline{}, err
			}
			clause += lost
		}
		clauses = append(clauses, clause)
	}
	text := strings.Join(clauses, "; ") + "."
	if so == "" && !slices.ContainsFunc(questions[0].entries, func(o entry) bool { return strings.HasPrefix(text, o.name) }) {
		text = upper(text)
	}
	t, note := questions[0].table(e)
	return table.Headline{Sentence: so + text, Table: t, Note: note}, nil
}

// mostClauses is the number of questions that one sentence answers.
const mostClauses = 3

// firstOf is the first sentence that a part gives as the answer of an experiment without comparisons.
func firstOf(e *record.Experiment, contents []Content) string {
	for _, t := range contents {
		if t.Whole && len(e.Plan.Cells) > 0 {
			continue // it is about something else than the cells
		}
		if len(t.Answers) > 0 {
			return t.Answers[0]
		}
		for _, item := range t.Report {
			if item.Answer && len(item.Sentences) > 0 {
				return item.Sentences[0]
			}
		}
	}
	return ""
}

// firstSentence is firstOf, or the range of the means where no part has an answer.
func firstSentence(e *record.Experiment, variants []Variant, contents []Content) string {
	if text := firstOf(e, contents); text != "" {
		return text
	}
	m := ranking(e.Plan)
	best, worst := math.NaN(), math.NaN()
	var first, last string
	for _, i := range ranked(meansOf(variants, m), m) {
		if v := meansOf(variants, m)[i]; stats.Finite(v) {
			if math.IsNaN(best) {
				best, first = v, variants[i].Label+placed(e.Plan, variants[i].Workload, variants[i].Hardware)
			}
			worst, last = v, variants[i].Label+placed(e.Plan, variants[i].Workload, variants[i].Hardware)
		}
	}
	switch {
	case first == "":
		return "No job finished."
	case first == last:
		return fmt.Sprintf("%s: %s %s.", first, m.Title, table.WithUnit(best, m.Unit))
	}
	return fmt.Sprintf("%s was from %s (%s) to %s (%s); no comparison is asked for.", upper(m.Title),
		table.WithUnit(best, m.Unit), first, table.WithUnit(worst, m.Unit), last)
}

// means is the table of an experiment that compares nothing.
func means(e *record.Experiment, variants []Variant) table.Table {
	best, _ := Best(e.Plan, variants, mostHeadlineRows)
	return summary(e, SummaryOf(e.Plan, best))
}

func meansOf(variants []Variant, m measure.Metric) []float64 {
	out := make([]float64, len(variants))
	for i, v := range variants {
		out[i] = stats.MeanInterval(v.Values(m), DefaultLevel).Mean
	}
	return out
}

// question is the question of the compare blocks with one baseline: which of the others is better, in each
// setting.
type question struct {
	record.Compare
	metric  measure.Metric
	others  []measure.Metric // that are compared, too
	fields  []Field
	entries []entry // the best first
}

// entry is one of the things that are compared: a policy, or the value of an axis. It has a place for each field.
type entry struct {
	name  string
	base  bool
	at    []*Variant               // nil where it is not in the field
	rows  []*record.ComparisonRow  // of the metric, against the baseline; nil without one
	other [][]record.ComparisonRow // of the other metrics
	mean  []stats.Interval
	score float64
}

// questions returns the questions of the compare blocks, in their order.
func questions(e *record.Experiment, variants []Variant, rows []record.ComparisonRow) (out []question) {
	for _, c := range e.Plan.Compares {
		m, ok := measure.MetricByName(c.Metric)
		if !ok {
			continue
		}
		i := slices.IndexFunc(out, func(q question) bool {
			return q.Baseline == c.Baseline && slices.Equal(q.At, c.At)
		})
		if i < 0 {
			c.By = ""
			q := question{Compare: c, metric: m, fields: fields(variants, c)}
			out = append(out, q)
		} else if q := &out[i]; m.Name != q.metric.Name &&
			!slices.ContainsFunc(q.others, func(o measure.Metric) bool { return o.Name == m.Name }) {
			q.others = append(q.others, m)
		}
	}
	known := map[comparedPair][]record.ComparisonRow{}
	for _, r := range rows {
		if r.By == "" {
			pair := comparedPair{
				candidate: point{r.CandidatePolicy, record.AxesLabel(r.CandidateAxes), r.Workload, r.Hardware},
				baseline: point{r.BaselinePolicy, record.AxesLabel(r.BaselineAxes),
					cmp.Or(r.BaselineWorkload, r.Workload), cmp.Or(r.BaselineHardware, r.Hardware)},
			}
			known[pair] = append(known[pair], r)
		}
	}
	for i := range out {
		out[i].enter(known)
	}
	return slices.DeleteFunc(out, func(q question) bool { return len(q.entries) < 2 })
}

// point is a point of the matrix without its replicate, with its axes as text.
type point struct{ policy, axes, workload, hardware string }

// comparedPair is a candidate and the baseline that it is compared with.
type comparedPair struct{ candidate, baseline point }

// pointOf returns the point of a variant.
func pointOf(v *Variant) point {
	return point{v.Policy, record.AxesLabel(v.Axes), v.Workload, v.Hardware}
}

// enter fills in the entries from the fields and the comparisons.
func (q *question) enter(known map[comparedPair][]record.ComparisonRow) {
	n := len(q.fields)
	for i, f := range q.fields {
		at := slices.IndexFunc(f.Variants, q.isBase)
		if at < 0 {
			continue
		}
		base := f.Variants[at]
		for k := range f.Variants {
			v := &f.Variants[k]
			name := f.name(*v)
			j := slices.IndexFunc(q.entries, func(o entry) bool { return o.name == name })
			if j < 0 {
				j = len(q.entries)
				q.entries = append(q.entries, entry{name: name, base: q.isBase(*v), at: make([]*Variant, n),
					rows: make([]*record.ComparisonRow, n), other: make([][]record.ComparisonRow, n),
					mean: slices.Repeat([]stats.Interval{{Mean: math.NaN()}}, n)})
			}
			o := &q.entries[j]
			o.at[i], o.mean[i] = v, meanOf(q.metric, v.Values(q.metric))
			for _, r := range known[comparedPair{pointOf(v), pointOf(&base)}] {
				switch {
				case r.Metric == q.metric.Name && o.rows[i] == nil:
					o.rows[i] = &r
				case r.Metric != q.metric.Name:
					o.other[i] = append(o.other[i], r)
				}
			}
		}
	}
	q.rank()
}

func (q *question) isBase(v Variant) bool {
	if q.At == nil {
		return v.Policy == q.Baseline
	}
	return v.at(q.At) && (q.Baseline == "" || v.Policy == q.Baseline)
}

// rank puts the best entries first: the ones with the best mean over the fields, each with the same weight.
func (q *question) rank() {
	sums := make([]stats.Mean, len(q.entries))
	for i := range q.fields {
		most := 0.0
		for _, o := range q.entries {
			if v := o.mean[i].Mean; stats.Finite(v) {
				most = max(most, math.Abs(v))
			}
		}
		for k, o := range q.entries {
			if v := o.mean[i].Mean; stats.Finite(v) && most > 0 {
				sums[k].Add(v / most)
			}
		}
	}
	for k := range q.entries {
		q.entries[k].score = sums[k].Value()
	}
	slices.SortStableFunc(q.entries, func(a, b entry) int {
		x, y := a.score, b.score
		if math.IsNaN(x) || math.IsNaN(y) || q.metric.HigherBetter {
			return cmp.Compare(y, x) // NaN is below all numbers
		}
		return cmp.Compare(x, y)
	})
}

// base is the entry of the baseline.
func (q *question) base() *entry {
	return &q.entries[max(0, slices.IndexFunc(q.entries, func(o entry) bool { return o.base }))]
}

// candidates are the other entries.
func (q *question) candidates() (out []entry) {
	for _, o := range q.entries {
		if !o.base {
			out = append(out, o)
		}
	}
	return out
}

// verdicts counts the fields in which an entry has each verdict, and all fields in which it is compared.
func (o *entry) verdicts() (times map[string]int, of int) {
	times = map[string]int{}
	for _, r := range o.rows {
		if r != nil {
			times[r.Verdict]++
			of++
		}
	}
	return times, of
}

// alone reports whether the answer rests on one run of each.
func (q *question) alone() bool {
	for _, o := range q.entries {
		for _, r := range o.rows {
			if r != nil && r.Method != record.OneRun {
				return false
			}
		}
	}
	return true
}

// ofLogs reports whether all that is compared are replays of logs.
func (q *question) ofLogs(p record.Plan) bool {
	for _, o := range q.entries {
		for _, r := range o.rows {
			if r != nil && !(alone(*r) && isLog(p, r.Workload)) {
				return false
			}
		}
	}
	return true
}

// onThis is the scope of an answer without replicates: "on this log".
func (q *question) onThis(p record.Plan) string {
	several := false
	for _, f := range q.fields {
		name := f.Variants[0].Workload
		if !isLog(p, name) {
			return "in one run each"
		}
		i := slices.IndexFunc(p.Workloads, func(n record.Named) bool { return n.Name == name })
		several = several || name != q.fields[0].Variants[0].Workload || p.Workloads[i].Logs > 1 && len(q.fields) > 1
	}
	if several {
		return "on these logs"
	}
	return "on this log"
}

// clause answers the question in a clause. The first one has figures.
func (q *question) clause(p record.Plan, leaders []Leader, first bool) string {
	candidates := q.candidates()
	here := slices.DeleteFunc(slices.Clone(leaders), func(l Leader) bool {
		return l.Metric.Name != q.metric.Name || !slices.Equal(l.Axes, q.fields[0].axes)
	})
	begin := ""
	if first && (q.alone() || q.ofLogs(p)) {
		begin = q.onThis(p) + ", "
	}
	few := 0
	for _, o := range candidates {
		times, of := o.verdicts()
		if of > 0 && times[record.NotEnoughReplicates] < of {
			few++
		}
	}
	switch {
	case few == 0:
		return q.undecided(candidates)
	case len(candidates) == 1 && len(q.fields) == 1 && candidates[0].rows[0] != nil:
		text := strings.TrimSuffix(Comparison(p, *candidates[0].rows[0]), ".")
		if !first && text != "" { // inside of a sentence
			return strings.ToLower(text[:1]) + text[1:]
		}
		return text
	case len(here) > 0 && len(here) == len(q.fields) && len(q.fields) <= mostSettings && (first || len(q.fields) == 1):
		text := begin + q.best(p, here)
		if first && len(here) == 1 {
			text += q.remaining(here[0].Name)
		}
		return text
	case len(candidates) <= mostClauses:
		return begin + q.counts(candidates)
	}
	return begin + q.extremes(p, candidates)
}

// undecided describes the results where there are too few replicates for a verdict.
func (q *question) undecided(candidates []entry) string {
	best, base := q.entries[0], q.base()
	why := "too few replicates"
	for _, o := range candidates {
		for _, r := range o.rows {
			if r != nil {
				why = tooFew(*r)
			}
		}
	}
	text := fmt.Sprintf("no verdict on %s (%s)", q.metric.Title, why)
	if len(q.fields) == 1 && stats.Finite(best.mean[0].Mean) {
		text += fmt.Sprintf(": seen were %s under %s", table.WithUnit(best.mean[0].Mean, q.metric.Unit), best.name)
		if !best.base {
			text += fmt.Sprintf(" and %s under %s", table.WithUnit(base.mean[0].Mean, q.metric.Unit), base.name)
		}
	}
	return text
}

// counts counts the settings in which each of a few entries was better or worse than the baseline.
func (q *question) counts(candidates []entry) string {
	parts := schema.Each(candidates, q.against)
	return fmt.Sprintf("against %s, in %s: %s", q.base().name, q.metric.Title, strings.Join(parts, ", "))
}

// against is "rr was better in 7 of 9 settings (−12% to −3%)".
func (q *question) against(o entry) string {
	verdicts := verdictsOf(&o, q.alone())
	text := o.name + " was " + strings.Replace(verdicts, record.NoDifference, "not measurably different", 1)
	if change := changeOf(o.rows); change != "" {
		text += " (" + change + ")"
	}
	return text
}

// verdictsOf is "better in 7 of 9 settings, worse in 1", or the verdict for a single setting.
func verdictsOf(o *entry, alone bool) string {
	times, of := o.verdicts()
	if of == 1 {
		for _, r := range o.rows {
			if r != nil {
				return Said(*r)
			}
		}
	}
	var parts []string
	for _, v := range []string{record.Better, record.Worse} {
		if n := times[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s in %d", v, n))
		}
	}
	if len(parts) == 0 {
		if alone {
			return fmt.Sprintf("the same in all %d settings", of)
		}
		return fmt.Sprintf("not measurably different in any of %d settings", of)
	}
	parts[0] += fmt.Sprintf(" of %d settings", of)
	return strings.Join(parts, ", ")
}

// extremes describes the distances of the best and the worst of many comparisons from the baseline.
func (q *question) extremes(p record.Plan, candidates []entry) string {
	var best, worst *record.ComparisonRow
	of, differ := 0, 0
	for _, o := range candidates {
		for _, r := range o.rows {
			if r == nil {
				continue
			}
			of++
			if r.Verdict != record.Better && r.Verdict != record.Worse || !stats.Finite(r.Ratio) {
				continue
			}
			differ++
			if r.Verdict == record.Better && (best == nil || (r.Ratio > best.Ratio) == q.metric.HigherBetter) {
				best = r
			}
			if r.Verdict == record.Worse && (worst == nil || (r.Ratio < worst.Ratio) == q.metric.HigherBetter) {
				worst = r
			}
		}
	}
	text := fmt.Sprintf("against %s, %s differed in %d of %s", q.base().name, q.metric.Title, differ,
		schema.Plural(of, "comparison"))
	var parts []string
	for _, x := range []struct {
		r    *record.ComparisonRow
		word string
	}{{best, "best"}, {worst, "worst"}} {
		if x.r != nil {
			candidate, _, where := names(p, *x.r)
			parts = append(parts, fmt.Sprintf("%s with %s%s (%s)", x.word, candidate, where, changes(x.r.Ratio, x.r.Ratio)))
		}
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}
