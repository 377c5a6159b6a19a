package plot

// stretch is where a chart shows things that a job holds beside each other, in
// rows from the bottom.
type stretch struct{ low, high float64 }

// under is how many rows lie under the cores: those of the GPUs, and a gap.
func (ch *chart) under() float64 {
	if ch.gpus == 0 {
		return 0
	}
	return float64(ch.gpus) + 0.6
}

// rows is the height of cores and GPUs together.
func (ch *chart) rows() float64 { return ch.under() + float64(ch.cores) }

// stretches returns where the cores and GPUs of a span lie.
func (ch *chart) stretches(h held) []stretch {
	out := make([]stretch, 0, len(h.cores)+len(h.gpus))
	for _, s := range h.cores {
		out = append(out, stretch{ch.under() + float64(s.Lo), ch.under() + float64(s.Hi)})
	}
	for _, s := range h.gpus {
		out = append(out, stretch{float64(s.Lo), float64(s.Hi)})
	}
	return out
}
