package plot

import (
	"slices"

	"github.com/tfexp/tfexp/results/analysis"
)

// stretch is where a chart shows things that a job holds beside each other, in
// rows from the bottom.
type stretch struct{ low, high float64 }

// under is how many rows lie under the cores: those of the GPUs, and a gap.
func (ch *Chart) under() float64 {
	if ch.GPUs == 0 {
		return 0
	}
	return float64(ch.GPUs)*ch.gpuRows + 0.6
}

// rows is the height of cores and GPUs together.
func (ch *Chart) rows() float64 { return ch.under() + float64(ch.Cores) }

// stretches returns where the cores and GPUs of a span lie. A guest has the upper
// half of the GPUs that it shares: it is drawn over the job that was there before.
func (ch *Chart) stretches(h analysis.Span) []stretch {
	out := make([]stretch, 0, len(h.Cores)+len(h.GPUs))
	for _, s := range h.Cores {
		out = append(out, stretch{ch.under() + float64(s.Lo), ch.under() + float64(s.Hi)})
	}
	for _, s := range h.GPUs {
		if !h.Guest {
			out = append(out, stretch{float64(s.Lo) * ch.gpuRows, float64(s.Hi) * ch.gpuRows})
			continue
		}
		for g := s.Lo; g < s.Hi; g++ {
			out = append(out, stretch{(float64(g) + 0.5) * ch.gpuRows, float64(g+1) * ch.gpuRows})
		}
	}
	return out
}

// covered reports whether guests lie over a part of a stretch that a job holds by itself.
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

// Shares reports whether a job has a GPU of another job's beside it.
func (ch *Chart) Shares() bool {
	return slices.ContainsFunc(ch.Lanes, func(l Lane) bool {
		return slices.ContainsFunc(l.Held, func(h analysis.Span) bool { return h.Guest })
	})
}
