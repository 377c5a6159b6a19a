package canvas

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// Decades are ticks of a logarithmic axis: 1, 2, 5, 10, 20, …
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
