package estimator

import "math"

// Moment is the speed of the machine at a moment: a fixed piece of work took Seconds on each of the cores, which all
// did one at the same time. It is measured on machines that share their cores with unseen others.
type Moment struct {
	Cores   int
	Seconds float64
}

// follows is how far the times of jobs follow those of the probe, as logarithms: the probe computes in the caches of a
// core, and jobs also wait for memory. On the corpus of run times, samples that are brought to one speed predict whole runs
// at other times with an error that is less by a tenth without load, and by 7% beside one busy core.
const follows = 0.3

// mostDrift is the logarithm of the greatest correction of times. Beyond a factor of two the cause is not the
// machine's speed: other programs kept the probe from running.
const mostDrift = math.Ln2

// slower is the factor on a job's time where the probe takes so long, relative to moments where it takes than.
func slower(probe, than float64) float64 {
	if probe <= 0 || than <= 0 {
		return 1
	}
	return math.Exp(follows * math.Max(-mostDrift/follows, math.Min(mostDrift/follows, math.Log(probe/than))))
}

// Moments returns the moments of samples whose machine speed was probed.
func Moments(samples []Sample) []Moment {
	var all []Moment
	for _, s := range samples {
		if s.Probe > 0 {
			all = append(all, Moment{s.ProbeCores, s.Probe})
		}
	}
	return all
}

// Typical is the geometric mean of the probe's times on a number of cores; 0 without any.
func Typical(moments []Moment, cores int) float64 {
	sum, n := 0.0, 0.0
	for _, m := range moments {
		if m.Cores == cores && m.Seconds > 0 {
			sum, n = sum+math.Log(m.Seconds), n+1
		}
	}
	if n == 0 {
		return 0
	}
	return math.Exp(sum / n)
}

// AtOneSpeed returns samples with their times as at the typical speed of the machine at these moments. Those without a
// probe stay as they are.
func AtOneSpeed(samples []Sample, moments []Moment) []Sample {
	out := make([]Sample, len(samples))
	for i, s := range samples {
		f := slower(s.Probe, Typical(moments, s.ProbeCores))
		out[i] = s
		out[i].Wall, out[i].Startup, out[i].Save, out[i].Units = s.Wall/f, s.Startup/f, s.Save/f, nil
		for _, u := range s.Units {
			out[i].Units = append(out[i].Units, u/f)
		}
	}
	return out
}
