package servers

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/tell"
	"github.com/tfexp/tfexp/stages/clusterspeed"
	pictures "github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// ClusterSpeed is the name of this kind of picture.
const ClusterSpeed = "cluster_speed"

func init() {
	pictures.Register(pictures.Kind{
		PictureKind: tell.PictureKind{
			Rank: 110, Name: ClusterSpeed,
			Doc: "the speed of measured clusters against their workers, for each number of parameter servers, with " +
				"the fitted law",
			Section: "estimates",
		},
		Draw: clusterSpeed,
	})
}

// columns is the number of panels beside each other.
const columns = 2

// clusterSpeed draws, for each table, a panel for each model and device, with a line for each number of parameter
// servers.
func clusterSpeed(d *pictures.Data, _ pictures.Ask) ([]pictures.Figure, error) {
	rows, err := clusterspeed.ClusterSpeeds.Read(d.Dir)
	if err != nil {
		return nil, err
	}
	var files []string
	of := map[string][]clusterspeed.ClusterSpeedRow{}
	for _, r := range rows {
		if of[r.File] == nil {
			files = append(files, r.File)
		}
		of[r.File] = append(of[r.File], r)
	}
	var out []pictures.Figure
	for i, file := range files {
		name := ClusterSpeed
		if i > 0 {
			name = fmt.Sprintf("%s-%d", ClusterSpeed, i+1)
		}
		out = append(out, speeds(name, "Speed of clusters by workers", file, of[file]))
	}
	return out, nil
}

func speeds(name, title, file string, rows []clusterspeed.ClusterSpeedRow) pictures.Figure {
	var servers []int
	for _, r := range rows {
		if !slices.Contains(servers, r.Servers) {
			servers = append(servers, r.Servers)
		}
	}
	slices.Sort(servers)
	var keys []canvas.Key
	for i, n := range servers {
		label := fmt.Sprintf("%d parameter servers", n)
		if n == 1 {
			label = "1 parameter server"
		}
		keys = append(keys, canvas.Key{Label: label, Swatch: canvas.Dotted(canvas.Hue(i))})
	}
	keys = append(keys, canvas.Key{Label: "predicted from smaller clusters",
		Swatch: canvas.Stroked(draw.LineStyle{Color: canvas.Quiet, Width: 1, Dashes: canvas.Dashes(2)})})
	var panels []panel
	for _, r := range rows {
		t := r.Device
		if r.Model != "" {
			t = r.Model + " on " + r.Device
		}
		i := slices.IndexFunc(panels, func(p panel) bool { return p.title == t })
		if i < 0 {
			i = len(panels)
			panels = append(panels, panel{title: t, x: "workers", y: "steps/s", fromZero: true, lines: make([]line,
				3*len(servers))})
		}
		k := slices.Index(servers, r.Servers)
		measured, fitted, left := &panels[i].lines[3*k], &panels[i].lines[3*k+1], &panels[i].lines[3*k+2]
		measured.radius, measured.style.Color = 2.6, canvas.Hue(k)
		fitted.style = draw.LineStyle{Color: canvas.Hue(k), Width: 1.2}
		left.style = draw.LineStyle{Color: canvas.Hue(k), Width: 1, Dashes: canvas.Dashes(2)}
		w := float64(r.Workers)
		measured.x, measured.y = append(measured.x, w), append(measured.y, r.Speed)
		fitted.x, fitted.y = append(fitted.x, w), append(fitted.y, r.Fitted)
		if r.LeftOut && !math.IsNaN(r.Queued) {
			left.x, left.y = append(left.x, w), append(left.y, r.Queued)
		}
	}
	for i := range panels {
		for k := range panels[i].lines {
			panels[i].lines[k].sort()
		}
	}
	n := min(columns, len(panels))
	return pictures.Figure{
		Picture: pictures.Picture{Name: name, Kind: ClusterSpeed, Title: title,
			Caption: "Points are measured (" + file + "), lines " +
				"the law that was fitted to all of them; dashed is what it predicts of a group's clusters of 5 workers or more " +
				"when it " +
				"is fitted without them."},
		Width: canvas.Width, Height: canvas.HeadHeight(keys) + height(len(panels), n) + canvas.Margin,
		Paint: func(c draw.Canvas) { paint(canvas.Head(c, title, keys), panels, n) },
	}
}

// sort orders the points of a line from left to right.
func (l *line) sort() {
	order := make([]int, len(l.x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case l.x[a] < l.x[b]:
			return -1
		case l.x[a] > l.x[b]:
			return 1
		}
		return 0
	})
	x, y := make([]float64, len(order)), make([]float64, len(order))
	for i, k := range order {
		x[i], y[i] = l.x[k], l.y[k]
	}
	l.x, l.y = x, y
}
