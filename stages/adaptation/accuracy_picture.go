package adaptation

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/stats"
	pictures "github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// AdaptationAccuracy is the name of the picture of the distribution of accuracies.
const AdaptationAccuracy = "adaptation_accuracy"

var _ = picture(133, AdaptationAccuracy, "the distribution of accuracy over all sequences of deepening, with the chosen ones marked",
	func(s deepeningStudy) ([]pictures.Figure, error) {
		return schema.Each(s.scenarios, s.accuracies), nil
	})

func (s deepeningStudy) accuracies(scenario string) pictures.Figure {
	var values []float64
	at := map[string]float64{}
	for _, r := range s.of(scenario) {
		values = append(values, r.Accuracy)
		at[r.Sequence] = r.Accuracy
	}
	slices.Sort(values)
	groups := s.chosen(scenario)
	h := histogram{values: values, bins: 24}
	var keys []canvas.Key
	for i, g := range groups[:min(len(groups), mostLines)] {
		line := draw.LineStyle{Color: canvas.Hue(i), Width: 1.8, Dashes: canvas.Dashes(i)}
		h.marks = append(h.marks, valueMark{at[g.sequence], line})
		keys = append(keys, canvas.Key{Label: g.label(), Swatch: canvas.Stroked(line)})
	}
	real := ""
	for _, r := range s.Courses {
		if r.Scenario == scenario && r.Controller != "" && stats.Finite(r.Accuracy) {
			h.real, values = append(h.real, r.Accuracy), append(values, r.Accuracy)
			real = " A triangle is a real training in which a controller decided."
		}
	}
	p := canvas.NewPlot()
	p.X.Min, p.X.Max = bounds(values)
	p.Y.Min, p.Y.Max = 0, float64(slices.Max(h.counts()))*1.15
	p.X.Label.Text, p.Y.Label.Text = "final accuracy", "sequences"
	p.Add(h)
	title := fmt.Sprintf("Accuracy of all sequences – %s, %s", s.name, scenario)
	caption := fmt.Sprintf("The number of the %d sequences by their accuracy. A line is at the sequence that a "+
		"controller chose with its first seed.%s Further right is better.", len(h.values), real) +
		pictures.SomeOf(mostLines, len(groups), "chosen sequence")
	return s.figure(AdaptationAccuracy, scenario, title, caption, keys, 190, p)
}

// valueMark is a vertical line at a value.
type valueMark struct {
	at   float64
	line draw.LineStyle
}

// histogram counts sorted values in bins, with marks at some values.
type histogram struct {
	values []float64
	bins   int
	marks  []valueMark
	real   []float64 // accuracies of real trainings, in the same scenario
}

// counts returns the number of values in each bin.
func (h histogram) counts() []int {
	n := make([]int, h.bins)
	low, high := h.values[0], h.values[len(h.values)-1]
	for _, v := range h.values {
		i := 0
		if high > low {
			i = min(h.bins-1, int(float64(h.bins)*(v-low)/(high-low)))
		}
		n[i]++
	}
	return n
}

// Plot implements plot.Plotter.
func (h histogram) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	low, high := h.values[0], h.values[len(h.values)-1]
	step := (high - low) / float64(h.bins)
	for i, n := range h.counts() {
		if n == 0 {
			continue
		}
		from := low + step*float64(i)
		c.SetColor(canvas.Shade(canvas.Hue(6), 0.55))
		c.Fill(canvas.Rectangle(x(from)+0.5, y(0), max(x(from+step)-0.5, x(from)+2), y(float64(n))))
	}
	for _, m := range h.marks {
		c.StrokeLine2(m.line, x(m.at), y(0), x(m.at), vg.Length(c.Max.Y))
	}
	for _, v := range h.real {
		c.DrawGlyph(draw.GlyphStyle{Color: canvas.Ink, Radius: 3, Shape: draw.TriangleGlyph{}}, vg.Point{X: x(v),
			Y: y(0) + 4})
	}
}
