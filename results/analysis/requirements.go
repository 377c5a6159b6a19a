package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// limit is a requirement that is missed: deadlines, or the threshold of a metric, which is named by the metric's title.
type limit struct{ name, metric string }

const deadlines = "deadlines"

// required is a phrase for requirements, such as "deadlines and the thresholds of cost and makespan".
func required(names []string) string {
	var parts []string
	if slices.Contains(names, deadlines) {
		parts = append(parts, deadlines)
	}
	titles := schema.Where(names, func(s string) bool { return s != deadlines })
	if len(titles) > 0 {
		word := map[bool]string{true: "the threshold of ", false: "the thresholds of "}[len(titles) == 1]
		parts = append(parts, word+table.Listed(titles))
	}
	return table.Listed(parts)
}

// missedBy are the requirements that a variant misses: those of its jobs, such as their deadlines, in any of its cells,
// and the thresholds for all policies, at the mean over these. Variants that miss a requirement are not ranked among
// variants that keep it.
func missedBy(p record.Plan, v *Variant) (missed []limit) {
	for _, m := range measure.AllMetrics() {
		if m.Unmet && slices.ContainsFunc(v.Values(m), func(x float64) bool { return stats.Finite(x) && x > 0 }) {
			missed = append(missed, limit{deadlines, m.Name})
		}
	}
	for _, t := range p.Thresholds {
		m, ok := measure.MetricByName(t.Metric)
		if !ok || t.Min == nil && t.Max == nil || t.Policy != "" { // other policies have no such bound
			continue
		}
		if verdict := judge(meanOf(*v, m), t.Min, t.Max); verdict.Value != nil && !verdict.Met {
			missed = schema.AddOnce(missed, limit{m.Title, m.Name})
		}
	}
	return missed
}

// misses returns the names of the requirements that a variant misses, without the requirements on the metric by which
// variants are ranked: its values show them.
func (v *Variant) misses(by measure.Metric) []string {
	other := schema.Where(v.missed, func(l limit) bool { return l.metric != by.Name })
	return schema.Each(other, func(l limit) string { return l.name })
}

// Keeps reports whether a variant keeps all requirements, where variants are ranked by a metric.
func (v *Variant) Keeps(by measure.Metric) bool { return len(v.misses(by)) == 0 }

// misses are the requirements that an entry misses, and the fields in which it does.
func (o *Entry) misses(by measure.Metric) (limits []string, fields []int) {
	for k, v := range o.At {
		if v != nil && !v.Keeps(by) {
			fields = append(fields, k)
			limits = union(limits, v.misses(by))
		}
	}
	return limits, fields
}

// late returns the number of fields in which an entry misses requirements.
func (q *Question) late(o *Entry) int {
	_, fields := o.misses(q.Metric)
	return len(fields)
}

// unanswered returns the fields in which all entries miss requirements, so that none of them is an answer. If these are
// all fields, entries are ranked as if they had none, and it returns nothing.
func (q *Question) unanswered() []int {
	if q.late(&q.Entries[0]) == len(q.Fields) {
		return nil
	}
	return schema.Where(indices(q.Fields), func(k int) bool {
		return !slices.ContainsFunc(q.Entries, func(o Entry) bool { return o.At[k] != nil && o.At[k].Keeps(q.Metric) })
	})
}

// missing returns a clause that names the entries that miss requirements; "" if there are none. Kept names these
// requirements if other entries keep them in all fields. Only these others are ranked.
func (q *Question) missing(p record.Plan) (text, kept string) {
	late := schema.Where(q.Entries, func(o Entry) bool { return q.late(&o) > 0 })
	if len(late) == 0 {
		return "", ""
	}
	none := q.unanswered()
	var limits, parts []string
	everywhere := true
	for i := range late {
		missed, fields := late[i].misses(q.Metric)
		limits = union(limits, missed)
		everywhere = everywhere && len(fields) == len(q.Fields)
	}
	what := required(limits)
	if len(none) > 0 {
		parts = append(parts, "all miss "+what+q.in(p, none, len(q.Fields), true))
		late = schema.Where(late, func(o Entry) bool { return q.late(&o) > len(none) })
	}
	if len(late) > 0 && len(late) < len(q.Entries) {
		kept = strings.Replace(what, deadlines, "their "+deadlines, 1)
	}
	switch {
	case everywhere && kept == "":
		return "all miss " + what, ""
	case len(late) == 0:
		return parts[0], ""
	case everywhere || len(late) > mostListed:
		return strings.Join(append(parts, few(entryNames(late), "others")+missVerb(len(late))+what), "; "), kept
	}
	var clauses []string
	by := map[string][]string{} // the entries of each clause
	for i := range late {
		missed, fields := late[i].misses(q.Metric)
		fields = schema.Where(fields, func(k int) bool { return !slices.Contains(none, k) })
		clause := required(missed) + q.in(p, fields, len(q.Fields), true)
		clauses, by[clause] = schema.AddOnce(clauses, clause), append(by[clause], late[i].Name)
	}
	for _, clause := range clauses {
		parts = append(parts, table.Listed(by[clause])+missVerb(len(by[clause]))+clause)
	}
	return strings.Join(parts, "; "), kept
}

func missVerb(n int) string { return map[bool]string{true: " misses ", false: " miss "}[n == 1] }

// only returns the answer of a question with one setting in which a single entry keeps the requirements; else "".
func (q *Question) only(kept string) string {
	if len(q.Fields) > 1 || q.late(&q.Entries[0]) > 0 || q.late(&q.Entries[1]) == 0 {
		return ""
	}
	first := &q.Entries[0]
	text := fmt.Sprintf("only %s keeps %s (%s: %s)", first.Name, strings.Replace(kept, "their", "its", 1), q.Metric.Title,
		table.WithUnit(first.Means[0].Mean, q.Metric.Unit))
	if others := q.candidates(); len(others) == 1 && others[0].Rows[0] != nil {
		c := others[0].Change(0)
		text += "; " + c.Clause(others[0].Name, q.Base().Name, "")
	}
	return text
}
