package goodput

import (
	"errors"
	"math"
)

// law is a program whose speed follows a formula, and whose gradients are as noisy at its
// end as at its beginning.
type law struct {
	params Params
	noise  Noise
	epoch  float64 // steps of the first batch size in an epoch
}

// mostEpochs bounds the epochs of a program without recorded trainings.
const mostEpochs = 100_000

// ByLaw returns a program whose step times follow the parameters, and whose epochs have
// the given number of samples. The settings must have the epochs and all limits.
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

// step is Program.Step.
func (l *law) step(placement []int, local int, rate float64) (step, sync float64) {
	gpus := 0
	for _, n := range placement {
		gpus += n
	}
	params := l.params.On(rate)
	step = params.Step(len(placement), gpus, local)
	return step, max(step-params.Gradient(local), 0)
}

// iterations is Program.Iterations: each step makes as much progress as the noise allows.
func (l *law) iterations(batch, first, epoch int) float64 {
	return l.epoch * float64(epoch+1) / l.noise.Gain(float64(batch)/float64(first))
}
