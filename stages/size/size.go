// Package size finds how large something must be: the smallest value of an axis, such as the number of nodes, from
// which on the mean of a metric keeps a bound.
package size

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/lines"
)

// Picture is the name of the kind of picture.
const Picture = "size"

// Queries is the member of plan.json with the size blocks of an experiment.
var Queries = stages.RegisterPlanMember("sizes", 60, func(x stages.PlanMemberInput) []Query {
	part, _ := experiment.PartOf[queries](x.Parts)
	return part
})

var _ = plot.Register(plot.Kind{
	PictureKind: table.PictureKind{
		Rank: 35, Name: Picture, Section: plot.Answer,
		Doc:       "the metric of each `size` block over its axis, with the bound",
		OnRequest: "it needs a `size` block",
	},
	Draw: func(d *plot.Data, _ plot.Ask) (all []plot.Figure, err error) {
		for _, ask := range Queries.Of(&d.Plan) {
			figures, err := lines.Draw(d, Picture, ask.Metric, ask.Axis, "",
				lines.Limit{At: ask.Bound(), Upper: ask.Max != nil})
			if err != nil {
				return nil, err
			}
			all = append(all, figures...)
		}
		return all, nil
	},
})

const section = "section-size"

var _ = analysis.Register(analysis.Part{
	Name: section, Title: "The smallest sufficient size", InReport: analysis.Verdicts - 5, OnTerminal: analysis.Verdicts - 5,
	Tell: func(e *record.Experiment) (s table.Section, err error) {
		var said []string
		var view table.Table
		for _, ask := range Queries.Of(&e.Plan) {
			answers := answersOf(e, ask)
			if len(answers) == 0 {
				continue
			}
			said = append(said, sentence(ask, answers)+simulated(e, ask))
			view = tableOf(ask, answers)
			view.Rows = view.Rows[:min(len(view.Rows), mostRows)]
			if s.Headline.Sentence == "" {
				s.Headline = table.Headline{Sentence: said[0], Table: view, Leads: true}
			}
		}
		if len(said) > 0 {
			s.Report = []table.Item{{Sentences: said, Plain: true}}
			s.Terminal = []table.Item{{Sentences: said[1:], Plain: true}}
		}
		return s, nil
	},
})

// mostRows is the largest number of rows in the table of a headline.
const mostRows = 8

// answer is the smallest value that keeps the bound for a policy, and the next smaller value.
type answer struct {
	name string // the policy, and other axes in which answers differ
	// at is the smallest value that keeps the bound, and missed the next smaller one. A point without a text is not
	// set.
	at, missed point
}

// point is a value of the axis and the mean there.
type point struct {
	text  string
	value float64
	mean  float64 // mean of the metric
	kept  string  // how many replicates keep the bound: "3 of 5"
}

// answersOf returns an answer for each policy, workload, hardware and value of the other axes, the smallest first.
// Answers without a value that keeps the bound are last.
func answersOf(e *record.Experiment, ask Query) (list []answer) {
	m, ok := measure.MetricByName(ask.Metric)
	if !ok {
		return nil
	}
	var names []string
	curves := map[string][]point{}
	for _, v := range analysis.Variants(e) {
		values := v.Values(m)
		mean := stats.MeanInterval(values, analysis.DefaultLevel).Mean
		value, text, others, ok := ask.At(v.Axes)
		if !ok || !stats.Finite(mean) {
			continue
		}
		name := strings.TrimSpace(v.Policy + " " + record.AxesLabel(others))
		if len(e.Plan.Workloads) > 1 {
			name += " of " + v.Workload
		}
		if len(e.Plan.Hardware) > 1 {
			name += " on " + v.Hardware
		}
		if curves[name] == nil {
			names = append(names, name)
		}
		kept := 0
		for _, x := range values {
			if ask.Keeps(x) {
				kept++
			}
		}
		curves[name] = append(curves[name], point{text, value, mean, fmt.Sprintf("%d of %d", kept, len(values))})
	}
	for _, name := range names {
		points := curves[name]
		slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.value, b.value) })
		k := len(points)
		for k > 0 && ask.Keeps(points[k-1].mean) {
			k--
		}
		a := answer{name: name}
		if k < len(points) {
			a.at = points[k]
		}
		if k > 0 {
			a.missed = points[k-1]
		}
		list = append(list, a)
	}
	slices.SortStableFunc(list, func(a, b answer) int {
		if (a.at.text == "") != (b.at.text == "") {
			return cmp.Compare(b.at.text, a.at.text)
		}
		return cmp.Compare(a.at.value, b.at.value)
	})
	return list
}

// asked describes a query: "p95 waiting time of at most 1 h".
func asked(ask Query) string {
	m, _ := measure.MetricByName(ask.Metric)
	most := "most"
	if ask.Max == nil {
		most = "least"
	}
	return fmt.Sprintf("%s of at %s %s", m.Title, most, table.WithUnit(ask.Bound(), m.Unit))
}

// sentence describes the answers: "easy needs nodes = 24 for a p95 waiting time of at most 1 h (48 min there, 1.2 h at
// 20), fcfs 28 (…)."
func sentence(ask Query, answers []answer) string {
	m, _ := measure.MetricByName(ask.Metric)
	var parts []string
	for i, a := range answers[:min(len(answers), 3)] {
		var text string
		switch {
		case a.at.text == "":
			text = fmt.Sprintf("%s misses it at all values up to %s (%s there)", a.name, a.missed.text,
				table.WithUnit(a.missed.mean, m.Unit))
			if i == 0 {
				text = fmt.Sprintf("No value of %s gives a %s: ", ask.Axis, asked(ask)) + text
			}
		case i == 0:
			text = fmt.Sprintf("%s needs %s = %s for a %s%s", a.name, ask.Axis, a.at.text, asked(ask), there(a, m))
		default:
			text = fmt.Sprintf("%s needs %s%s", a.name, a.at.text, there(a, m))
		}
		parts = append(parts, text)
	}
	if more := len(answers) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("the table has %d more", more))
	}
	return strings.Join(parts, "; ") + "."
}

// simulated names the values that a bisection has simulated; empty if there was no bisection.
func simulated(e *record.Experiment, ask Query) string {
	if !ask.Bisect {
		return ""
	}
	seen := map[float64]string{}
	for _, v := range analysis.Variants(e) {
		if value, text, _, ok := ask.At(v.Axes); ok {
			seen[value] = text
		}
	}
	var names []string
	for _, value := range slices.Sorted(maps.Keys(seen)) {
		names = append(names, seen[value])
	}
	return fmt.Sprintf(" Bisection simulated %d of %d values: %s.", len(names), ask.Values, strings.Join(names, ", "))
}

// there describes the means at an answer and at the next smaller value.
func there(a answer, m measure.Metric) string {
	text := " (" + table.WithUnit(a.at.mean, m.Unit) + " there"
	if a.missed.text == "" {
		return text + "; no smaller value was tried)"
	}
	return text + ", " + table.WithUnit(a.missed.mean, m.Unit) + " at " + a.missed.text + ")"
}

// tableOf returns a table with a row for each answer.
func tableOf(ask Query, answers []answer) table.Table {
	m, _ := measure.MetricByName(ask.Metric)
	t := table.New(1, "policy", "smallest "+ask.Axis, m.Title+" there", "replicates that keep it", "next smaller",
		m.Title+" there", "replicates that keep it")
	for _, a := range answers {
		row := []string{a.name}
		for _, p := range []point{a.at, a.missed} {
			if p.text == "" {
				row = append(row, "–", "–", "–")
			} else {
				row = append(row, p.text, table.WithUnit(p.mean, m.Unit), p.kept)
			}
		}
		t.Add(row...)
	}
	return t
}
