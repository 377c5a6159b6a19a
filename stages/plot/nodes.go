package plot

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// part is the rows in which a chart shows the cores or the GPUs of a node, counted from the bottom.
type part struct {
	stretch
	label string
}

// parts returns the parts of all nodes.
func (ch *Chart) parts() []part {
	var out []part
	core, gpu := 0.0, 0.0
	for _, n := range ch.Nodes {
		if ch.Cores > 0 {
			out = append(out, part{ch.coresAt(core, core+float64(n.Cores)), n.Name})
		}
		core += float64(n.Cores)
		if n.GPUs > 0 && gpu+float64(n.GPUs) <= float64(ch.GPUs) {
			out = append(out, part{ch.gpusAt(gpu, gpu+float64(n.GPUs)), n.Name + " GPUs"})
		}
		gpu += float64(n.GPUs)
	}
	return out
}

// nodeTicks returns labels with the names of nodes at the middle of their rows, for as many nodes as fit.
func (ch *Chart) nodeTicks(core float64) []plot.Tick {
	var ticks []plot.Tick
	room := canvas.TickSize + 2.0
	for _, p := range ch.parts() {
		middle := (p.low + p.high) / 2 * core
		free := true
		for _, t := range ticks {
			free = free && max(t.Value-middle, middle-t.Value) >= room
		}
		if free {
			ticks = append(ticks, plot.Tick{Value: middle, Label: canvas.Fit(p.label, 90, canvas.TickSize)})
		}
	}
	return ticks
}

// drawNodes draws the borders between nodes.
func (b bars) drawNodes(c draw.Canvas, y func(float64) vg.Length) {
	line := draw.LineStyle{Color: canvas.Quiet, Width: 0.7}
	if len(b.Nodes) > 8 { // more borders would hide the jobs
		line = draw.LineStyle{Color: canvas.Rule, Width: 0.5}
	}
	for _, p := range b.parts() {
		if (p.high-p.low)*b.core < 1 {
			continue // more borders would hide the jobs
		}
		for _, at := range []float64{p.low, p.high} {
			c.StrokeLine2(line, c.Min.X, y(at*b.core), c.Max.X, y(at*b.core))
		}
	}
}
