package plot

import (
	"fmt"
	"image/color"
	"math"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// Answer is the name of the picture that answers a comparison.
const Answer = "answer"

var _ = Register(Kind{
	PictureKind: table.PictureKind{
		Rank: 5, Name: Answer, Section: Answer, Always: true,
		Doc: "the compared metric relative to the baseline, the best variant first",
	},
	Draw: func(d *Data, _ Ask) ([]Figure, error) { return d.answer() },
})

// Limits of the picture.
const (
	mostAnswers  = 8 // rows
	mostSettings = 4 // settings that have a panel each; more settings are dots in one panel
)

// answer draws by how much each compared variant differs from the baseline, with its interval.
func (d *Data) answer() ([]Figure, error) {
	rows, err := analysis.Comparisons(d.Experiment)
	if err != nil {
		return nil, err
	}
	questions := analysis.Questions(d.Experiment, rows)
	if len(questions) == 0 {
		return nil, nil
	}
	q := &questions[0]
	shown, base := q.Shown(mostAnswers), q.Base()
	title := fmt.Sprintf("%s against %s", Capital(q.Metric.Title), base.Name)
	var names []analysis.Variant
	var inks []color.NRGBA
	for i, o := range shown {
		v := analysis.Variant{Label: o.Name}
		ink := canvas.Hue(i)
		for _, at := range o.At {
			if at != nil {
				v.Policy, ink = at.Policy, canvas.Hue(d.look(at.Policy, at.Label).hue)
				break
			}
		}
		names, inks = append(names, v), append(inks, ink)
	}
	var panels []panel
	for k, setting := range q.FieldTitles(d.Plan, "") {
		p := panel{Metric: q.Metric, inks: inks, lo: math.Inf(1), hi: math.Inf(-1)}
		if p.Title, p.Unit = "change of "+q.Metric.Title, "%"; len(q.Fields) > 1 {
			p.Title, p.Unit = setting, "" // the axis has the unit
		}
		for i := range shown {
			p.add(names[i].Label, changeIn(&shown[i], k))
		}
		panels = append(panels, p)
	}
	caption := "Dots are changes against the baseline (dashed), lines their 95% intervals; the best is at the top."
	if len(panels) > mostSettings {
		panels, caption = pooled(panels, names, q.Metric.Title), fmt.Sprintf("A pale dot is the change against the baseline (dashed) in one of %d "+
			"settings, the large dot their mean; the best is at the top.", len(panels))
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range panels {
		lo, hi = min(lo, p.lo), max(hi, p.hi)
	}
	for i, p := range panels {
		panels[i].lo, panels[i].hi = lo, hi
		if !(p.hi >= p.lo) {
			return Skipped(Answer, Answer, title, "the change of some setting is not known"), nil
		}
	}
	if n := len(q.Entries) - len(shown); n > 0 {
		caption += fmt.Sprintf(" %d more are in comparisons.csv.", n)
	}
	axis := ""
	if len(panels) > 1 {
		axis = "change of " + q.Metric.Title + " (%)"
	}
	return []Figure{d.metricsFigure(Answer, Answer, title, caption, axis, names, panels)}, nil
}

// changeIn returns the change of a compared variant in one setting, in percent, with its interval. field is the index
// of the setting.
func changeIn(o *analysis.Entry, field int) stats.Interval {
	percent := func(ratio float64) float64 { return 100 * (ratio - 1) }
	if o.Base {
		return stats.Interval{Low: math.NaN(), High: math.NaN()}
	}
	c := o.Change(field)
	if c.From == c.To { // no change, also if both values are 0
		return stats.Interval{Low: math.NaN(), High: math.NaN()}
	}
	return stats.Interval{Mean: percent(c.Ratio), Low: percent(c.Low), High: percent(c.High)}
}

// add adds a row with a name and an interval.
func (p *panel) add(name string, i stats.Interval) {
	p.names, p.intervals, p.values = append(p.names, name), append(p.intervals, i), append(p.values, nil)
	for _, x := range []float64{i.Mean, i.Low, i.High} {
		if stats.Finite(x) {
			p.lo, p.hi = min(p.lo, x), max(p.hi, x)
		}
	}
}

// pooled returns one panel for many settings: a row has a dot for each setting.
func pooled(panels []panel, names []analysis.Variant, metric string) []panel {
	all := panels[0]
	all.Title, all.Unit, all.names, all.intervals, all.values = "change of "+metric, "%", nil, nil, nil
	for i, v := range names {
		var values []float64
		sum := stats.Mean{}
		for _, p := range panels {
			if x := p.intervals[i].Mean; stats.Finite(x) {
				values = append(values, x)
				sum.Add(x)
				all.lo, all.hi = min(all.lo, x), max(all.hi, x)
			}
		}
		all.add(v.Label, stats.Interval{Mean: sum.Value(), Low: math.NaN(), High: math.NaN()})
		all.values[i] = values
	}
	return []panel{all}
}
