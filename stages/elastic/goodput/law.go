package goodput

import (
	"errors"
	"math"
)

// law is a program whose speed follows a formula. Its gradients are equally noisy in all epochs.
type law struct {
	params Params
	noise  Noise
	epoch  float64 // steps of an epoch with the first batch size
}

// mostEpochs is the greatest number of epochs of a program that follows a law.
const mostEpochs = 100_000

// ByLaw returns a program whose step times follow the parameters. samples is the number of samples in an epoch. The
// settings must have the epochs and all limits.
func ByLaw(name string, params Params, noise Noise, samples int, s MeasuredSettings) (*MeasuredProgram, error) {
	l := s.Limits
	switch {
	case l.First < 1 || l.Most < l.First || l.Least < 1 || l.Greatest < l.Least || l.Most < l.Least:
		return nil, misfit(l)
	case s.Epochs < 1 || s.Epochs > mostEpochs:
		return nil, errors.New("a program that is given by a law has from 1 to 100,000 epochs")
	case params.AlphaC+params.BetaC <= 0 || params.Gamma < 1 || noise.Square+noise.Variance <= 0 || samples < 1:
		return nil, errors.New("a law needs the time of a gradient, a noise, and samples")
	}
	return &MeasuredProgram{
		Name: name, Limits: l, Epochs: s.Epochs, found: map[[3]int]timing{},
		law: &law{params, noise, math.Ceil(float64(samples) / float64(l.First))},
	}, nil
}

// step implements MeasuredProgram.StepOn.
func (l *law) step(placement []int, local int, rate float64) (step, sync float64) {
	gpus := 0
	for _, n := range placement {
		gpus += n
	}
	params := l.params.On(rate)
	step = params.Step(len(placement), gpus, local)
	return step, max(step-params.Gradient(local), 0)
}

// iterations implements MeasuredProgram.Iterations: a step makes as much progress as the noise allows.
func (l *law) iterations(batch, first, epoch int) float64 {
	return l.epoch * float64(epoch+1) / l.noise.Gain(float64(batch)/float64(first))
}
