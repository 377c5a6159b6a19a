package adaptation

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/experiments/schema"
	pictures "github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// AdaptationObjective is the name of the picture of agents' rewards while they learn.
const AdaptationObjective = "adaptation_objective"

var _ = picture(131, AdaptationObjective, "the mean reward of agents by episode, one panel for each agent",
	func(s deepeningStudy) (out []pictures.Figure, _ error) {
		for _, name := range s.controllers {
			if curves := s.curves(name); len(curves) > 0 {
				out = append(out, s.objective(name, curves))
			}
		}
		return out, nil
	})

// learningCurve has the rewards of an agent by episode, for one seed.
type learningCurve struct {
	label string
	seeds []pathLine
	// lessons are the episodes at which lessons after the first begin.
	lessons []float64
}

// curves returns the learning curves of a controller's agents.
func (s deepeningStudy) curves(controller string) []learningCurve {
	var out []learningCurve
	seed, lesson := 0, 0
	for _, r := range s.Objectives {
		if r.Controller != controller {
			continue
		}
		i := slices.IndexFunc(out, func(l learningCurve) bool { return l.label == r.LearnedOn })
		if i < 0 {
			i = len(out)
			out = append(out, learningCurve{label: r.LearnedOn})
			seed = 0
		}
		l := &out[i]
		if r.Seed != seed {
			l.seeds = append(l.seeds, pathLine{})
			seed, lesson = r.Seed, 1
		}
		one := &l.seeds[len(l.seeds)-1]
		if r.Lesson > lesson {
			lesson = r.Lesson
			if at := one.x[len(one.x)-1]; !slices.Contains(l.lessons, at) {
				l.lessons = append(l.lessons, at)
			}
		}
		one.x, one.y = append(one.x, float64(r.Episode)/1000), append(one.y, r.Objective)
	}
	return out
}

func (s deepeningStudy) objective(controller string, curves []learningCurve) pictures.Figure {
	shown := curves[:min(len(curves), mostLines)]
	var keys []canvas.Key
	p := canvas.NewPlot()
	var values, lessons []float64
	for i, l := range shown {
		for _, one := range l.seeds {
			one.line = draw.LineStyle{Color: canvas.Shade(canvas.Hue(i), 0.25), Width: 0.8, Dashes: canvas.Dashes(i)}
			values = append(values, one.y...)
			p.X.Max = max(p.X.Max, one.x[len(one.x)-1])
			p.Add(one)
		}
		for _, at := range l.lessons {
			lessons = schema.AddOnce(lessons, at)
		}
		keys = append(keys, canvas.Key{Label: l.label, Swatch: canvas.Stroked(draw.LineStyle{Color: canvas.Hue(i),
			Width: 1.5, Dashes: canvas.Dashes(i)})})
	}
	p.X.Min = 0
	p.Y.Min, p.Y.Max = bounds(values)
	for _, at := range lessons {
		p.Add(pathLine{x: []float64{at, at}, y: []float64{p.Y.Min, p.Y.Max}, line: draw.LineStyle{
			Color: canvas.Shade(canvas.Ink, 0.4), Width: 0.8, Dashes: canvas.Dashes(2),
		}})
	}
	p.X.Label.Text, p.Y.Label.Text = "episodes (thousands)", "mean reward"
	title := fmt.Sprintf("Reward while the agent %q learns – %s", controller, s.name)
	caption := "The mean of 100·tan(accuracy·π/2) over the episodes of some batches, one line for each seed; the color is for " +
		"the scenarios on which it learns. A vertical line is the beginning of a further lesson." +
		pictures.SomeOf(len(shown), len(curves), "training")
	return s.figure(AdaptationObjective, controller, title, caption, keys, 210, p)
}
