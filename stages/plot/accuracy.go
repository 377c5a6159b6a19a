package plot

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// Accuracy is the name of this kind of picture.
const Accuracy = "accuracy"

var _ = Register(Kind{
	PictureKind: table.PictureKind{
		Rank: 45, Name: Accuracy,
		Doc: "the accuracy that jobs reported, over the time since their start",
	},
	Draw: func(d *Data, _ Ask) ([]Figure, error) { return d.accuracies() },
})

// accuracies draws, for each workload and hardware, the median accuracy of jobs over the time since their start: a
// panel for each class of jobs, a line for each policy. Experiments whose jobs report no accuracy get no such
// picture, without a note.
func (d *Data) accuracies() ([]Figure, error) {
	var out []Figure
	for _, s := range d.settings() {
		all, _, chosen := d.lines(s)
		jobs, until := 0, 0.0
		var classes []string
		medians := make([]map[string][]analysis.Accuracy, len(all)) // by class
		for i, g := range all {
			trained := map[string][]analysis.Training{}
			for _, c := range g.cells {
				found, err := analysis.Trainings(d.Experiment, c)
				if err != nil {
					return nil, err
				}
				for _, t := range found {
					if trained[t.Class] == nil && index(classes, t.Class) < 0 {
						classes = append(classes, t.Class)
					}
					trained[t.Class] = append(trained[t.Class], t)
				}
				jobs += len(found)
			}
			medians[i] = map[string][]analysis.Accuracy{}
			for class, of := range trained {
				median := analysis.MedianTraining(of)
				if medians[i][class] = median; len(median) > 0 {
					until = max(until, median[len(median)-1].At)
				}
			}
		}
		if jobs == 0 {
			continue
		}
		slices.Sort(classes)
		per, unit := canvas.TimeUnit(until)
		var panels []canvas.Panel
		var keys []canvas.Key
		for k, class := range classes[:min(len(classes), mostFacets)] {
			p := canvas.Panel{Title: class, X: "time since the job's start (" + unit + ")", Y: "accuracy"}
			for i, g := range all {
				line := canvas.Line{Style: g.look.line()}
				for _, a := range medians[i][class] {
					line.X, line.Y = append(line.X, a.At/per), append(line.Y, a.Value)
				}
				p.Lines = append(p.Lines, line)
				if k == 0 {
					keys = append(keys, canvas.Key{Label: g.label, Swatch: canvas.Stroked(g.look.line())})
				}
			}
			panels = append(panels, p)
		}
		caption := fmt.Sprintf("The median accuracy that jobs reported (%s), as long as half of those that finished train; "+
			"a job that has ended keeps its last.", schema.Plural(jobs, "job")) + chosen +
			SomeOf(mostFacets, len(classes), "class")
		title, columns := "Accuracy over time"+d.place(s), d.columns(min(canvas.PanelColumns, len(panels)))
		out = append(out, Figure{
			Picture: Picture{Name: "accuracy" + d.suffix(s), Kind: Accuracy, Title: title, Caption: caption},
			Width:   canvas.Width, Height: canvas.HeadHeight(keys) + canvas.PanelsHeight(len(panels), columns) + canvas.Margin,
			Paint: func(c draw.Canvas) { canvas.PaintPanels(canvas.Head(c, title, keys), panels, columns) },
		})
	}
	return out, nil
}
