package servers

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	pictures "github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
	"github.com/tfexp/tfexp/stages/servers/market"
)

// Revocations is the name of the picture of revocations.
const Revocations = "revocations"

var _ = pictures.Register(pictures.Kind{
	PictureKind: table.PictureKind{
		Rank: 116, Name: Revocations,
		Doc: "when servers of each run were taken away: one column for each run, and one tile for each " +
			"server",
	},
	Draw: revocations,
})

// life is the part of a run that a server has lived, and whether it was revoked.
type life struct {
	part    float64
	revoked bool
}

// column has the servers of one run.
type column struct {
	lives   []life
	revoked int
}

// mostRuns is the greatest number of columns in a picture. If possible, at least leastRuns of them have revocations,
// and at least half.
const (
	mostRuns  = 160
	leastRuns = 40
)

// revocations draws a picture for each hardware, with the runs by number of revocations. If no server was revoked,
// there is no picture, and no note about it.
func revocations(d *pictures.Data, _ pictures.Ask) ([]pictures.Figure, error) {
	servers, err := record.Servers.Read(d.Dir)
	if err != nil || len(servers) == 0 {
		return nil, err
	}
	of := map[string][]record.ServerRow{}
	for _, s := range servers {
		if s.Market != market.OnDemand {
			of[s.Cell] = append(of[s.Cell], s)
		}
	}
	var names []string
	runs := map[string][]column{}
	for _, c := range d.Cells {
		if own := of[c.Cell]; len(own) > 0 {
			if runs[c.Hardware] == nil {
				names = append(names, c.Hardware)
			}
			runs[c.Hardware] = append(runs[c.Hardware], columnOf(own, measure.Makespan.Of(&c.Metrics)))
		}
	}
	var out []pictures.Figure
	for _, name := range names {
		all := runs[name]
		if !slices.ContainsFunc(all, func(c column) bool { return c.revoked > 0 }) {
			continue
		}
		slices.SortStableFunc(all, func(a, b column) int {
			return cmp.Or(cmp.Compare(b.revoked, a.revoked), cmp.Compare(len(b.lives), len(a.lives)))
		})
		file, title := Revocations, "Revocations"
		if len(names) > 1 {
			file, title = Revocations+"-"+name, "Revocations on "+name
		}
		out = append(out, heat(file, title, all))
	}
	return out, nil
}

// columnOf returns a run's servers, ordered by the part of the run that they have lived.
func columnOf(servers []record.ServerRow, makespan float64) column {
	var c column
	for _, s := range servers {
		if s.Up < 0 || s.Down <= s.Up {
			continue // it could never be used
		}
		l := life{part: 1}
		if s.Revoked > 0 && s.Down < makespan {
			l = life{part: min((s.Down-s.Up)/makespan, 1), revoked: true}
			c.revoked++
		}
		c.lives = append(c.lives, l)
	}
	slices.SortStableFunc(c.lives, func(a, b life) int { return cmp.Compare(a.part, b.part) })
	return c
}

// tileColor returns a dark color for a server that was revoked soon, and a light one for a server that lived through
// the run.
func tileColor(l life) color.NRGBA {
	if !l.revoked {
		return canvas.Shade(canvas.Hue(0), 0.8)
	}
	return canvas.Shade(canvas.Hue(1), 0.75*l.part)
}

// heat draws the runs, the one with the most revocations first. In a column, the servers with the shortest lives are at
// the bottom.
func heat(name, title string, all []column) pictures.Figure {
	total, taken, most := 0, 0, 0
	for _, c := range all {
		total, taken, most = total+len(c.lives), taken+c.revoked, max(most, len(c.lives))
	}
	some := slices.IndexFunc(all, func(c column) bool { return c.revoked == 0 })
	if some < 0 {
		some = len(all)
	}
	shown := all[:min(mostRuns, max(2*some, leastRuns), len(all))]
	caption := fmt.Sprintf("A column is a run, in the order of the number of revocations. A tile is a spot server "+
		"of the run; its color is the part of the run that it lived. %d of %d servers were revoked in %d runs.", taken, total, len(all))
	if len(shown) < len(all) {
		caption += fmt.Sprintf(" The first %d runs are shown.", len(shown))
	}
	keys := []canvas.Key{
		{Label: "taken away at once", Swatch: canvas.Filled(tileColor(life{0, true}))},
		{Label: "half way", Swatch: canvas.Filled(tileColor(life{0.5, true}))},
		{Label: "near the end", Swatch: canvas.Filled(tileColor(life{1, true}))},
		{Label: "lived through the run", Swatch: canvas.Filled(tileColor(life{1, false}))},
	}
	const row, foot = 15.0, 34.0
	return pictures.Figure{
		Picture: pictures.Picture{Name: name, Kind: Revocations, Title: title, Caption: caption},
		Width:   canvas.Width, Height: canvas.HeadHeight(keys) + row*float64(most) + foot + canvas.Margin,
		Paint: func(c draw.Canvas) {
			c = canvas.Head(c, title, keys)
			left, bottom := c.Min.X+36, c.Max.Y-vg.Length(row*float64(most))
			wide := min((c.Max.X-left)/vg.Length(len(shown)), 26)
			for i, run := range shown {
				for k, l := range run.lives {
					x, y := left+wide*vg.Length(i), bottom+row*vg.Length(k)
					gap := min(0.6, wide/8)
					c.SetColor(tileColor(l))
					c.Fill(canvas.Rectangle(x+gap, y+0.6, x+wide-gap, y+row-0.6))
				}
			}
			tick := canvas.Aligned(canvas.TickSize, canvas.Ink, false, -1, -0.5)
			for k := range most {
				c.FillText(tick, vg.Point{X: left - 4, Y: bottom + row*(vg.Length(k)+0.5)}, fmt.Sprint(k+1))
			}
			runTicks(c, shown, left, bottom, wide)
			under := canvas.Style(canvas.LabelSize, canvas.Ink, false)
			under.YAlign = -1
			c.FillText(under, vg.Point{X: left, Y: bottom - 16}, "runs, by their number of revocations")
			up := canvas.Style(canvas.LabelSize, canvas.Ink, false)
			up.Rotation, up.XAlign, up.YAlign = 1.5707963, -0.5, -1
			c.FillText(up, vg.Point{X: c.Min.X, Y: (bottom + c.Max.Y) / 2}, canvas.Fit("servers",
				(c.Max.Y-bottom).Points()+10, canvas.LabelSize))
		},
	}
}

// runTicks writes each number of revocations below the first run with this number.
func runTicks(c draw.Canvas, shown []column, left, bottom, wide vg.Length) {
	tick := canvas.Aligned(canvas.TickSize, canvas.Ink, false, -0.5, -1)
	last := vg.Length(-100)
	for i, run := range shown {
		if i > 0 && shown[i-1].revoked == run.revoked {
			continue
		}
		if x := left + wide*(vg.Length(i)+0.5); x-last > 8 {
			c.FillText(tick, vg.Point{X: x, Y: bottom - 4}, fmt.Sprint(run.revoked))
			last = x
		}
	}
}
