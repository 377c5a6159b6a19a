package servers

import (
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	pictures "github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
	"github.com/tfexp/tfexp/stages/plot/panels"
	"github.com/tfexp/tfexp/stages/servers/market"
)

// Lifetimes is the name of the picture of servers' lives.
const Lifetimes = "lifetimes"

var _ = pictures.Register(pictures.Kind{
	PictureKind: table.PictureKind{
		Rank: 114, Name: Lifetimes,
		Doc: "lifetimes of servers: the distributions in the file, and the lifetimes in the runs",
	},
	Draw: lifetimes,
})

// lifetimes draws a panel for each curve of lifetimes in the plan, with the lives of its servers. If no server has a
// lifetime, there is no picture, and no note about it.
func lifetimes(d *pictures.Data, _ pictures.Ask) ([]pictures.Figure, error) {
	if len(LifetimesMember.Of(&d.Plan)) == 0 {
		return nil, nil
	}
	servers, err := record.Servers.Read(d.Dir)
	if err != nil {
		return nil, err
	}
	const most = 8
	curves := LifetimesMember.Of(&d.Plan)[:min(most, len(LifetimesMember.Of(&d.Plan)))]
	shown := schema.Each(curves, func(c market.Curve) panels.Panel { return lifePanel(c, servers) })
	law := draw.LineStyle{Color: canvas.Hue(0), Width: 1.5}
	drawn := draw.LineStyle{Color: canvas.Hue(1), Width: 1.3}
	fitted := draw.LineStyle{Color: canvas.Hue(2), Width: 1.2, Dashes: canvas.Dashes(1)}
	keys := []canvas.Key{{Label: "law, or measured (points)", Swatch: canvas.Stroked(law)},
		{Label: "lives in this experiment", Swatch: canvas.Stroked(drawn)}}
	if slices.ContainsFunc(curves, func(c market.Curve) bool { return c.Fitted != nil }) {
		keys = append(keys, canvas.Key{Label: "bathtub fitted to the measured", Swatch: canvas.Stroked(fitted)})
	}
	caption := "The share of servers that live longer than a time. For the lives in this experiment it is the " +
		"Kaplan-Meier estimate, in which a server that was returned counts until its return."
	for _, c := range curves {
		if c.FittedLaw != "" {
			caption += fmt.Sprintf(" %s: %s.", c.Of, c.FittedLaw)
		}
	}
	if len(curves) < len(LifetimesMember.Of(&d.Plan)) {
		caption += fmt.Sprintf(" The first %d of %d curves are shown.", most, len(LifetimesMember.Of(&d.Plan)))
	}
	const title = "Lives of servers"
	n := min(panels.Columns, len(shown))
	return []pictures.Figure{{
		Picture: pictures.Picture{Name: Lifetimes, Kind: Lifetimes, Title: title, Caption: caption},
		Width:   canvas.Width, Height: canvas.HeadHeight(keys) + panels.Height(len(shown), n) + canvas.Margin,
		Paint: func(c draw.Canvas) { panels.Paint(canvas.Head(c, title, keys), shown, n) },
	}}, nil
}

// lifePanel returns the panel of a curve, with the lives of the servers that follow it.
func lifePanel(c market.Curve, servers []record.ServerRow) panels.Panel {
	per, unit := canvas.TimeUnit(c.Seconds[len(c.Seconds)-1])
	p := panels.Panel{Title: c.Of + ": " + c.Law, X: "life (" + unit + ")", Y: "share alive", FromZero: true, TopY: 1.02}
	scaled := func(seconds []float64) []float64 {
		return schema.Each(seconds, func(s float64) float64 { return s / per })
	}
	law := panels.Line{X: scaled(c.Seconds), Y: c.Survival, Style: draw.LineStyle{Color: canvas.Hue(0), Width: 1.5},
		Steps: c.Measured}
	if c.Measured {
		law.Radius = 1.5
	}
	p.Lines = append(p.Lines, law)
	if c.Fitted != nil {
		p.Lines = append(p.Lines, panels.Line{X: scaled(c.Seconds), Y: c.Fitted,
			Style: draw.LineStyle{Color: canvas.Hue(2), Width: 1.2, Dashes: canvas.Dashes(1)}})
	}
	nodes := map[string]bool{c.Of: true}
	for _, name := range c.Nodes {
		nodes[name] = true
	}
	var seen []market.Observation
	for _, s := range servers {
		if (s.Device == c.Of || s.Device == "" && nodes[s.Node]) && s.Market == market.Spot && s.Up >= 0 && s.Down > s.Up {
			seen = append(seen, market.Observation{Time: time.Duration((s.Down - s.Up) * 1e9), Taken: s.Revoked > 0})
		}
	}
	if km, err := market.KaplanMeier(c.Of, seen); err == nil {
		own := panels.Line{X: []float64{0}, Y: []float64{1}, Steps: true, Style: draw.LineStyle{Color: canvas.Hue(1),
			Width: vg.Length(1.3)}}
		longest := 0.0
		for _, o := range seen {
			longest = max(longest, o.Time.Seconds())
		}
		for i, t := range km.Times {
			own.X, own.Y = append(own.X, t.Seconds()/per), append(own.Y, km.Survivals[i])
		}
		own.X, own.Y = append(own.X, longest/per), append(own.Y, own.Y[len(own.Y)-1])
		p.Lines = append(p.Lines, own)
	}
	return p
}
