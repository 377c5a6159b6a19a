// The common parts of pictures of controllers that decide when to deepen a network.

package adaptation

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
	pictures "github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// deepeningStudy is one adaptation block, with its rows of all tables.
type deepeningStudy struct {
	name                   string
	controllers, scenarios []string
	Tables
}

// picture registers a kind of picture; draw returns the pictures of one adaptation block.
func picture(rank int, name, doc string, draw func(deepeningStudy) ([]pictures.Figure, error)) table.PictureKind {
	return pictures.Register(pictures.Kind{
		PictureKind: table.PictureKind{Rank: rank, Name: name, Section: "adaptation", Doc: doc},
		Draw: func(d *pictures.Data, _ pictures.Ask) (out []pictures.Figure, err error) {
			all, err := ReadTables(d.Dir)
			if err != nil {
				return nil, err
			}
			for _, s := range all.blocks() {
				drawn, err := draw(s)
				if err != nil {
					return nil, err
				}
				out = append(out, drawn...)
			}
			return out, nil
		},
	})
}

// figure returns a plot of a study, with its title and its legend above.
func (s deepeningStudy) figure(
	kind, of, title, caption string, keys []canvas.Key, height float64, p *plot.Plot,
) pictures.Figure {
	return pictures.Figure{
		Picture: pictures.Picture{Name: kind + "-" + s.name + "-" + of, Kind: kind, Title: title, Caption: caption},
		Width:   canvas.Width, Height: canvas.HeadHeight(keys) + height,
		Paint: func(c draw.Canvas) { p.Draw(draw.Crop(canvas.Head(c, title, keys), 0, -4, 4, 0)) },
	}
}

// blocks divides the rows of the tables by adaptation block.
func (a Tables) blocks() (out []deepeningStudy) {
	divide := func(name string) *deepeningStudy {
		i := slices.IndexFunc(out, func(s deepeningStudy) bool { return s.name == name })
		if i < 0 {
			i = len(out)
			out = append(out, deepeningStudy{name: name})
		}
		return &out[i]
	}
	each(a.Ranking, func(r RankingRow) *[]RankingRow { return &divide(r.Adaptation).Ranking })
	each(a.Sequences, func(r SequenceRow) *[]SequenceRow { return &divide(r.Adaptation).Sequences })
	each(a.Choices, func(r ChoiceRow) *[]ChoiceRow { return &divide(r.Adaptation).Choices })
	each(a.Objectives, func(r ObjectiveRow) *[]ObjectiveRow { return &divide(r.Adaptation).Objectives })
	each(a.RealRanking, func(r RankingRow) *[]RankingRow { return &divide(r.Adaptation).RealRanking })
	each(a.Courses, func(r CourseRow) *[]CourseRow { return &divide(r.Adaptation).Courses })
	each(a.Trainings, func(r TrainingRow) *[]TrainingRow { return &divide(r.Adaptation).Trainings })
	for i := range out {
		s := &out[i]
		s.controllers = column(s.Ranking, func(r RankingRow) string { return r.Controller })
		s.scenarios = column(s.Ranking, func(r RankingRow) string { return r.Scenario })
	}
	return out
}

// each appends each row to the rows of its block.
func each[T any](rows []T, of func(T) *[]T) {
	for _, r := range rows {
		to := of(r)
		*to = append(*to, r)
	}
}

// of returns the sequences of a scenario.
func (s deepeningStudy) of(scenario string) []SequenceRow {
	return schema.Where(s.Sequences, func(r SequenceRow) bool { return r.Scenario == scenario })
}

// chosenSequence is a sequence that controllers took with the first seed. Controllers with the same sequence are one.
type chosenSequence struct {
	controllers []string
	sequence    string
}

func (s deepeningStudy) chosen(scenario string) []chosenSequence {
	var out []chosenSequence
	for _, r := range s.Ranking {
		if r.Scenario != scenario {
			continue
		}
		i := slices.IndexFunc(out, func(c chosenSequence) bool { return c.sequence == r.Sequence })
		if i < 0 {
			i = len(out)
			out = append(out, chosenSequence{sequence: r.Sequence})
		}
		out[i].controllers = append(out[i].controllers, r.Controller)
	}
	return out
}

// label returns the names of the controllers and their sequence: "alone, transferred (0 1 1)".
func (c chosenSequence) label() string {
	names := strings.Join(c.controllers[:min(3, len(c.controllers))], ", ")
	if more := len(c.controllers) - 3; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return names + " (" + c.sequence + ")"
}

// pathLine is a line through points, with marks at some of them.
type pathLine struct {
	x, y  []float64
	line  draw.LineStyle
	marks []string // text of the mark, by point; empty for no mark
	// shift moves each mark towards the next point, by this part of the way, so that marks of parallel lines do not
	// overlap.
	shift float64
}

// Plot implements plot.Plotter.
func (l pathLine) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var points []vg.Point
	for i := range l.x {
		points = append(points, vg.Point{X: x(l.x[i]), Y: y(l.y[i])})
	}
	c.StrokeLines(l.line, points)
}

// pathMarks are the marks of a line. They are drawn after all lines.
type pathMarks pathLine

// Plot implements plot.Plotter.
func (l pathMarks) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var points []vg.Point
	for i := range l.x {
		points = append(points, vg.Point{X: x(l.x[i]), Y: y(l.y[i])})
	}
	for i, text := range l.marks {
		if text == "" {
			continue
		}
		at := points[i]
		if i+1 < len(points) {
			at = at.Add(points[i+1].Sub(at).Scale(vg.Length(l.shift)))
		}
		dot(c, at, nrgba(l.line.Color), text)
	}
}

// dot draws an action as a dot with its number.
func dot(c draw.Canvas, at vg.Point, fill color.NRGBA, action string) {
	c.DrawGlyph(draw.GlyphStyle{Color: fill, Radius: 5.5, Shape: draw.CircleGlyph{}}, at)
	st := canvas.Aligned(7.5, canvas.Readable(fill), true, -0.5, -0.5)
	c.FillText(st, at, action)
}

// bounds returns the least and the greatest value, with some space around them.
func bounds(values []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if stats.Finite(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	room := max(0.05*(high-low), 1e-6)
	return low - room, high + room
}

// mostLines is the greatest number of colored lines in one picture, so that they can be distinguished.
const mostLines = 7
