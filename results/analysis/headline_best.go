package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// best names the entries that were the best in a few settings: "srtf had the lowest mean JCT, 3.1 min, −34%
// against fcfs", "a had the lowest mean JCT at load 0.5 and 0.7, b at 0.9". The entries that are the best, or
// not measurably worse, in the most settings come first.
func (q *question) best(p record.Plan, here []Leader) string {
	extreme := strings.Replace(strings.ToLower(extreme(here[0])), strings.ToLower(q.metric.Title), q.metric.Title, 1)
	axis := soleSetting(p, here)
	if text := q.equal(p, here, axis); text != "" {
		return text
	}
	left := here
	var parts []string
	for len(left) > 0 {
		var name string
		var won []Leader
		for _, o := range q.entries {
			if w := q.wonBy(o.name, left); len(w) > len(won) {
				name, won = o.name, w
			}
		}
		if len(won) == 0 { // a name that is no entry
			name, won = left[0].Name, left[:1]
			left = left[1:]
		}
		left = slices.DeleteFunc(slices.Clone(left), func(l Leader) bool { return q.among(l, name) })
		part := name
		if len(parts) == 0 {
			part += " had the " + extreme
		}
		part += q.winnings(p, name, won, here, axis, len(parts) == 0)
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// among reports whether an entry was the best of a setting, or as good. The comparisons with the baseline, which
// are fewer, may have detected differences that the ranking did not: an entry worse than the baseline is not as
// good, and where the best beats the baseline, neither is an entry that does not.
func (q *question) among(l Leader, name string) bool {
	if name == l.Name {
		return true
	}
	if !slices.Contains(l.Alike, name) {
		return false
	}
	for k, f := range q.fields {
		if l.in(f) && (q.verdict(name, k) == record.Worse ||
			q.verdict(l.Name, k) == record.Better && q.verdict(name, k) != record.Better) {
			return false
		}
	}
	return true
}

// verdict returns an entry's verdict against the baseline in a field; empty where it was not compared.
func (q *question) verdict(name string, field int) string {
	for _, o := range q.entries {
		if r := o.rows[field]; o.name == name && r != nil {
			return r.Verdict
		}
	}
	return ""
}

// wonBy are the settings in which an entry was among the best.
func (q *question) wonBy(name string, leaders []Leader) (won []Leader) {
	for _, l := range leaders {
		if q.among(l, name) {
			won = append(won, l)
		}
	}
	return won
}

// remaining counts the verdicts of the entries that are neither the best nor the baseline, as
// "; the 3 others against fcfs: 2 better, 1 worse".
func (q *question) remaining(best string) string {
	times, base := map[string]int{}, q.base().name
	var others []entry
	for _, o := range q.candidates() {
		if r := o.rows[0]; r != nil && o.name != best {
			times[Said(*r)]++
			others = append(others, o)
		}
	}
	switch of := len(others); {
	case times[same] == of || times[record.NoDifference] == of && best == base:
		return ""
	case of <= mostAlike && len(times) > 1 || of == 1:
		parts := schema.Each(others, q.against)
		return fmt.Sprintf("; against %s, %s", base, table.Listed(parts))
	case times[record.Better] == of:
		return fmt.Sprintf("; all others were better than %s, too", base)
	case times[record.Worse] == of:
		return fmt.Sprintf("; all others were worse than %s", base)
	case times[record.NoDifference] == of:
		return fmt.Sprintf("; no difference from %s was detected for the others", base)
	default:
		var parts []string
		for _, v := range []string{record.Better, record.Worse, same, record.NoDifference} {
			if n := times[v]; n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, v))
			}
		}
		return fmt.Sprintf("; the %d others against %s: %s", of, base, strings.Join(parts, ", "))
	}
}

// equal is the answer where all entries have the same mean in each setting: "mean waiting time is the same under fcfs
// and easy at all 4 values of cores (0 s)"; "" elsewhere.
func (q *question) equal(p record.Plan, here []Leader, axis string) string {
	var names []string
	low, high := math.Inf(1), math.Inf(-1)
	for _, o := range q.entries {
		names = append(names, o.name)
		for k, i := range o.mean {
			if i.Mean != q.entries[0].mean[k].Mean { // also where one is not known
				return ""
			}
			low, high = min(low, i.Mean), max(high, i.Mean)
		}
	}
	with := "under"
	if q.At != nil {
		with = "with"
	}
	return fmt.Sprintf("%s is the same %s %s%s (%s)", q.metric.Title, with, someNames(names),
		whereOf(p, here, here, axis, true), table.Between(low, high, q.metric.Unit))
}

// whereOf returns the end of a sentence that says in which settings an entry was the best: " in all 5 settings". It is
// empty for an experiment with one setting.
func whereOf(p record.Plan, won, all []Leader, axis string, first bool) (text string) {
	var where []string
	for _, l := range won {
		if axis != "" {
			where = append(where, l.Setting[0].Value)
		} else if s := strings.TrimSpace(settingOf(p, l)); s != "" {
			where = append(where, s)
		}
	}
	switch {
	case len(all) == 1:
	case len(won) == len(all) && axis != "":
		text = fmt.Sprintf(" at %s values of %s", allOf(len(all)), axis)
	case len(won) == len(all):
		text = fmt.Sprintf(" in %s settings", allOf(len(all)))
	case axis != "" && first:
		text = " at " + axis + " " + table.Listed(where)
	case axis != "":
		text = " at " + table.Listed(where)
	case len(where) > 0:
		text = " " + table.Listed(where)
	}
	return text
}

// winnings names the settings in which an entry was the best, its values there, and the entries that were as good
// in all of them.
func (q *question) winnings(p record.Plan, name string, won, all []Leader, axis string, first bool) string {
	text := whereOf(p, won, all, axis, first)
	i := slices.IndexFunc(q.entries, func(o entry) bool { return o.name == name })
	if i < 0 {
		return text
	}
	o := q.entries[i]
	low, high := math.Inf(1), math.Inf(-1)
	var rows []*record.ComparisonRow
	for k, f := range q.fields {
		if slices.ContainsFunc(won, func(l Leader) bool { return l.in(f) }) {
			low, high = min(low, o.mean[k].Mean), max(high, o.mean[k].Mean)
			rows = append(rows, o.rows[k])
		}
	}
	var notes []string
	if stats.Finite(low) {
		notes = append(notes, table.Between(low, high, q.metric.Unit))
	}
	if o.base {
		notes = append(notes, "the baseline")
	} else if change := changeOf(rows); change != "" {
		note := change + " against " + q.base().name
		if found := detected(rows); found < len(rows) {
			note += fmt.Sprintf(" in %d of %d", found, len(rows))
		}
		notes = append(notes, note)
	}
	var alike []string
	for _, other := range q.entries {
		if other.name != name && len(q.wonBy(other.name, won)) == len(won) {
			alike = append(alike, other.name)
		}
	}
	if len(alike) > 0 {
		said := "no difference detected from "
		if won[0].Method == record.OneRun {
			said = "the same as "
		}
		notes = append(notes, said+someNames(alike))
	} else if others := slices.DeleteFunc(slices.Clone(won), func(l Leader) bool {
		return l.Name == name
	}); len(others) > 0 {
		where := "there"
		if len(won) > 1 {
			where = fmt.Sprintf("in %d of them", len(others))
		}
		beaten := "lower"
		if q.metric.HigherBetter {
			beaten = "higher"
		}
		notes = append(notes, fmt.Sprintf("%s another was %s, but not measurably", where, beaten))
	}
	return text + " (" + strings.Join(notes, "; ") + ")"
}

// allOf is "both" or "all 3".
func allOf(n int) string {
	if n == 2 {
		return "both"
	}
	return fmt.Sprintf("all %d", n)
}

// in reports whether a leader belongs to a field.
func (l *Leader) in(f Field) bool {
	v := f.Variants[0]
	return slices.Equal(l.Setting, f.Setting) && (l.Workload == v.Workload || slices.Contains(f.axes, "workload")) &&
		(l.Hardware == "" || l.Hardware == v.Hardware) && (l.Policy == "" || l.Policy == v.Policy)
}

// detected counts the comparisons in which a difference was detected.
func detected(rows []*record.ComparisonRow) (n int) {
	for _, r := range rows {
		if r != nil && (r.Verdict == record.Better || r.Verdict == record.Worse) {
			n++
		}
	}
	return n
}

// changeOf is the range of the changes of comparisons in which a difference was detected.
func changeOf(rows []*record.ComparisonRow) string {
	low, high, n := math.Inf(1), math.Inf(-1), 0
	for _, r := range rows {
		if r != nil && (r.Verdict == record.Better || r.Verdict == record.Worse) && stats.Finite(r.Ratio) {
			low, high, n = min(low, r.Ratio), max(high, r.Ratio), n+1
		}
	}
	if n == 0 {
		return ""
	}
	return changes(low, high)
}
