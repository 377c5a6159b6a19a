package adaptation

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"

	pictures "github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// AdaptationPaths is the name of the picture of expected accuracies, decision by decision.
const AdaptationPaths = "adaptation_paths"

// The picture shows by scenario the expected final accuracy, as decisions are made.
var _ = picture(130, AdaptationPaths,
	"accuracy over time, one line for each sequence of deepening, with the chosen ones and their actions marked",
	func(s deepeningStudy) (out []pictures.Figure, err error) {
		for _, scenario := range s.scenarios {
			f, err := s.paths(scenario)
			if err != nil {
				return nil, err
			}
			out = append(out, f)
		}
		return out, nil
	})

func nrgba(c color.Color) color.NRGBA { return color.NRGBAModel.Convert(c).(color.NRGBA) }

func (s deepeningStudy) paths(scenario string) (pictures.Figure, error) {
	rows := s.of(scenario)
	groups := s.chosen(scenario)
	p := canvas.NewPlot()
	var every []float64
	var strong []pathLine
	lines, actions := map[string]pathLine{}, map[string][]string{}
	instants := map[int]float64{} // mean time of each decision, and of the end, over all sequences
	for _, r := range rows {
		l := pathLine{x: r.Times, y: r.Expected, line: draw.LineStyle{Color: canvas.Shade(canvas.Hue(6), 0.55), Width: 0.5}}
		if len(l.x) != len(l.y) || len(l.x) == 0 {
			return pictures.Figure{}, fmt.Errorf("the sequence %q has %d times and %d accuracies", r.Sequence, len(l.x),
				len(l.y))
		}
		l.x = make([]float64, len(r.Times))
		for i, t := range r.Times {
			l.x[i] = float64(i)
			instants[i] += t / float64(len(rows))
		}
		every = append(every, r.Expected...)
		actions[r.Sequence] = r.Actions()
		lines[r.Sequence] = l
		if len(rows) <= mostPaths {
			p.Add(l)
		}
	}
	var keys []canvas.Key
	for i, g := range groups[:min(len(groups), mostLines)] {
		l, ok := lines[g.sequence]
		if !ok {
			continue
		}
		l.line = draw.LineStyle{Color: canvas.Hue(i), Width: 1.7, Dashes: canvas.Dashes(i)}
		l.shift = 0.12 + 0.11*float64(i)
		l.marks = append(slices.Clone(actions[g.sequence]), "")
		strong = append(strong, l)
		keys = append(keys, canvas.Key{Label: g.label(), Swatch: canvas.Stroked(l.line)})
	}
	for i := len(strong) - 1; i >= 0; i-- { // the first one is drawn last, on top of the others
		p.Add(strong[i])
	}
	for i := len(strong) - 1; i >= 0; i-- {
		p.Add(pathMarks(strong[i]))
	}
	p.X.Min, p.X.Max = -0.15, float64(len(instants)-1)+0.15
	var ticks plot.ConstantTicks
	for i := range len(instants) {
		name := "end"
		if i < len(instants)-1 {
			name = fmt.Sprintf("decision %d", i+1)
		}
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: fmt.Sprintf("%s: %.3g s", name, instants[i])})
	}
	p.X.Tick.Marker = ticks
	p.Y.Min, p.Y.Max = bounds(every)
	p.X.Label.Text, p.Y.Label.Text = "time of the budget that is used, in the mean over all sequences",
		"expected final accuracy"
	title := fmt.Sprintf("Expected accuracy over time – %s, %s", s.name, scenario)
	caption := "One line for each sequence of decisions. At a decision it is the mean final accuracy of all sequences with " +
		"the same actions so far; at the end, its own. Decisions have equal distances, whatever the time between them. Marks " +
		"are actions: the number of the deepened block. The greatest number means no block. " +
		"Controllers are shown with their first seed." + pictures.SomeOf(mostLines, len(groups), "chosen sequence")
	return s.figure(AdaptationPaths, scenario, title, caption, keys, 300, p), nil
}

// mostPaths is the greatest number of sequences that are drawn one by one.
const mostPaths = 5000
