package clusterspeed

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/table"
	pictures "github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
	"github.com/tfexp/tfexp/stages/plot/panels"
)

// ClusterSpeed is the name of these pictures in experiment files.
const ClusterSpeed = "cluster_speed"

var _ = pictures.Register(pictures.Kind{
	PictureKind: table.PictureKind{
		Rank: 110, Name: ClusterSpeed,
		Doc: "the speed of measured clusters over their number of workers, for each number of parameter " +
			"servers, with the fitted law",
		Section: "estimates",
	},
	Draw: clusterSpeed,
})

// clusterSpeed draws a panel for each table, model and device, with a line for each number of parameter servers.
func clusterSpeed(d *pictures.Data, _ pictures.Ask) ([]pictures.Figure, error) {
	rows, err := ClusterSpeeds.Read(d.Dir)
	if err != nil {
		return nil, err
	}
	var files []string
	of := map[string][]ClusterSpeedRow{}
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

func speeds(name, title, file string, rows []ClusterSpeedRow) pictures.Figure {
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
	var shown []panels.Panel
	for _, r := range rows {
		t := r.Device
		if r.Model != "" {
			t = r.Model + " on " + r.Device
		}
		i := slices.IndexFunc(shown, func(p panels.Panel) bool { return p.Title == t })
		if i < 0 {
			i = len(shown)
			shown = append(shown, panels.Panel{Title: t, X: "workers", Y: "steps/s", FromZero: true, Lines: make([]panels.Line,
				3*len(servers))})
		}
		k := slices.Index(servers, r.Servers)
		measured, fitted, left := &shown[i].Lines[3*k], &shown[i].Lines[3*k+1], &shown[i].Lines[3*k+2]
		measured.Radius, measured.Style.Color = 2.6, canvas.Hue(k)
		fitted.Style = draw.LineStyle{Color: canvas.Hue(k), Width: 1.2}
		left.Style = draw.LineStyle{Color: canvas.Hue(k), Width: 1, Dashes: canvas.Dashes(2)}
		w := float64(r.Workers)
		measured.X, measured.Y = append(measured.X, w), append(measured.Y, r.Speed)
		fitted.X, fitted.Y = append(fitted.X, w), append(fitted.Y, r.Fitted)
		if r.LeftOut && !math.IsNaN(r.Queued) {
			left.X, left.Y = append(left.X, w), append(left.Y, r.Queued)
		}
	}
	for i := range shown {
		for k := range shown[i].Lines {
			shown[i].Lines[k].Sort()
		}
	}
	n := min(panels.Columns, len(shown))
	return pictures.Figure{
		Picture: pictures.Picture{Name: name, Kind: ClusterSpeed, Title: title,
			Caption: "Points are measured speeds (" + file + "). Lines show the law fitted to all points. " +
				"Dashed lines show the law fitted to smaller clusters, at the clusters of 5 workers or more."},
		Width: canvas.Width, Height: canvas.HeadHeight(keys) + panels.Height(len(shown), n) + canvas.Margin,
		Paint: func(c draw.Canvas) { panels.Paint(canvas.Head(c, title, keys), shown, n) },
	}
}
