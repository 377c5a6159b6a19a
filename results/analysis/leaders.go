package analysis

import (
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

// Leader is the variant with the best mean of a metric among at least three that a compare block compares in one
// setting, such as all policies at one load.
type Leader struct {
	Metric measure.Metric
	// Workload, Hardware and Setting are shared by the variants; Policy as well, where axes are compared.
	Workload, Hardware, Policy string
	Setting                    []record.Setting
	// Axes are the compared axes; empty where policies are compared.
	Axes []string
	// Name names the best variant by the values that it does not share: "srtf", "quantum=1s".
	Name string
	Mean float64
	// Alike are the variants without a detected difference from the best, by the test of ComparePairs of each with
	// the best and Holm's correction for all pairs, since the best is chosen by the same data.
	Alike []string
	// Method is OneRun where nothing is random: then Alike are the variants with the same value.
	Method string
}

// fewest is the least number of variants with a named best; for two, the comparison names it.
const fewest = 3

// Leaders finds the best in each setting of each compare block over all jobs, in their order. Settings in which there
// are too few replicates for a verdict have none.
func Leaders(e *record.Experiment) ([]Leader, error) {
	variants := Variants(e)
	var out []Leader
	for _, c := range e.Plan.Compares {
		m, ok := measure.MetricByName(c.Metric)
		several := slices.ContainsFunc(c.At, func(s record.Setting) bool { return s.Name == "workload" })
		if !ok || c.By != "" || several { // one of several sets of jobs is not a choice
			continue
		}
		c.Block = 0
		for _, f := range fields(variants, c) {
			l, ok, err := f.leader(e, m, c)
			if err != nil {
				return nil, err
			}
			if ok {
				out = append(out, l)
			}
		}
	}
	return out, nil
}

// Field is a set of variants that are compared in one setting.
type Field struct {
	Setting  []record.Setting
	Variants []Variant
	// axes are the compared axes, "policy" and "hardware" included; without any, policies are compared.
	axes []string
}

// fields returns the fields of a comparison.
func fields(variants []Variant, c record.Compare) (out []Field) {
	named := schema.Each(c.At, func(s record.Setting) string { return s.Name })
	if c.At == nil {
		for _, f := range Fields(variants, nil) {
			if slices.ContainsFunc(f.Variants, func(v Variant) bool { return v.Policy == c.Baseline }) {
				out = append(out, f)
			}
		}
		return out
	}
	for _, base := range variants {
		if c.Baseline != "" && base.Policy != c.Baseline || !base.at(c.At) {
			continue
		}
		f := Field{axes: named, Variants: append([]Variant{base}, elsewhere(base, variants, c.At)...)}
		for _, s := range base.Axes {
			if !slices.Contains(c.At, s) {
				f.Setting = append(f.Setting, s)
			}
		}
		out = append(out, f)
	}
	return out
}

// Fields divides variants into groups with the same jobs on the same hardware, at the same values of the axes that
// several policies read and that are not compared. A variant that does not read such an axis is in all fields.
func Fields(variants []Variant, compared []string) (out []Field) {
	type place struct{ workload, hardware, setting string }
	axes := commonAxes(variants, compared)
	known := map[place]bool{}
	for _, first := range variants {
		s := settings(first, axes)
		p := place{first.Workload, first.Hardware, record.AxesLabel(s)}
		if len(s) < len(axes) || known[p] {
			continue
		}
		known[p] = true
		f := Field{Setting: s}
		for _, v := range variants {
			if v.Workload == p.workload && v.Hardware == p.hardware && agree(s, settings(v, axes)) {
				f.Variants = append(f.Variants, v)
			}
		}
		out = append(out, f)
	}
	return out
}

// commonAxes returns the axes that several policies read, or the only one does, and that are not compared. They are
// taken from the variant with the most of them.
func commonAxes(variants []Variant, compared []string) (most []string) {
	readers := map[string][]string{}
	var policies []string
	for _, v := range variants {
		policies = include(policies, v.Policy)
		for _, a := range v.Axes {
			readers[a.Name] = include(readers[a.Name], v.Policy)
		}
	}
	for _, v := range variants {
		var names []string
		for _, a := range v.Axes {
			if len(readers[a.Name]) >= min(2, len(policies)) && !slices.Contains(compared, a.Name) {
				names = append(names, a.Name)
			}
		}
		if len(names) > len(most) {
			most = names
		}
	}
	return most
}

// settings are the values of a variant on some axes.
func settings(v Variant, axes []string) (out []record.Setting) {
	for _, a := range v.Axes {
		if slices.Contains(axes, a.Name) {
			out = append(out, a)
		}
	}
	return out
}

// leader is the best of a field.
func (f Field) leader(e *record.Experiment, m measure.Metric, c record.Compare) (l Leader, ok bool, err error) {
	means := make([]float64, len(f.Variants))
	known := 0
	for i, v := range f.Variants {
		means[i] = stats.MeanInterval(v.Values(m), DefaultLevel).Mean
		if stats.Finite(means[i]) {
			known++
		}
	}
	if known < fewest || known < len(f.Variants) {
		return l, false, nil
	}
	if kept := keepers(f.Variants, m); len(kept) < len(f.Variants) {
		f.Variants = kept
		means = schema.Each(kept, func(v Variant) float64 { return stats.MeanInterval(v.Values(m), DefaultLevel).Mean })
	}
	order := ranked(means, m)
	best := f.Variants[order[0]]
	others := schema.Each(order[1:], func(i int) Variant { return f.Variants[i] })
	n := len(others) // the best is chosen by the same data: any other pair might have been compared
	rows, err := compareWith(e, best, others, m, c, n*(n-1)/2)
	if err != nil {
		return l, false, err
	}
	l = Leader{
		Metric: m, Workload: best.Workload, Setting: f.Setting, Axes: f.axes, Name: f.name(best), Mean: means[order[0]],
	}
	if !slices.Contains(f.axes, "hardware") {
		l.Hardware = best.Hardware
	}
	if f.axes != nil && !slices.Contains(f.axes, "policy") {
		l.Policy = best.Policy
	}
	for i, r := range rows {
		switch r.Verdict {
		case record.NotEnoughReplicates:
			return l, false, nil
		case record.NoDifference:
			l.Alike = append(l.Alike, f.name(others[i]))
		}
		if r.Method == record.OneRun {
			l.Method = record.OneRun
		}
	}
	return l, true, nil
}

// name names a variant by the values that the others of its field do not share.
func (f Field) name(v Variant) string {
	var parts []string
	if f.axes == nil || slices.Contains(f.axes, "policy") {
		parts = append(parts, v.Policy)
	}
	own := slices.DeleteFunc(slices.Clone(v.Axes), func(s record.Setting) bool { return slices.Contains(f.Setting, s) })
	if label := record.AxesLabel(own); label != "" {
		parts = append(parts, label)
	}
	if slices.Contains(f.axes, "hardware") {
		parts = append(parts, v.Hardware)
	}
	if slices.Contains(f.axes, "workload") {
		parts = append(parts, v.Workload)
	}
	if len(parts) == 0 {
		return v.Policy
	}
	return strings.Join(parts, " ")
}

// mostSettings is the number of settings up to which the best of each is named.
const mostSettings = 6

// mostAlike is the number of variants named along with the best.
const mostAlike = 3

// leaderAnswers counts how often each variant was the best, for comparisons in more settings than a headline can
// name: "Lowest mean JCT in 30 settings: preemptive in 18, priority in 12".
func leaderAnswers(leaders []Leader) (out []Answer) {
	for len(leaders) > 0 {
		l := leaders[0]
		same := func(o Leader) bool { return o.Metric.Name == l.Metric.Name && slices.Equal(o.Axes, l.Axes) }
		g := schema.Where(leaders, same)
		if leaders = slices.DeleteFunc(slices.Clone(leaders), same); len(g) > mostSettings {
			out = append(out, Answer{Text: extreme(l) + bestByNumber(g) + ".", Rows: len(g), Metric: l.Metric.Name,
				Merit: math.Inf(-1)})
		}
	}
	return out
}

// extreme is "Lowest mean JCT".
func extreme(l Leader) string {
	if l.Metric.HigherBetter {
		return "Highest " + l.Metric.Title
	}
	return "Lowest " + l.Metric.Title
}

// bestByNumber is " in 30 settings: preemptive in 18, priority in 12".
func bestByNumber(g []Leader) string {
	var names []string
	times := map[string]int{}
	for _, l := range g {
		if times[l.Name] == 0 {
			names = append(names, l.Name)
		}
		times[l.Name]++
	}
	slices.SortStableFunc(names, func(a, b string) int { return times[b] - times[a] })
	var parts []string
	for i, name := range names {
		if i == mostSettings {
			parts = append(parts, fmt.Sprintf("others in %d", len(g)-sum(times, names[:i])))
			break
		}
		parts = append(parts, fmt.Sprintf("%s in %d", name, times[name]))
	}
	clear := 0
	for _, l := range g {
		if len(l.Alike) == 0 {
			clear++
		}
	}
	found := fmt.Sprintf("; in %d of them a difference from every other was detected", clear)
	if said := untested(g[0]); said != "" {
		found = said
	}
	return fmt.Sprintf(" in %d settings: %s%s", len(g), strings.Join(parts, ", "), found)
}

func sum(times map[string]int, names []string) (n int) {
	for _, name := range names {
		n += times[name]
	}
	return n
}

// untested notes that there is one run of each variant, where nothing is random.
func untested(l Leader) string {
	if l.Method == record.OneRun {
		return "; one run each, no interval"
	}
	return ""
}

// settingOf names the setting in which a leader is the best.
func settingOf(p record.Plan, l Leader) string {
	s := ""
	if l.Policy != "" && len(p.Policies) > 1 {
		s += " under " + l.Policy
	}
	if len(l.Setting) > 0 {
		s += " at " + record.AxesLabel(l.Setting)
	}
	return s + placed(p, l.Workload, l.Hardware)
}

// soleSetting is the axis in which alone the settings differ.
func soleSetting(p record.Plan, g []Leader) string {
	for _, l := range g {
		if len(l.Setting) != 1 || l.Setting[0].Name != g[0].Setting[0].Name || l.Policy != g[0].Policy ||
			l.Workload != g[0].Workload || l.Hardware != g[0].Hardware || placed(p, l.Workload, l.Hardware) != "" {
			return ""
		}
	}
	return g[0].Setting[0].Name
}

// someNames are the first of them: "a, b, c and 2 more".
func someNames(names []string) string {
	if len(names) == 0 {
		return ""
	}
	if n := len(names) - mostAlike; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostAlike], ", "), n)
	}
	return table.Listed(names)
}
