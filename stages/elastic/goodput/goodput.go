// Package goodput predicts the progress of data-parallel training by the number of GPUs and the batch size. Goodput is
// the throughput, multiplied by the statistical value of a sample at the batch size. It is the model of A. Qiao and
// others, "Pollux: Co-adaptive Cluster Scheduling for Goodput-Optimized Deep Learning" (OSDI 2021), sections 3.1 and
// 3.2.
package goodput

import "math"

// Params are the parameters of the time of a step, in seconds. A gradient over b samples on one GPU takes AlphaC +
// BetaC·b. Its average over GPUs takes AlphaR + BetaR·(GPUs−2) within a node, and AlphaN + BetaN·(GPUs−2) across nodes.
type Params struct {
	AlphaC, BetaC float64
	AlphaN, BetaN float64
	AlphaR, BetaR float64
	// Gamma says how much the two overlap, from 1 (not at all) to 10 (almost completely).
	Gamma float64
}

// On returns the parameters for GPUs that compute a gradient rate times as fast.
func (p Params) On(rate float64) Params {
	p.AlphaC, p.BetaC = p.AlphaC/rate, p.BetaC/rate
	return p
}

// Noise describes the gradient at the first batch size: the square of its norm, and its variance.
type Noise struct{ Square, Variance float64 }

// Config is a number of GPUs and the division of a batch among them.
type Config struct {
	Nodes, GPUs int
	// Local is the number of samples that a GPU processes at once. Accumulation is the number of additional times that
	// it does so before the gradients are averaged.
	Local, Accumulation int
}

// Batch returns the number of samples of a step.
func (c Config) Batch() int { return c.GPUs * c.Local * (c.Accumulation + 1) }

// Gradient returns the seconds in which a GPU computes the gradient over local samples.
func (p *Params) Gradient(local int) float64 { return p.AlphaC + p.BetaC*float64(local) }

// Network returns the seconds in which gradients are averaged over GPUs.
func (p *Params) Network(nodes, gpus int) float64 {
	beyond := float64(max(gpus-2, 0))
	switch {
	case nodes > 1:
		return p.AlphaN + p.BetaN*beyond
	case gpus > 1:
		return p.AlphaR + p.BetaR*beyond
	}
	return 0
}

// Step returns the seconds of a step without accumulation: (gradient^γ + network^γ)^(1/γ).
func (p *Params) Step(nodes, gpus, local int) float64 {
	return overlap(p.Gradient(local), p.Network(nodes, gpus), p.Gamma)
}

func overlap(gradient, network, gamma float64) float64 {
	if network <= 0 {
		return gradient
	}
	return math.Pow(math.Pow(gradient, gamma)+math.Pow(network, gamma), 1/gamma)
}

// Throughput returns the number of samples per second.
func (p *Params) Throughput(c Config) float64 {
	return float64(c.Batch()) / (p.Step(c.Nodes, c.GPUs, c.Local) + float64(c.Accumulation)*p.Gradient(c.Local))
}

// Gain returns the progress of a step with a batch scale times as large as the first, relative to a step with the first
// batch. It is from 1 (a larger batch is of no use) to scale.
func (n Noise) Gain(scale float64) float64 {
	below := n.Variance/scale + n.Square
	if below <= 0 {
		return 1
	}
	return (n.Variance + n.Square) / below
}

// Efficiency returns the value of a sample in a batch scale times as large as the first, relative to a sample in the
// first batch.
func (n Noise) Efficiency(scale float64) float64 { return n.Gain(scale) / scale }

// Model predicts the goodput of a job.
type Model struct {
	Params Params
	Noise  Noise
	// Limits bound the batch size.
	Limits Limits
}

// Limits are the bounds of a job's batch sizes, in samples. First is the batch size for which the job was tuned; it is
// the least. Most is the greatest batch size of a step. Least and Greatest bound the samples that a GPU processes at
// once.
type Limits struct {
	First, Most     int
	Least, Greatest int
}

// Goodput returns throughput × efficiency: the samples per second, weighted by their value relative to the first batch
// size.
func (m *Model) Goodput(c Config) float64 {
	return m.Params.Throughput(c) * m.Noise.Efficiency(float64(c.Batch())/float64(m.Limits.First))
}

// samples is the number of batch sizes that Best tries, in geometric steps.
const samples = 50

// edge is subtracted before rounding up, so that rounding errors do not give the next whole number.
const edge = 1e-8

// Best returns the batch with the greatest goodput on the given GPUs, and its goodput; 0 if no batch keeps the limits.
// On one GPU, a batch above the first is accumulated at least once, since the variance of gradients cannot be estimated
// from one gradient.
func (m *Model) Best(nodes, gpus int) (best Config, goodput float64) {
	l := &m.Limits
	least := float64(max(l.First, l.Least*gpus))
	if least > float64(l.Most) {
		return best, 0
	}
	ratio := math.Log(float64(l.Most)/least) / (samples - 1)
	network := m.Params.Network(nodes, gpus)
	apart := 0.0
	if network > 0 {
		apart = math.Pow(network, m.Params.Gamma)
	}
	last := Config{}
	for i := range samples {
		size := least * math.Exp(ratio*float64(i))
		c := Split(size, nodes, gpus, l)
		if c.Local < l.Least || c.Local > l.Greatest || c == last {
			continue
		}
		last = c
		gradient := m.Params.Gradient(c.Local)
		step := gradient
		if network > 0 {
			step = math.Pow(math.Pow(gradient, m.Params.Gamma)+apart, 1/m.Params.Gamma)
		}
		batch := float64(c.Batch())
		rate := batch / (step + float64(c.Accumulation)*gradient) *
			m.Noise.Efficiency(batch/float64(l.First))
		if rate > goodput {
			best, goodput = c, rate
		}
	}
	return best, goodput
}

// Split divides a batch over GPUs. It accumulates only as often as the limits require.
func Split(batch float64, nodes, gpus int, l *Limits) Config {
	local := batch / float64(gpus)
	more := int(math.Ceil(local/float64(l.Greatest)-edge)) - 1
	if gpus == 1 && local > float64(l.First)+edge {
		more = max(more, 1)
	}
	return Config{
		Nodes: nodes, GPUs: gpus, Accumulation: more, Local: int(math.Ceil(local/float64(more+1) - edge)),
	}
}
