package plot

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// Colors of servers: of one that can be used, and of one that is starting.
var (
	serverUp    = canvas.Shade(canvas.Hue(2), 0.82)
	serverComes = canvas.Shade(canvas.Hue(4), 0.75)
)

// takenAway is the line at the time of a revocation.
var takenAway = draw.LineStyle{Color: canvas.Hue(1), Width: 1.6}

// drawServers draws the lives of servers on their cores.
func (b bars) drawServers(c draw.Canvas, at func(float64) vg.Length, y func(float64) vg.Length) {
	for _, s := range b.Servers {
		down := s.Down
		if down < 0 {
			down = b.Until
		}
		for _, span := range s.Cores {
			rows := b.coresAt(float64(span.Lo), float64(span.Hi))
			low, high := y(rows.low*b.core), y(rows.high*b.core)
			if up := s.Up; up > s.Created || up < 0 {
				if up < 0 {
					up = down
				}
				c.SetColor(serverComes)
				c.Fill(canvas.Rectangle(at(s.Created), low, at(up), high))
			}
			if s.Up < 0 {
				continue
			}
			c.SetColor(serverUp)
			c.Fill(canvas.Rectangle(at(s.Up), low, at(down), high))
		}
	}
}

// drawLosses draws lines at revocations, over the jobs.
func (b bars) drawLosses(c draw.Canvas, at func(float64) vg.Length, y func(float64) vg.Length) {
	for _, s := range b.Servers {
		if !s.Revoked || s.Down < 0 {
			continue
		}
		for _, span := range s.Cores {
			rows := b.coresAt(float64(span.Lo), float64(span.Hi))
			c.StrokeLine2(takenAway, at(s.Down), y(rows.low*b.core), at(s.Down), y(rows.high*b.core))
		}
	}
}

// serverKeys returns the entries of the legend about servers; nil if all nodes are permanent.
func (ch *Chart) serverKeys() []canvas.Key {
	if len(ch.Servers) == 0 {
		return nil
	}
	keys := []canvas.Key{{Label: "server there", Swatch: canvas.Filled(serverUp)}}
	comes, taken := false, false
	for _, s := range ch.Servers {
		comes, taken = comes || s.Up > s.Created, taken || s.Revoked
	}
	if comes {
		keys = append(keys, canvas.Key{Label: "server starting", Swatch: canvas.Filled(serverComes)})
	}
	if taken {
		keys = append(keys, canvas.Key{Label: "server taken away", Swatch: func(c draw.Canvas, box vg.Rectangle) {
			x := (box.Min.X + box.Max.X) / 2
			c.StrokeLine2(takenAway, x, box.Min.Y, x, box.Max.Y)
		}})
	}
	return keys
}
