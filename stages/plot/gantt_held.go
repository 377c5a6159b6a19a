package plot

import (
	"slices"

	"github.com/tfexp/tfexp/results/analysis"
)

// stretch is a range of adjacent rows, counted from the bottom of the chart.
type stretch struct{ low, high float64 }

// under returns the height of the rows below the cores: the GPUs, and a gap.
func (ch *Chart) under() float64 {
	switch {
	case ch.GPUs == 0:
		return 0
	case ch.Cores == 0:
		return float64(ch.GPUs) * ch.gpuRows
	}
	return float64(ch.GPUs)*ch.gpuRows + 0.6
}

// rows returns the height of cores and GPUs together.
func (ch *Chart) rows() float64 { return ch.under() + float64(ch.Cores) }

// coresAt returns the rows of the cores from low to below high. Core 0 is at the top.
func (ch *Chart) coresAt(low, high float64) stretch {
	top := ch.under() + float64(ch.Cores)
	return stretch{top - high, top - low}
}

// gpusAt returns the rows of the GPUs from low to below high. GPU 0 is at the top.
func (ch *Chart) gpusAt(low, high float64) stretch {
	return stretch{(float64(ch.GPUs) - high) * ch.gpuRows, (float64(ch.GPUs) - low) * ch.gpuRows}
}

// stretches returns the rows of the cores and GPUs of a span. If a job shares GPUs as a guest, it gets the upper half
// of their rows.
func (ch *Chart) stretches(h analysis.Span) []stretch {
	out := make([]stretch, 0, len(h.Cores)+len(h.GPUs))
	for _, s := range h.Cores {
		if ch.Cores == 0 {
			break
		}
		out = append(out, ch.coresAt(float64(s.Lo), float64(s.Hi)))
	}
	for _, s := range h.GPUs {
		if ch.GPUs == 0 {
			break
		}
		if !h.Guest {
			out = append(out, ch.gpusAt(float64(s.Lo), float64(s.Hi)))
			continue
		}
		for g := s.Lo; g < s.Hi; g++ {
			out = append(out, ch.gpusAt(float64(g), float64(g)+0.5))
		}
	}
	return out
}

// covered reports whether guests are drawn over a part of a stretch.
func (ch *Chart) covered(h analysis.Span, s stretch) bool {
	if h.Guest || len(h.GPUs) == 0 {
		return false
	}
	for _, l := range ch.Lanes {
		for _, g := range l.Held {
			if !g.Guest || g.To <= h.From || g.From >= h.To {
				continue
			}
			if slices.ContainsFunc(ch.stretches(g), func(o stretch) bool { return o.low < s.high && o.high > s.low }) {
				return true
			}
		}
	}
	return false
}

// Shares reports whether any job shares a GPU with another job.
func (ch *Chart) Shares() bool {
	return slices.ContainsFunc(ch.Lanes, func(l Lane) bool {
		return slices.ContainsFunc(l.Held, func(h analysis.Span) bool { return h.Guest })
	})
}
