package law

import (
	"math"
	"slices"
)

// Prediction is the predictions of several predictors for a measured speed.
type Prediction struct {
	Sample
	// Fitted is the law that was fitted to all samples, the sample included.
	Fitted float64
	// LeftOut says that the sample and all other large clusters of its group were left out of the
	// following predictions. Where it is false they are NaN, and also where too little is left.
	LeftOut bool
	// Queued and Apart are the two forms of the law; Unlimited is Apart without a limit of the parameter servers;
	// Linear is a straight line through the rest of the group, or proportion to its one sample.
	Queued, Apart, Unlimited, Linear float64
}

// Error returns the relative error of a prediction, without its sign; NaN without a prediction.
func (p Prediction) Error(predicted float64) float64 { return math.Abs(predicted/p.StepsPerSecond - 1) }

// LeaveOut predicts speeds from samples without the larger clusters of each group in turn: a group has one model, one
// type of device and one number of parameter servers, and its clusters with the least number of workers or more are
// left out. The other groups stay whole.
func LeaveOut(samples []Sample, least int) ([]Prediction, error) {
	whole, err := Fit(samples, Queued)
	if err != nil {
		return nil, err
	}
	out := make([]Prediction, len(samples))
	for i, s := range samples {
		nan := math.NaN()
		out[i] = Prediction{Sample: s, Fitted: whole.Predict(s), Queued: nan, Apart: nan, Unlimited: nan, Linear: nan}
	}
	for i, s := range samples {
		if s.Workers < least || out[i].LeftOut {
			continue
		}
		left := func(o Sample) bool { return o.alike(s) && o.Workers >= least }
		rest := slices.DeleteFunc(slices.Clone(samples), left)
		queued, err := Fit(rest, Queued)
		if err != nil {
			queued = Fitted{} // nothing is left, so nothing is predicted
		}
		apart, _ := Fit(rest, Apart)
		for k := range out {
			if p := &out[k]; left(p.Sample) {
				p.LeftOut = true
				p.Queued, p.Apart = queued.Predict(p.Sample), apart.Predict(p.Sample)
				p.Unlimited, p.Linear = unlimited(rest, p.Sample), linear(rest, p.Sample)
			}
		}
	}
	return out, nil
}

// alike reports whether two samples are of one group.
func (s Sample) alike(o Sample) bool {
	return s.Model == o.Model && s.Device == o.Device && s.Servers == o.Servers
}

// unlimited is the mean speed of a worker in the rest of the group, or of all clusters of the model and device if the
// group has no rest, times the workers.
func unlimited(rest []Sample, s Sample) float64 {
	for _, fits := range []func(Sample) bool{s.alike,
		func(o Sample) bool { return o.Model == s.Model && o.Device == s.Device }} {
		sum, n := 0.0, 0
		for _, o := range rest {
			if fits(o) {
				sum += o.StepsPerSecond / float64(o.Workers)
				n++
			}
		}
		if n > 0 {
			return sum / float64(n) * float64(s.Workers)
		}
	}
	return math.NaN()
}

// linear is the straight line of least squares through the rest of the group.
func linear(rest []Sample, s Sample) float64 {
	var n, x, y, xx, xy float64
	for _, o := range rest {
		if o.alike(s) {
			w := float64(o.Workers)
			n, x, y, xx, xy = n+1, x+w, y+o.StepsPerSecond, xx+w*w, xy+w*o.StepsPerSecond
		}
	}
	if d := n*xx - x*x; d > 0 {
		slope := (n*xy - x*y) / d
		return (y-slope*x)/n + slope*float64(s.Workers)
	}
	return y / x * float64(s.Workers) // NaN without any
}
