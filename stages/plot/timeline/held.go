package timeline

import "github.com/tfexp/tfexp/results/schedule"

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

// stretches returns where the cores and GPUs of a span lie.
func (ch *Chart) stretches(h schedule.Span) []stretch {
	out := make([]stretch, 0, len(h.Cores)+len(h.GPUs))
	for _, s := range h.Cores {
		out = append(out, stretch{ch.under() + float64(s.Lo), ch.under() + float64(s.Hi)})
	}
	for _, s := range h.GPUs {
		out = append(out, stretch{float64(s.Lo) * ch.gpuRows, float64(s.Hi) * ch.gpuRows})
	}
	return out
}
