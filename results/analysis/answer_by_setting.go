package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// mostSettings is the greatest number of settings that a sentence names.
const mostSettings = 6

// counted answers a question with one candidate in several settings: it names the settings in which the candidate is
// better or worse.
func (q *Question) counted(p record.Plan, o Entry) string {
	by := map[finding][]int{}
	of := 0
	for k, r := range o.Rows {
		if r != nil {
			c := o.Change(k)
			by[c.Finding] = append(by[c.Finding], k)
			of++
		}
	}
	changes := func(fields []int) []Change { return schema.Each(fields, o.Change) }
	var parts []string
	sides := []finding{falls, rises}
	if q.Metric.HigherBetter {
		sides = []finding{rises, falls}
	}
	for _, side := range sides {
		if fields := by[side]; len(fields) > 0 {
			verb := (&Change{Finding: side}).side("cuts ", "raises ")
			object := q.Metric.Title + " against " + q.Base().Name
			if len(parts) > 0 {
				object = "it"
			}
			by := ", by "
			if strings.HasPrefix(unsignedSpan(changes(fields)), "from") {
				by = ", "
			}
			parts = append(parts, verb+object+q.in(p, fields, of, len(parts) == 0)+by+unsignedSpan(changes(fields)))
		}
	}
	if len(parts) == 0 {
		switch {
		case len(by[equal]) == of:
			return fmt.Sprintf("%s and %s have the same %s in %s settings", o.Name, q.Base().Name, q.Metric.Title, allOf(of))
		case len(by[unclear]) > 0:
			return fmt.Sprintf("too few runs to say whether %s or %s has the %s in %d of %d settings%s", o.Name,
				q.Base().Name, extreme(q.Metric, 2), len(by[unclear]), of, q.runs())
		}
		return fmt.Sprintf("no difference in %s is known between %s and %s in any of %d settings: %s", q.Metric.Title,
			o.Name, q.Base().Name, of, signedSpan(changes(slices.Concat(by[noDifference], by[equal]))))
	}
	text := o.Name + " " + strings.Join(parts, ", and ")
	if n := len(by[noDifference]); n > 0 {
		text += fmt.Sprintf("; in %d no difference is known", n)
	}
	if n := len(by[unclear]); n > 0 {
		text += fmt.Sprintf("; in %d too few runs say whether it differs", n)
	}
	if n := len(by[equal]); n > 0 {
		text += fmt.Sprintf("; in %d it is the same", n)
	}
	return text
}

// allOf is "both" or "all 3".
func allOf(n int) string {
	if n == 2 {
		return "both"
	}
	return fmt.Sprintf("all %d", n)
}

// in names the fields at some indices: " at load 0.5 and 0.7", " in 18 of 30 settings", " at all 3 values of load".
func (q *Question) in(p record.Plan, fields []int, of int, first bool) string {
	axis := q.axis()
	switch {
	case of > 1 && len(fields) == of && axis != "":
		return fmt.Sprintf(" at %s values of %s", allOf(of), axis)
	case of > 1 && len(fields) == of:
		return fmt.Sprintf(" in %s settings", allOf(of))
	case of > mostSettings && first:
		return fmt.Sprintf(" in %d of %d settings", len(fields), of)
	case of > mostSettings:
		return fmt.Sprintf(" in %d", len(fields))
	case axis != "":
		values := schema.Each(fields, func(k int) string { return q.Fields[k].Setting[0].Value })
		if first {
			return " at " + axis + " " + table.Listed(values)
		}
		return " at " + table.Listed(values)
	case q.whole(fields) != "":
		return q.whole(fields)
	default:
		all := schema.Each(fields, func(k int) string { return q.Fields[k].Where(p) })
		begin := " at "
		switch {
		case strings.HasPrefix(all[0], "on "):
			begin = " "
		case q.Fields[0].axes != nil && len(p.Policies) > 1:
			begin = " under "
		}
		return begin + table.Listed(all)
	}
}

// whole names the workload or the hardware if the fields at some indices are all of its fields: " on workload burst".
func (q *Question) whole(fields []int) string {
	for _, kind := range []string{"workload", "hardware"} {
		name := func(k int) string { v, _ := q.Fields[k].Variants[0].value(kind); return v }
		own := schema.Where(indices(q.Fields), func(k int) bool { return name(k) == name(fields[0]) })
		if len(fields) > 1 && slices.Equal(fields, own) {
			return " on " + kind + " " + name(fields[0])
		}
	}
	return ""
}

// axis returns the axis by which the fields differ; "" if they differ in more than one axis, in workload or in
// hardware.
func (q *Question) axis() string {
	first := q.Fields[0]
	for _, f := range q.Fields {
		v, w := f.Variants[0], first.Variants[0]
		if len(f.Setting) != 1 || f.Setting[0].Name != first.Setting[0].Name || v.Workload != w.Workload ||
			v.Hardware != w.Hardware || f.axes != nil && v.Policy != w.Policy {
			return ""
		}
	}
	return first.Setting[0].Name
}

// won answers a question with several candidates in several settings: it names the best entry of each setting.
func (q *Question) won(p record.Plan, winners [][]string) string {
	open := map[int]bool{}
	for k, names := range winners {
		if names != nil {
			open[k] = true
		}
	}
	of := len(q.Fields)
	if len(open) == 0 {
		return fmt.Sprintf("too few runs to say which has the %s in any of %d settings%s",
			extreme(q.Metric, len(q.Entries)), of, q.runs())
	}
	if low, high, same := q.constant(); same {
		return fmt.Sprintf("%s have the same %s in %s settings (%s)", few(entryNames(q.Entries), q.noun()), q.Metric.Title,
			allOf(of), table.Between(low, high, q.Metric.Unit))
	}
	base := q.Base().Name
	var parts []string
	for len(open) > 0 {
		var name string
		var fields []int
		for _, o := range q.Entries {
			var won []int
			for k := range q.Fields {
				if open[k] && slices.Contains(winners[k], o.Name) {
					won = append(won, k)
				}
			}
			if len(won) > len(fields) {
				name, fields = o.Name, won
			}
		}
		if len(parts) == mostListed {
			parts = append(parts, fmt.Sprintf("others in %d", len(open)))
			break
		}
		o := q.Entries[slices.IndexFunc(q.Entries, func(o Entry) bool { return o.Name == name })]
		tied := 0
		for _, k := range fields {
			delete(open, k)
			if winners[k][0] != name {
				tied++
			}
		}
		part := name
		if len(parts) == 0 && tied > 0 {
			part += " has the " + extreme(q.Metric, len(q.Entries)) + ", or ties for it,"
		} else if len(parts) == 0 {
			part += " has the " + extreme(q.Metric, len(q.Entries))
		}
		part += q.in(p, fields, of, len(parts) == 0)
		// Of many settings, the notes on the first entry are enough for a sentence: the table has the others.
		if notes := q.notes(&o, fields, winners, base); len(notes) > 0 && (len(parts) == 0 || of <= mostSettings) {
			part += " (" + strings.Join(notes, "; ") + ")"
		}
		parts = append(parts, part)
	}
	if worst := q.worst(p); worst != "" {
		parts[len(parts)-1] += "; " + worst
	}
	text := strings.Join(parts, ", ")
	if few := schema.Where(indices(q.Fields), func(k int) bool {
		return winners[k] == nil && !slices.Contains(q.unanswered(), k) &&
			slices.ContainsFunc(q.Entries, func(o Entry) bool { return o.Rows[k] != nil })
	}); len(few) > 0 {
		text += "; too few runs to say which" + q.in(p, few, of, false)
	}
	return text
}

// worst names the candidate and the setting with the greatest loss, if values of axes are compared; else "".
func (q *Question) worst(p record.Plan) string {
	text, most := "", leastLoss
	for _, o := range q.candidates() {
		for k := range q.Fields {
			if c := o.Change(k); q.At != nil && c.worth() < 0 && math.Abs(c.Ratio-1) > most {
				most = math.Abs(c.Ratio - 1)
				where := "" // of many settings, the table names the one
				if len(q.Fields) <= mostSettings {
					where = q.in(p, []int{k}, 0, true)
				}
				text = fmt.Sprintf("the greatest loss is that of %s%s, %s", o.Name, where, c.Signed())
			}
		}
	}
	return text
}

// notes returns remarks on an entry in the settings in which it is the best: by how much it beats the baseline, and
// which other entries have no known difference from it.
func (q *Question) notes(o *Entry, fields []int, winners [][]string, base string) (notes []string) {
	if o.Base {
		notes = append(notes, "the baseline")
	} else {
		beats := schema.Where(schema.Each(fields, o.Change), func(c Change) bool { return c.worth() > 0 })
		switch {
		case len(beats) == 0:
			notes = append(notes, "no difference from "+base+" is known")
		case len(beats) < len(fields):
			notes = append(notes, fmt.Sprintf("%s against %s in %d of them", signedSpan(beats), base, len(beats)))
		default:
			notes = append(notes, fmt.Sprintf("%s against %s", signedSpan(beats), base))
		}
	}
	var asGood []string
	for _, other := range q.Entries {
		if other.Name != o.Name && !slices.ContainsFunc(fields, func(k int) bool {
			return !slices.Contains(winners[k], other.Name)
		}) && (other.Name != base || len(notes) == 0 || !strings.HasPrefix(notes[0], "no difference")) {
			asGood = append(asGood, other.Name)
		}
	}
	if len(asGood) > 0 && q.exact(fields[0]) {
		notes = append(notes, "the same as "+few(asGood, "others"))
	} else if len(asGood) > 0 {
		notes = append(notes, "no difference from "+few(asGood, "others")+" is known")
	}
	return notes
}

// constant reports whether all entries have the same mean in each setting, and returns the least and the greatest of
// these means.
func (q *Question) constant() (low, high float64, same bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, o := range q.Entries {
		for k, i := range o.Means {
			first := slices.IndexFunc(q.Entries, func(o Entry) bool { return o.At[k] != nil })
			switch {
			case o.At[k] == nil:
			case i.Mean != q.Entries[first].Means[k].Mean: // a NaN differs, too
				return low, high, false
			default:
				low, high = min(low, i.Mean), max(high, i.Mean)
			}
		}
	}
	return low, high, true
}

// otherDays returns a clause that says whether other days of the logs would show the differences; "" for other
// workloads.
func (q *Question) otherDays() string {
	holds, of := 0, 0
	for _, o := range q.candidates() {
		for k, r := range o.Rows {
			if r == nil || r.Blocks == 0 || o.Change(k).Finding == equal {
				continue
			}
			if of++; len(q.Fields) == 1 {
				return elsewhereOf(r) // the first is the best
			}
			if f := beyond(r).Finding; f == falls || f == rises {
				holds++
			}
		}
	}
	switch {
	case of == 0:
		return ""
	case holds == 0:
		return "whether other days would show this is not known"
	}
	return fmt.Sprintf("other days would show the same side in %d of %s", holds, schema.Plural(of, "comparison"))
}

// price returns clauses about what the best candidate costs. If it beats the baseline, they name the other compared
// metrics in which it is worse and, if jobs is true, the groups of jobs that are worse off. If it does not, they name
// the metrics in which it is better.
func (q *Question) price(e *record.Experiment, jobs bool) (said []string, err error) {
	candidates := q.candidates()
	best := &candidates[0]
	won := slices.ContainsFunc(schema.Each(indices(q.Fields), best.Change), func(c Change) bool { return c.worth() > 0 })
	side := -1
	if !won {
		side = 1
	}
	for _, m := range q.Others {
		for i := range candidates {
			var changes []Change
			for _, list := range candidates[i].other {
				for k := range list {
					if c := ChangeOf(&list[k]); list[k].Metric == m.Name && c.worth() == side {
						changes = append(changes, c)
					}
				}
			}
			if text := q.paid(candidates[i].Name, m, changes); text != "" {
				if n := len(said); n > 0 && len(q.Fields) == 1 && strings.HasPrefix(said[n-1], candidates[i].Name+" ") {
					said[n-1] += " and " + strings.TrimPrefix(text, candidates[i].Name+" ")
				} else {
					said = append(said, text)
				}
				break
			}
			if won {
				break // the others are not the answer
			}
		}
	}
	if !jobs || !won || !q.Metric.Grouped || len(q.Fields) > mostSettings {
		return said, nil
	}
	text, err := q.byGroups(e, best)
	if text != "" {
		said = append(said, text)
	}
	return said, err
}

// paid returns a clause about the changes of another metric; "" without changes.
func (q *Question) paid(name string, m measure.Metric, changes []Change) string {
	if len(changes) == 0 {
		return ""
	}
	if len(q.Fields) == 1 {
		return name + " " + changes[0].Verb()
	}
	text := fmt.Sprintf("%s %s%s by %s", name, changes[0].side("cuts ", "raises "), m.Title, unsignedSpan(changes))
	if len(changes) < len(q.Fields) {
		text += fmt.Sprintf(" in %d of %d settings", len(changes), len(q.Fields))
	}
	return text
}

func indices[T any](list []T) []int {
	out := make([]int, len(list))
	for i := range out {
		out[i] = i
	}
	return out
}

// leastLoss is the least share by which a group must be better or worse off to be named.
const leastLoss = 0.005

// byGroups names the groups of jobs for which the metric falls and rises. It divides jobs by class, user or size,
// whichever has the group with the greatest loss. It returns "" if no group is worse off.
func (q *Question) byGroups(e *record.Experiment, best *Entry) (text string, err error) {
	most := leastLoss
	for _, g := range measure.Groupings() {
		var names []string
		changes := map[string][]Change{}
		for i, f := range q.Fields {
			at := slices.IndexFunc(f.Variants, q.isBase)
			if at < 0 || best.At[i] == nil {
				continue
			}
			c := q.Compare
			c.By, c.Block = g.Name, 0
			// The best was chosen among all candidates.
			unseen := len(f.Variants[at].groups(g.Name)) * (len(q.Entries) - 2)
			rows, err := compareWith(e, f.Variants[at], []Variant{*best.At[i]}, q.Metric, c, max(unseen, 0))
			if err != nil {
				return "", err
			}
			for k := range rows {
				names = schema.AddOnce(names, rows[k].Group)
				changes[rows[k].Group] = append(changes[rows[k].Group], ChangeOf(&rows[k]))
			}
		}
		loss := 0.0
		var winners, losers []string
		for _, name := range names {
			gained, lost := part(changes[name], 1), part(changes[name], -1)
			if len(gained) > len(lost) {
				winners = append(winners, name)
			}
			for _, c := range lost {
				d := math.Abs(c.Ratio - 1)
				if math.IsNaN(d) { // it rises from 0
					d = math.MaxFloat64
				}
				loss = max(loss, d)
			}
			if len(lost) > 0 {
				losers = append(losers, name)
			}
		}
		if loss <= most {
			continue
		}
		most = loss
		verbs := []string{"falls", "rises"}
		if q.Metric.HigherBetter {
			slices.Reverse(verbs)
		}
		text = q.Metric.Title + " "
		if len(winners) > 0 {
			text += verbs[0] + " for " + grouped(g.Name, winners, changes, 1) + ", and "
		}
		text += verbs[1] + " for " + grouped(g.Name, losers, changes, -1)
	}
	return text, nil
}

// part returns the changes for the better (worth 1) or for the worse (−1) that are large enough to be named.
func part(changes []Change, worth int) []Change {
	return schema.Where(changes, func(c Change) bool { return c.worth() == worth && !(math.Abs(c.Ratio-1) < leastLoss) })
}

// grouped names groups of jobs with their changes: "class short (−73%)", "9 users (+2% to +193%)".
func grouped(by string, names []string, changes map[string][]Change, worth int) string {
	if len(names) <= 2 {
		return by + " " + strings.Join(schema.Each(names, func(name string) string {
			where, some := "", part(changes[name], worth)
			if len(some) < len(changes[name]) {
				where = fmt.Sprintf(" in %d of %d settings", len(some), len(changes[name]))
			}
			return fmt.Sprintf("%s (%s%s)", GroupName(by, name), signedSpan(some), where)
		}), " and ")
	}
	var all []Change
	for _, name := range names {
		all = append(all, part(changes[name], worth)...)
	}
	all = schema.Where(all, func(c Change) bool { return !math.IsNaN(c.Ratio) && !math.IsInf(c.Ratio, 0) })
	if strings.HasSuffix(by, "s") {
		by += "e"
	}
	if len(all) == 0 {
		return fmt.Sprintf("%d %ss", len(names), by)
	}
	return fmt.Sprintf("%d %ss (%s)", len(names), by, signedSpan(all))
}
