// Package learning draws how the accuracy of jobs grows while they train.
package learning

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
	"github.com/tfexp/tfexp/stages/plot/panels"
)

// Accuracy is the name of these pictures in experiment files.
const Accuracy = "accuracy"

var _ = plot.Register(plot.Kind{
	PictureKind: table.PictureKind{
		Rank: 45, Name: Accuracy,
		Doc: "the accuracy that jobs reported, over the time since they started",
	},
	Draw: func(d *plot.Data, _ plot.Ask) ([]plot.Figure, error) { return accuracies(d) },
})

// accuracies draws the median accuracy of jobs over the time since their start. Each workload and hardware has a
// picture, with a panel for each class of jobs and a line for each policy. If no job reports accuracy, there is no
// picture and no note about it.
func accuracies(d *plot.Data) ([]plot.Figure, error) {
	var out []plot.Figure
	for _, s := range d.Settings() {
		all, _, chosen := d.Lines(s)
		jobs, until := 0, 0.0
		var classes []string
		medians := make([]map[string][]point, len(all)) // by class
		for i, g := range all {
			found, n, err := medianTrainings(d, g.Cells)
			if err != nil {
				return nil, err
			}
			medians[i], jobs = found, jobs+n
			for class, median := range found {
				classes = schema.AddOnce(classes, class)
				if len(median) > 0 {
					until = max(until, median[len(median)-1].At)
				}
			}
		}
		if jobs == 0 {
			continue
		}
		slices.Sort(classes)
		per, unit := canvas.TimeUnit(until)
		var shown []panels.Panel
		var keys []canvas.Key
		for k, class := range classes[:min(len(classes), plot.MostFacets)] {
			p := panels.Panel{Title: class, X: "time since the job's start (" + unit + ")", Y: "accuracy"}
			for i, g := range all {
				line := panels.Line{Style: g.Look.Line()}
				for _, a := range medians[i][class] {
					line.X, line.Y = append(line.X, a.At/per), append(line.Y, a.Value)
				}
				p.Lines = append(p.Lines, line)
				if k == 0 {
					keys = append(keys, canvas.Key{Label: g.Label, Swatch: canvas.Stroked(g.Look.Line())})
				}
			}
			shown = append(shown, p)
		}
		caption := fmt.Sprintf("The median accuracy that jobs reported (%s), as long as half of the jobs that finished train; "+
			"a job that has ended counts with its last accuracy.", schema.Plural(jobs, "job")) + chosen +
			plot.SomeOf(plot.MostFacets, len(classes), "class")
		title, columns := "Accuracy over time"+d.Where(s), d.Columns(min(panels.Columns, len(shown)))
		out = append(out, plot.Figure{
			Picture: plot.Picture{Name: "accuracy" + d.Suffix(s), Kind: Accuracy, Title: title, Caption: caption},
			Width:   canvas.Width, Height: canvas.HeadHeight(keys) + panels.Height(len(shown), columns) + canvas.Margin,
			Paint: func(c draw.Canvas) { panels.Paint(canvas.Head(c, title, keys), shown, columns) },
		})
	}
	return out, nil
}

// medianTrainings returns the median training of each class of jobs in some cells, and the number of their jobs.
func medianTrainings(d *plot.Data, cells []record.Cell) (medians map[string][]point, jobs int, err error) {
	trained := map[string][]training{}
	for _, c := range cells {
		found, err := trainings(d.Experiment, c)
		if err != nil {
			return nil, 0, err
		}
		for _, t := range found {
			trained[t.Class] = append(trained[t.Class], t)
		}
		jobs += len(found)
	}
	medians = map[string][]point{}
	for class, of := range trained {
		medians[class] = medianTraining(of)
	}
	return medians, jobs, nil
}
