package law

import (
	"math"
	"slices"
)

// Prediction has a measured speed and several predictions of it, in steps per second.
type Prediction struct {
	Sample
	// Fitted is by the law fitted to all samples, including this one.
	Fitted float64
	// LeftOut reports whether this sample and all other large clusters of its group were left out for the predictions
	// below. If false, or if too few samples remain, the predictions are NaN.
	LeftOut bool
	// Queued and Apart are by the two forms of the law. Unlimited is by Apart without a limit of parameter servers.
	// Linear is by a straight line through the rest of the group; if the rest is one sample, the line goes through the
	// origin.
	Queued, Apart, Unlimited, Linear float64
}

// Error returns the absolute relative error of a prediction; NaN if the prediction is NaN.
func (p Prediction) Error(predicted float64) float64 { return math.Abs(predicted/p.StepsPerSecond - 1) }

// LeaveOut predicts the speed of large clusters from smaller ones. A group has the samples of one model, device type
// and number of parameter servers. For each group in turn, the fit leaves out the clusters whose number of workers is
// least or more; the other groups stay complete.
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
			queued = Fitted{} // no samples are left, so nothing is predicted
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

// alike reports whether two samples belong to one group.
func (s Sample) alike(o Sample) bool {
	return s.Model == o.Model && s.Device == o.Device && s.Servers == o.Servers
}

// unlimited predicts a speed proportional to the number of workers. It uses the mean speed of a worker in the rest of
// the group; if the rest is empty, in all clusters of the model and device.
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

// linear predicts by a straight line of least squares through the rest of the group.
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
	return y / x * float64(s.Workers) // NaN if the rest is empty
}
