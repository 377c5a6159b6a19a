package servers

import (
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/hardware/market"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/tell"
	pictures "github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// Lifetimes is the name of this kind of picture.
const Lifetimes = "lifetimes"

func init() {
	pictures.Register(pictures.Kind{
		PictureKind: tell.PictureKind{
			Rank: 114, Name: Lifetimes,
			Doc: "how long servers live: the laws or measured curves of their nodes, and the lives that they came to",
		},
		Draw: lifetimes,
	})
}

// lifetimes draws a panel for each life-time curve of the plan, with the lives of its servers. There is nothing to
// draw, nor to explain, where no server has a life of its own.
func lifetimes(d *pictures.Data, _ pictures.Ask) ([]pictures.Figure, error) {
	if len(d.Plan.Lives) == 0 {
		return nil, nil
	}
	servers, err := record.Servers.Read(d.Dir)
	if err != nil {
		return nil, err
	}
	const most = 8
	curves := d.Plan.Lives[:min(most, len(d.Plan.Lives))]
	var panels []panel
	for _, c := range curves {
		panels = append(panels, lifePanel(c, servers))
	}
	law := draw.LineStyle{Color: canvas.Hue(0), Width: 1.5}
	drawn := draw.LineStyle{Color: canvas.Hue(1), Width: 1.3}
	fitted := draw.LineStyle{Color: canvas.Hue(2), Width: 1.2, Dashes: canvas.Dashes(1)}
	keys := []canvas.Key{{Label: "law, or measured (points)", Swatch: canvas.Stroked(law)},
		{Label: "lives in this experiment", Swatch: canvas.Stroked(drawn)}}
	if slices.ContainsFunc(curves, func(c record.LifeCurve) bool { return c.Fitted != nil }) {
		keys = append(keys, canvas.Key{Label: "bathtub fitted to the measured", Swatch: canvas.Stroked(fitted)})
	}
	caption := "The share of servers that live longer than a time. Lives in this experiment are by Kaplan and Meier: " +
		"those of servers " +
		"that were given back count as far as they went."
	for _, c := range curves {
		if c.FittedLaw != "" {
			caption += fmt.Sprintf(" %s: %s.", c.Of, c.FittedLaw)
		}
	}
	if len(curves) < len(d.Plan.Lives) {
		caption += fmt.Sprintf(" The first %d of %d curves are shown.", most, len(d.Plan.Lives))
	}
	const title = "Lives of servers"
	n := min(columns, len(panels))
	return []pictures.Figure{{
		Picture: pictures.Picture{Name: Lifetimes, Kind: Lifetimes, Title: title, Caption: caption},
		Width:   canvas.Width, Height: canvas.HeadHeight(keys) + height(len(panels), n) + canvas.Margin,
		Paint: func(c draw.Canvas) { paint(canvas.Head(c, title, keys), panels, n) },
	}}, nil
}

// lifePanel is the curve of a node with the lives of its servers.
func lifePanel(c record.LifeCurve, servers []record.ServerRow) panel {
	per, unit := canvas.TimeUnit(c.Seconds[len(c.Seconds)-1])
	p := panel{title: c.Of + ": " + c.Law, x: "life (" + unit + ")", y: "share alive", fromZero: true, topY: 1.02}
	scaled := func(seconds []float64) []float64 {
		out := make([]float64, len(seconds))
		for i, s := range seconds {
			out[i] = s / per
		}
		return out
	}
	law := line{x: scaled(c.Seconds), y: c.Survival, style: draw.LineStyle{Color: canvas.Hue(0), Width: 1.5},
		steps: c.Measured}
	if c.Measured {
		law.radius = 1.5
	}
	p.lines = append(p.lines, law)
	if c.Fitted != nil {
		p.lines = append(p.lines, line{x: scaled(c.Seconds), y: c.Fitted,
			style: draw.LineStyle{Color: canvas.Hue(2), Width: 1.2, Dashes: canvas.Dashes(1)}})
	}
	var seen []market.Observation
	for _, s := range servers {
		if (s.Device == c.Of || s.Device == "" && s.Node == c.Of) && s.Market == market.Spot && s.Up >= 0 && s.Down > s.Up {
			seen = append(seen, market.Observation{Time: time.Duration((s.Down - s.Up) * 1e9), Taken: s.Revoked > 0})
		}
	}
	if km, err := market.KaplanMeier(c.Of, seen); err == nil {
		own := line{x: []float64{0}, y: []float64{1}, steps: true, style: draw.LineStyle{Color: canvas.Hue(1),
			Width: vg.Length(1.3)}}
		longest := 0.0
		for _, o := range seen {
			longest = max(longest, o.Time.Seconds())
		}
		for i, t := range km.Times {
			own.x, own.y = append(own.x, t.Seconds()/per), append(own.y, km.Survivals[i])
		}
		own.x, own.y = append(own.x, longest/per), append(own.y, own.y[len(own.y)-1])
		p.lines = append(p.lines, own)
	}
	return p
}
