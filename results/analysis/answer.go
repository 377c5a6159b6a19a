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

// HeadlineOf answers the question of an experiment in at most two sentences, with a small table: which policy is the
// best, by how much, and which jobs or metrics are worse for it. The answer comes from a part of the results whose
// headline leads, else from the comparisons. Without comparisons it comes from the first part that has an answer, else
// from the means.
func HeadlineOf(e *record.Experiment, rows []record.ComparisonRow, contents []Content) (h table.Headline, err error) {
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
		return table.Headline{Sentence: fmt.Sprintf("%sNo job finished: %s ended with %s.", so, first.Job,
			first.Reason)}, nil
	}
	questions := Questions(e, rows)
	if len(questions) == 0 {
		for _, t := range contents {
			if t.Headline.Sentence != "" {
				return t.Headline, nil
			}
		}
		if h.Sentence = firstOf(e, contents); len(e.Cells) > 0 && len(e.Plan.Compares) == 0 {
			h.Table = summary(e, SummaryOf(e.Plan, Best(e.Plan, Variants(e), mostHeadlineRows)))
			if h.Sentence == "" {
				h.Sentence = meansOf(e)
			}
			h.Sentence = so + h.Sentence
		}
		return h, nil
	}
	var said []string
	for i := range questions[:min(len(questions), 2)] {
		text, more, err := questions[i].Say(e, len(questions) == 1)
		if err != nil {
			return h, err
		}
		switch {
		case i == 0 && more != "" && len(questions) > 1:
			text = strings.TrimSuffix(text, ".") + "; " + more
		case i == 0 && more != "":
			text += " " + sentence(strings.TrimSuffix(more, "."), entryNames(questions[0].Entries)...)
		}
		said = append(said, text)
	}
	h.Sentence = so + strings.Join(said, " ")
	h.Table, h.Note = questions[0].table(e)
	if n := len(questions) - 2; n > 0 {
		h.Note = strings.TrimSpace(fmt.Sprintf("%s Compared with %s, too: see %s.", h.Note,
			schema.Plural(n, "other baseline"), record.Comparisons.File))
	}
	return h, nil
}

// firstOf returns the first sentence that a part of the results marks as an answer; "" without one.
func firstOf(e *record.Experiment, contents []Content) string {
	for _, t := range contents {
		if t.Whole && len(e.Plan.Cells) > 0 {
			continue // the part is not about the cells
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

// meansOf names the best and the worst mean of an experiment without comparisons.
func meansOf(e *record.Experiment) string {
	m := ranking(e.Plan)
	known := schema.Where(Variants(e), func(v Variant) bool { return stats.Finite(meanOf(v, m)) })
	slices.SortStableFunc(known, func(a, b Variant) int { return better(meanOf(a, m), meanOf(b, m), m) })
	value := func(v Variant) string { return table.WithUnit(meanOf(v, m), m.Unit) }
	name := func(v Variant) string { return v.Label + placed(e.Plan, v.Workload, v.Hardware) }
	if len(known) == 0 {
		return "No job finished."
	}
	first, last := known[0], known[len(known)-1]
	if len(known) == 1 {
		u, is := table.UnitFor(m.Unit, meanOf(first, m)), value(first)
		if text := u.Interval(first.mean(m)); !table.IsOpen(text) {
			is = strings.TrimSpace(text + " " + u.Name)
		}
		return sentence(fmt.Sprintf("%s is %s under %s", m.Title, is, name(first)))
	}
	return sentence(fmt.Sprintf("%s goes from %s (%s) to %s (%s); no comparison is asked for", m.Title, value(first),
		name(first), value(last), name(last)))
}

func meanOf(v Variant, m measure.Metric) float64 {
	return stats.MeanInterval(v.Values(m), DefaultLevel).Mean
}

// Say answers the question in a sentence. More names the metrics that are worse for it and, if jobs is true, the groups
// of jobs that are.
func (q *Question) Say(e *record.Experiment, jobs bool) (text, more string, err error) {
	begin := ""
	if scope, log := q.scope(e.Plan); log {
		begin = scope + ", "
	}
	late, kept := q.missing(e.Plan)
	candidates := q.candidates()
	if kept != "" && len(candidates) > 1 {
		begin += "of those that keep " + kept + ", "
	}
	winners, unsure := make([][]string, len(q.Fields)), []string(nil)
	for k := range q.Fields {
		if slices.Contains(q.unanswered(), k) {
			continue // no entry is an answer
		}
		if winners[k], unsure, err = q.best(e, k); err != nil {
			return "", "", err
		}
	}
	switch only := q.only(kept); {
	case only != "":
		begin, text = strings.TrimSuffix(begin, "of those that keep "+kept+", "), only
	case len(q.Fields) == 1 && len(candidates) == 1 && candidates[0].Rows[0] != nil:
		c, where := candidates[0].Change(0), ""
		_, _, where = names(e.Plan, *candidates[0].Rows[0])
		text = c.Clause(candidates[0].Name, q.Base().Name, where)
	case len(q.Fields) == 1:
		text = q.ranked(winners[0], unsure)
	case len(candidates) == 1:
		text = q.counted(e.Plan, candidates[0])
	default:
		text = q.won(e.Plan, winners)
	}
	price, err := q.price(e, jobs)
	if err != nil {
		return "", "", err
	}
	if late != "" {
		price = append([]string{late}, price...)
	}
	if days := q.otherDays(); days != "" {
		price = append([]string{days}, price...)
	}
	if len(price) > 0 {
		more = strings.Join(price, "; ") + "."
	}
	return sentence(begin+text, entryNames(q.Entries)...), more, nil
}

func entryNames(entries []Entry) []string {
	return schema.Each(entries, func(o Entry) string { return o.Name })
}

// scope returns "on this log" or "on these logs" if each answer comes from one replay of a log; else false.
func (q *Question) scope(p record.Plan) (string, bool) {
	logs := map[string]bool{}
	several := false
	for _, o := range q.Entries {
		for _, r := range o.Rows {
			if r == nil {
				continue
			}
			if !alone(*r) || !isLog(p, r.Workload) {
				return "", false
			}
			i := slices.IndexFunc(p.Workloads, func(n record.Named) bool { return n.Name == r.Workload })
			logs[r.Workload], several = true, several || p.Workloads[i].Logs > 1 && len(q.Fields) > 1
		}
	}
	if len(logs) > 1 || several {
		return "on these logs", true
	}
	return "on this log", len(logs) > 0
}

// ranked answers a question in one setting. Best are the entry with the best mean and those without a known difference
// from it; unsure are those of them about which too few runs say anything.
func (q *Question) ranked(best, unsure []string) string {
	base := q.Base()
	if best == nil {
		return "too few runs to say which has the " + extreme(q.Metric, len(q.Entries)) + q.seen() + q.runs()
	}
	first := &q.Entries[slices.IndexFunc(q.Entries, func(o Entry) bool { return o.Name == best[0] })]
	c := first.Change(0)
	exact := q.exact(0)
	if len(best) == len(q.Entries) {
		if exact || !slices.ContainsFunc(q.candidates(), func(o Entry) bool { return o.Change(0).Finding != equal }) {
			return fmt.Sprintf("%s have the same %s: %s", few(best, q.noun()), q.Metric.Title,
				table.WithUnit(first.Means[0].Mean, q.Metric.Unit))
		}
		return q.undecided(best)
	}
	var text string
	switch {
	case first.Base:
		text = fmt.Sprintf("%s, the baseline, has the %s: %s", first.Name, extreme(q.Metric, len(q.Entries)),
			table.WithUnit(first.Means[0].Mean, q.Metric.Unit))
	case c.worth() > 0:
		text = fmt.Sprintf("%s has the %s, %s", first.Name, extreme(q.Metric, len(q.Entries)), c.Against(base.Name))
	default:
		text = fmt.Sprintf("none has a measurably %s than %s", extreme(q.Metric, 2), base.Name)
	}
	others := schema.Where(best[1:], func(name string) bool { return c.worth() > 0 || first.Base })
	if len(others) > 0 && exact {
		text += ", the same as " + few(others, "others")
	} else if len(others) > 0 {
		text += unknown(others, unsure)
	}
	told := schema.AddOnce(slices.Clone(others), first.Name)
	if c.worth() <= 0 && !first.Base {
		told = nil
	}
	return text + q.rest(told)
}

// seen returns the means of the best entry and of the baseline in too few runs: ": in these it is 3 s under sjf and 5 s
// under fcfs". It names the second entry if the baseline is the best.
func (q *Question) seen() string {
	first, other := &q.Entries[0], q.Base()
	if first.Base {
		other = &q.Entries[1]
	}
	c := Change{Metric: q.Metric, From: first.Means[0].Mean, To: other.Means[0].Mean}
	text := ": in these it is " + c.value(c.From) + " under "
	switch _, _, same := q.constant(); {
	case !stats.Finite(c.From):
		return ""
	case same:
		return text + "all of them"
	case !stats.Finite(c.To):
		return text + first.Name
	}
	return text + first.Name + " and " + c.value(c.To) + " under " + other.Name
}

// noun returns the noun for the entries of a question: policies, or candidates that differ in more than the policy.
func (q *Question) noun() string {
	return map[bool]string{true: "policies", false: "candidates"}[q.At == nil]
}

// exact reports whether each entry of a field has one run without chance, so that differences need no test.
func (q *Question) exact(field int) bool {
	return slices.ContainsFunc(q.Entries, func(o Entry) bool { return o.Rows[field] != nil && alone(*o.Rows[field]) })
}

// unknown returns a clause about entries without a known difference from the best. Unsure are those of them with too
// few runs.
func unknown(names, unsure []string) (text string) {
	for _, u := range unsure {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == u })
	}
	if len(names) > 0 {
		text = "; no difference from " + few(names, "others") + " is known"
	}
	if len(unsure) > 0 {
		text += "; too few runs to tell " + few(unsure, "others") + " apart"
	}
	return text
}

// undecided returns the answer if no two entries have a known difference.
func (q *Question) undecided(names []string) string {
	widest := slices.MaxFunc(q.candidates(), func(a, b Entry) int {
		return cmp.Compare(math.Abs(a.Change(0).Ratio-1), math.Abs(b.Change(0).Ratio-1))
	})
	c := widest.Change(0)
	size := c.Signed()
	if !stats.Finite(c.Ratio) {
		size = c.fromTo()
	}
	return fmt.Sprintf("no difference in %s is known among %s: the largest seen is that of %s against %s, %s",
		q.Metric.Title, few(names, q.noun()), widest.Name, q.Base().Name, size)
}

// runs returns the smallest number of runs that would decide a candidate: " (about 14 runs would do)".
func (q *Question) runs() string {
	text, fewest := "", math.MaxInt
	for _, o := range q.Entries {
		for k, r := range o.Rows {
			if c := o.Change(k); c.Few != "" {
				if n, _ := lacks(r); text == "" || n > 0 && n < fewest {
					text, fewest = " ("+c.Few+")", cmp.Or(n, math.MaxInt)
				}
			}
		}
	}
	return text
}

// rest returns a clause about the entries that are not in named: "; rr is better than fcfs (−12%); 3 others are worse
// (+5% to +30%)".
func (q *Question) rest(named []string) string {
	var text string
	base := q.Base()
	for _, group := range []struct {
		worth    int
		one, all string
	}{
		{1, "is better than " + base.Name, "are better than " + base.Name}, {-1, "is worse", "are worse"},
	} {
		var names []string
		var changes []Change
		for _, o := range q.candidates() {
			if q.late(&o) > 0 && q.late(&q.Entries[0]) == 0 {
				continue // missing names it
			}
			if c := o.Change(0); c.worth() == group.worth && !slices.Contains(named, o.Name) {
				names, changes = append(names, o.Name), append(changes, c)
			}
		}
		switch {
		case len(names) == 1:
			text += fmt.Sprintf("; %s %s (%s)", names[0], group.one, signedSpan(changes))
		case len(names) > 1:
			text += fmt.Sprintf("; %s %s (%s)", few(names, "others"), group.all, signedSpan(changes))
		}
	}
	return text
}
