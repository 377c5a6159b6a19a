package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/tell"
)

// mostSettings is the number of settings up to which the best of each is named.
const mostSettings = 6

// mostAlike is the number of variants named beside the best.
const mostAlike = 3

// leaderAnswers says which variant was the best, in a sentence for each comparison: "Lowest mean JCT: srtf, 1.20 s (no
// difference detected from las)."
func leaderAnswers(p record.Plan, leaders []Leader) (out []Answer) {
	var groups [][]Leader
	for _, l := range leaders {
		i := slices.IndexFunc(groups, func(g []Leader) bool {
			return g[0].Metric.Name == l.Metric.Name && slices.Equal(g[0].Axes, l.Axes)
		})
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], l)
	}
	for _, g := range groups {
		text := ""
		switch {
		case everywhere(g):
			text = everywhereBest(p, g)
		case len(g) <= mostSettings:
			text = bestOfEach(p, g)
		default:
			text = bestByNumber(g)
		}
		out = append(out, Answer{Text: extreme(g[0]) + text + ".", Rows: len(g), Metric: g[0].Metric.Name})
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

// everywhere reports whether one variant is the best in several settings, and no other is as good.
func everywhere(g []Leader) bool {
	return len(g) > 1 && !slices.ContainsFunc(g, func(l Leader) bool { return l.Name != g[0].Name || len(l.Alike) > 0 })
}

// everywhereBest is " at all 5 values of load: sia, 1,722 to 2,454 s".
func everywhereBest(p record.Plan, g []Leader) string {
	all := fmt.Sprintf(" in all %d settings", len(g))
	if axis := soleSetting(p, g); axis != "" {
		all = fmt.Sprintf(" at all %d values of %s", len(g), axis)
		if len(g) == 2 {
			all = " at both values of " + axis
		}
	}
	low, high := g[0].Mean, g[0].Mean
	for _, l := range g {
		low, high = min(low, l.Mean), max(high, l.Mean)
	}
	return fmt.Sprintf("%s: %s, %s to %s%s", all, g[0].Name, tell.Number(low), tell.WithUnit(high, g[0].Metric.Unit), untested(g[0]))
}

// bestOfEach is " at load 0.7: sia, 1,722 s (no difference detected from pollux); at 1: sia, 2,033 s".
func bestOfEach(p record.Plan, g []Leader) string {
	var parts []string
	axis := soleSetting(p, g)
	for i, l := range g {
		where := settingOf(p, l)
		if axis != "" {
			where = " at " + l.Setting[0].Value
			if i == 0 {
				where = " at " + axis + " " + l.Setting[0].Value
			}
		}
		text := fmt.Sprintf("%s: %s, %s", where, l.Name, tell.WithUnit(l.Mean, l.Metric.Unit))
		switch alike := someNames(l.Alike); {
		case l.Method == record.OneRun && alike != "":
			text += " (the same as " + alike + "; one run, no interval)"
		case l.Method == record.OneRun:
			text += " (one run, no interval)"
		case alike != "":
			text += " (no difference detected from " + alike + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ";")
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

// untested says of runs in which nothing is drawn that there is one of each.
func untested(l Leader) string {
	if l.Method == record.OneRun {
		return "; one run each, no interval"
	}
	return ""
}

// settingOf says where a leader is the best.
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
	return tell.Listed(names)
}
