package plot

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/picture"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// Accuracy is the name of this kind of picture.
const Accuracy = "accuracy"

func init() {
	Register(Kind{
		Kind: picture.Kind{
			Rank: 45, Name: Accuracy,
			Doc: "the accuracy that jobs reported, over the time since their start",
		},
		Draw: func(d *Data, _ Ask) ([]Figure, error) { return d.accuracies() },
	})
}

// mostTrained bounds the jobs of a variant whose curves are drawn.
const mostTrained = 60

// training is what one job reported: accuracies over the time since its start.
type training struct {
	points   []report
	finished bool
}

type report struct{ at, accuracy float64 }

// trained are the jobs of a line of the picture.
type trained struct {
	label string
	jobs  []training
	mean  []report // of the jobs that finished
}

// accuracies draws, for each workload and hardware, the accuracy of jobs over the
// time since their start, and its mean for each policy. Experiments whose jobs
// report no accuracy get no such picture, which is nothing to tell.
func (d *Data) accuracies() ([]Figure, error) {
	const title = "Accuracy over time"
	var out []Figure
	for _, s := range d.settings() {
		all, pooled := s.lines()
		var lines []trained
		jobs, cut := 0, false
		for _, g := range all[:min(len(all), mostLines)] {
			l := trained{label: g.label}
			for _, c := range g.cells {
				found, err := d.trainings(c)
				if err != nil {
					return nil, err
				}
				l.jobs = append(l.jobs, found...)
			}
			jobs += len(l.jobs)
			cut = cut || len(l.jobs) > mostTrained
			l.mean = meanTraining(l.jobs)
			lines = append(lines, l)
		}
		if jobs == 0 {
			continue
		}
		noun := "policy variant"
		if pooled {
			noun = "policy"
		}
		caption := fmt.Sprintf("Thin: the accuracy that each job reported (%s). Thick: the mean of those that "+
			"finished, as long as half of them train; one that has ended keeps its last.", plural(jobs, "job")) + someOf(mostLines, len(all), noun)
		if cut {
			caption += fmt.Sprintf(" Of each line, the first %d jobs have a curve.", mostTrained)
		}
		name := "accuracy" + d.suffix(s)
		out = append(out, accuracyFigure(name, title+d.place(s), caption, lines))
	}
	return out, nil
}

// trainings reads what the jobs of a cell reported.
func (d *Data) trainings(c record.Cell) ([]training, error) {
	rows, err := d.Progress(c.CellRef)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	byJob := map[string]int{}
	var jobs []training
	for _, r := range rows {
		if !known(r.Accuracy) {
			continue
		}
		i, ok := byJob[r.Job]
		if !ok {
			i = len(jobs)
			byJob[r.Job] = i
			jobs = append(jobs, training{})
		}
		jobs[i].points = append(jobs[i].points, report{r.At, r.Accuracy})
	}
	if len(jobs) == 0 {
		return nil, nil
	}
	err = d.EachJob(c.CellRef, []string{"job", "first_start_s", "state"}, 1, func(r *record.JobRow) bool {
		if i, ok := byJob[r.Job]; ok {
			jobs[i].finished = r.State == "finished"
			for k := range jobs[i].points {
				jobs[i].points[k].at -= max(r.FirstStart, 0)
			}
		}
		return true
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return jobs, err
}

// meanTraining is the mean accuracy of the jobs that finished at a number of
// instants, from the one at which all have reported to the one at which half of them
// have ended.
func meanTraining(all []training) (mean []report) {
	var jobs []training
	var ends []float64
	begin := 0.0
	for _, j := range all {
		if j.finished {
			jobs = append(jobs, j)
			begin = max(begin, j.points[0].at)
			ends = append(ends, j.points[len(j.points)-1].at)
		}
	}
	if len(jobs) < 2 {
		return nil
	}
	slices.Sort(ends)
	end := ends[len(ends)/2]
	if end <= begin {
		return nil
	}
	const instants = 80
	for k := range instants + 1 {
		at := begin + (end-begin)*float64(k)/instants
		sum := 0.0
		for _, j := range jobs {
			sum += j.value(at)
		}
		mean = append(mean, report{at, sum / float64(len(jobs))})
	}
	return mean
}

// value is the accuracy at an instant, between reports on the line that joins them.
func (t training) value(at float64) float64 {
	for i := 1; i < len(t.points); i++ {
		if t.points[i].at >= at {
			a, b := t.points[i-1], t.points[i]
			if b.at <= a.at {
				return b.accuracy
			}
			return a.accuracy + (b.accuracy-a.accuracy)*math.Max(0, at-a.at)/(b.at-a.at)
		}
	}
	return t.points[len(t.points)-1].accuracy
}

func accuracyFigure(name, title, caption string, lines []trained) Figure {
	until, low, high := 0.0, 1.0, 0.0
	var keys []canvas.Key
	for i, l := range lines {
		if len(l.jobs) == 0 {
			continue
		}
		keys = append(keys, canvas.Key{Label: l.label, Swatch: canvas.Stroked(lineOf(i))})
		for _, j := range l.jobs {
			until = max(until, j.points[len(j.points)-1].at)
			for _, p := range j.points {
				low, high = min(low, p.accuracy), max(high, p.accuracy)
			}
		}
	}
	per, unit := canvas.TimeUnit(until)
	return Figure{
		Picture: Picture{Name: name, Kind: Accuracy, Title: title, Caption: caption},
		Width:   canvas.Width, Height: canvas.HeadHeight(keys) + 240,
		Paint: func(c draw.Canvas) {
			c = canvas.Head(c, title, keys)
			p := canvas.NewPlot()
			p.X.Label.Text, p.Y.Label.Text = "time since the job's start", "accuracy"
			if unit != "" {
				p.X.Label.Text += " (" + unit + ")"
			}
			p.X.Min, p.X.Max = 0, max(until/per, 1e-9)
			margin := max(0.05*(high-low), 1e-3)
			p.Y.Min, p.Y.Max = max(0, low-margin), min(1, high+margin)
			p.Add(canvas.Grid{Horizontal: true})
			for i, l := range lines {
				for _, j := range l.jobs[:min(len(l.jobs), mostTrained)] {
					thin := draw.LineStyle{Color: canvas.Shade(canvas.Hue(i), 0.55), Width: 0.5}
					if len(l.jobs) == 1 {
						thin = lineOf(i)
					}
					p.Add(strokeOf(j.points, per, thin))
				}
			}
			for i, l := range lines {
				if len(l.mean) > 0 {
					p.Add(strokeOf(l.mean, per, draw.LineStyle{Color: canvas.Hue(i), Width: 2, Dashes: canvas.Dashes(i)}))
				}
			}
			p.Draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
				Min: c.Min, Max: vg.Point{X: c.Max.X - 8, Y: c.Max.Y - 4},
			}})
		},
	}
}

// strokeOf is a line through what was reported.
func strokeOf(t []report, per float64, style draw.LineStyle) plot.Plotter {
	points := make(plotter.XYs, len(t))
	for i, p := range t {
		points[i] = plotter.XY{X: p.at / per, Y: p.accuracy}
	}
	return &plotter.Line{XYs: points, LineStyle: style}
}
