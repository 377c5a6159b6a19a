package canvas

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// Decades places ticks on a logarithmic axis: 1, 2, 5, 10, 20, …
type Decades struct{}

// Ticks implements plot.Ticker.
func (Decades) Ticks(lo, hi float64) []plot.Tick {
	var out []plot.Tick
	wide := hi/lo > 1000
	for e := math.Floor(math.Log10(lo)); e <= math.Ceil(math.Log10(hi)); e++ {
		for _, m := range []float64{1, 2, 5} {
			v := m * math.Pow(10, e)
			if v < lo || v > hi || wide && m != 1 {
				continue
			}
			out = append(out, plot.Tick{Value: v, Label: thousands(strconv.FormatFloat(v, 'f', max(0, -int(e)), 64))})
		}
	}
	return out
}

// Apart returns ticks whose labels do not overlap. room is the length of the axis in points; part returns the place of
// a value on the axis, from 0 to 1.
func Apart(all plot.ConstantTicks, room float64, part func(float64) float64) (ticks plot.ConstantTicks) {
	free := math.Inf(-1) // end of the last label
	for _, t := range all {
		at, half := part(t.Value)*room, TextWidth(t.Label, TickSize)/2
		if at-half >= free {
			ticks, free = append(ticks, t), at+half+3
		}
	}
	return ticks
}
