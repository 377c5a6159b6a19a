package plot

import (
	"fmt"

	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/tell"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// Accuracy is the name of this kind of picture.
const Accuracy = "accuracy"

var _ = Register(Kind{
	PictureKind: tell.PictureKind{
		Rank: 45, Name: Accuracy,
		Doc: "the accuracy that jobs reported, over the time since their start",
	},
	Draw: func(d *Data, _ Ask) ([]Figure, error) { return d.accuracies() },
})

// mostTrained bounds the jobs of a variant whose curves are drawn.
const mostTrained = 60

// accuracies draws, for each workload and hardware, the accuracy of jobs over the
// time since their start, and its mean for each policy. Experiments whose jobs
// report no accuracy get no such picture, which is nothing to tell.
func (d *Data) accuracies() ([]Figure, error) {
	var out []Figure
	for _, s := range d.settings() {
		all, pooled := s.lines()
		var bundles []canvas.Bundle
		jobs, most := 0, 0
		for i, g := range all[:min(len(all), mostLines)] {
			var trained []analysis.Training
			for _, c := range g.cells {
				found, err := analysis.Trainings(d.Experiment, c)
				if err != nil {
					return nil, err
				}
				trained = append(trained, found...)
			}
			jobs, most = jobs+len(trained), max(most, len(trained))
			bundle := canvas.Bundle{Label: g.label, Line: lineOf(i), Mean: curveOf(analysis.MeanTraining(trained))}
			for _, t := range trained[:min(len(trained), mostTrained)] {
				bundle.Curves = append(bundle.Curves, curveOf(t.Points))
			}
			bundles = append(bundles, bundle)
		}
		if jobs == 0 {
			continue
		}
		noun := "policy variant"
		if pooled {
			noun = "policy"
		}
		caption := fmt.Sprintf("Thin: the accuracy that each job reported (%s). Thick: the mean of those that finished, as "+
			"long as half of them train; one that has ended keeps its last.", schema.Plural(jobs, "job")) +
			SomeOf(mostLines, len(all), noun)
		if most > mostTrained {
			caption += fmt.Sprintf(" Of each line, the first %d jobs have a curve.", mostTrained)
		}
		title, keys := "Accuracy over time"+d.place(s), canvas.BundleKeys(bundles)
		out = append(out, Figure{
			Picture: Picture{Name: "accuracy" + d.suffix(s), Kind: Accuracy, Title: title, Caption: caption},
			Width:   canvas.Width, Height: canvas.HeadHeight(keys) + 240,
			Paint: func(c draw.Canvas) {
				canvas.Bundles(canvas.Head(c, title, keys), bundles, "time since the job's start", "accuracy")
			},
		})
	}
	return out, nil
}

func curveOf(points []analysis.Accuracy) canvas.Curve {
	var c canvas.Curve
	for _, p := range points {
		c = append(c, canvas.Point{At: p.At, Value: p.Value})
	}
	return c
}
