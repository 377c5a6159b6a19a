package canvas

import (
	"math"
	"time"

	"gonum.org/v1/plot"
)

// Dates places ticks at round times of day and dates (UTC) on an axis of times since an instant. Origin is this instant
// in seconds since 1970. Per is the number of seconds in a unit of the axis. Room is the length of the axis in points,
// which bounds the number of ticks.
type Dates struct{ Origin, Per, Room float64 }

// dateSteps are the possible distances between ticks, in seconds.
var dateSteps = []float64{
	1, 5, 15, 60, 300, 900, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 2 * 86400, 7 * 86400, 14 * 86400, 28 * 86400,
	91 * 86400, 182 * 86400, 364 * 86400,
}

// Ticks implements plot.Ticker.
func (d Dates) Ticks(lo, hi float64) []plot.Tick {
	from, until := d.Origin+lo*d.Per, d.Origin+hi*d.Per
	for _, step := range dateSteps {
		layout := "2 Jan 2006"
		switch {
		case step < 60:
			layout = "15:04:05"
		case step < 86400 && until-from < 86400:
			layout = "15:04"
		case step < 86400:
			layout = "2 Jan 15:04"
		case until-from < 300*86400:
			layout = "2 Jan"
		}
		if wide := TextWidth(time.Unix(0, 0).UTC().Format(layout), TickSize) + 20; (until-from)/step*wide > d.Room {
			continue
		}
		var ticks []plot.Tick
		for at := step * math.Ceil(from/step); at <= until; at += step {
			label := time.Unix(int64(at), 0).UTC().Format(layout)
			if (until-at)/(until-from)*d.Room < TextWidth(label, TickSize)/2 {
				break // beyond the end of the axis
			}
			ticks = append(ticks, plot.Tick{Value: (at - d.Origin) / d.Per, Label: label})
		}
		return ticks
	}
	return nil
}

// TimeAxis sets the name and the ticks of a horizontal axis of times since a cell's start. per is the number of seconds
// in a unit. If origin is known, the ticks are dates; otherwise they are times since the start.
func TimeAxis(p *plot.Plot, origin, per float64, unit string) {
	if origin == 0 {
		p.X.Label.Text = "time since the cell's start (" + unit + ")"
		return
	}
	p.X.Label.Text = "date (UTC)"
	if until := p.X.Max * per; until < 86400 {
		p.X.Label.Text = "time on " + time.Unix(int64(origin), 0).UTC().Format("2 January 2006") + " (UTC)"
	}
	p.X.Tick.Marker = Dates{Origin: origin, Per: per, Room: Width - 90}
}
