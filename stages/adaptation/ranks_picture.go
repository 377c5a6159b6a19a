package adaptation

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/stats"
	pictures "github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// AdaptationRanks is the name of the picture of ranks.
const AdaptationRanks = "adaptation_ranks"

var _ = picture(132, AdaptationRanks, "ranks of controllers that deepen networks, one tile for each controller and scenario",
	func(s deepeningStudy) (out []pictures.Figure, _ error) {
		if len(s.Ranking) > 0 {
			out = append(out, ranks(s.name, "", s.Ranking))
		}
		if len(s.RealRanking) > 0 {
			out = append(out, ranks(s.name, " in real training", s.RealRanking))
		}
		return out, nil
	})

// ranks draws the rows of a ranking. where is added to the title: "" for tables, or " in real training".
func ranks(study, where string, ranking []RankingRow) pictures.Figure {
	const tall, names, foot = 29.0, 110.0, 16.0
	rows := map[[2]string]RankingRow{}
	var controllers, scenarios []string
	for _, r := range ranking {
		rows[[2]string{r.Controller, r.Scenario}] = r
		controllers = schema.AddOnce(controllers, r.Controller)
		scenarios = schema.AddOnce(scenarios, r.Scenario)
	}
	title := fmt.Sprintf("Ranks of controllers by scenario%s – %s", where, study)
	name := AdaptationRanks + "-" + study
	caption := "The median rank over the seeds among all sequences (1 is the best), and below it the mean regret: " +
		"how far the accuracy stays below the best. Darker is better. A frame means that the controller had " +
		"no data of this scenario: it neither learned nor tried sequences there."
	if where != "" {
		name += "-real"
		caption += " Both compare the accuracy of real trainings with the accuracies of the table: a regret " +
			"below 0 is better than the table's best. Without a table, tiles show accuracies alone."
	}
	return pictures.Figure{
		Picture: pictures.Picture{Name: name, Kind: AdaptationRanks, Title: title, Caption: caption},
		Width:   canvas.Width, Height: canvas.HeadHeight(nil) + foot + tall*float64(len(controllers)) + canvas.Margin,
		Paint: func(c draw.Canvas) {
			c = canvas.Head(c, title, nil)
			wide := (c.Size().X - names) / vg.Length(len(scenarios))
			for j, scenario := range scenarios {
				st := canvas.Aligned(canvas.TickSize, canvas.Ink, false, text.XCenter, text.YTop)
				c.FillText(st, vg.Point{X: c.Min.X + names + wide*(vg.Length(j)+0.5), Y: c.Max.Y}, scenario)
			}
			for i, controller := range controllers {
				top := c.Max.Y - foot - vg.Length(tall*float64(i))
				st := canvas.Aligned(canvas.TickSize, canvas.Ink, false, text.XRight, text.YCenter)
				c.FillText(st, vg.Point{X: c.Min.X + names - 6, Y: top - tall/2}, canvas.Fit(controller, names-8,
					canvas.TickSize))
				for j, scenario := range scenarios {
					if r, ok := rows[[2]string{controller, scenario}]; ok {
						left := c.Min.X + names + wide*vg.Length(j)
						rankTile(c, r, vg.Rectangle{
							Min: vg.Point{X: left, Y: top - tall}, Max: vg.Point{X: left + wide, Y: top},
						})
					}
				}
			}
		},
	}
}

// rankTile draws one tile.
func rankTile(c draw.Canvas, r RankingRow, box vg.Rectangle) {
	// The color follows the logarithm of the rank, since differences between the first ranks matter most.
	white, above, below := 0.95, "–", fmt.Sprintf("%.4f", r.Accuracy)
	if stats.Finite(r.Rank) {
		white = 0.95 * math.Log(max(r.Rank, 1)) / math.Log(float64(max(r.Of, 2)))
		above, below = fmt.Sprintf("%g", r.Rank), fmt.Sprintf("%.4f", r.Regret)
	}
	fill := canvas.Shade(canvas.Hue(0), white)
	c.SetColor(fill)
	c.Fill(canvas.Rectangle(box.Min.X+1, box.Min.Y+1, box.Max.X-1, box.Max.Y-1))
	if !r.Knew {
		c.SetColor(canvas.Ink)
		c.SetLineWidth(1.2)
		c.Stroke(canvas.Rectangle(box.Min.X+2, box.Min.Y+2, box.Max.X-2, box.Max.Y-2))
	}
	middle := vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: (box.Min.Y + box.Max.Y) / 2}
	st := canvas.Aligned(canvas.LabelSize, canvas.Readable(fill), true, text.XCenter, text.YBottom)
	c.FillText(st, vg.Point{X: middle.X, Y: middle.Y - 1}, above)
	st = canvas.Aligned(canvas.SmallSize, canvas.Readable(fill), false, text.XCenter, text.YTop)
	c.FillText(st, vg.Point{X: middle.X, Y: middle.Y - 1}, below)
}
