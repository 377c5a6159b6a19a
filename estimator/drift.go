package estimator

import "math"

// Moment is the speed of the machine at a moment: a fixed piece of work took Seconds on each of the cores, which all
// did one at the same time, with a standard error. It is measured on machines that share their cores with unseen
// others.
type Moment struct {
	Cores          int
	Seconds, Error float64
	// Exchange is how long a cache line took from core to core and back; 0 on one core.
	Exchange float64
}

// momentLasts is the approximate time in seconds for which a machine keeps a speed: longer runs average over several
// moments.
const momentLasts = 3.0

// Drift is how the speed of a machine on some number of cores differs from moment to moment.
type Drift struct {
	Moments int
	// Typical is the logarithm of the seconds of the piece of work, on average; SD the standard deviation of these
	// logarithms without the errors of the probe.
	Typical, SD float64
	// weight is the part of a difference between two moments that is not an error of the probe.
	weight float64
}

// DriftOn returns the drift among the moments with the given number of cores.
func DriftOn(moments []Moment, cores int) Drift {
	var logs []float64
	errors := 0.0
	for _, m := range moments {
		if m.Cores == cores && m.Seconds > 0 {
			logs = append(logs, math.Log(m.Seconds))
			errors += square(m.Error / m.Seconds)
		}
	}
	d := Drift{Moments: len(logs)}
	if d.Moments == 0 {
		return d
	}
	n := float64(d.Moments)
	d.Typical, _ = meanSD(logs)
	if d.Moments > 1 {
		own := errors / n
		between := math.Max(0, squares(logs)/(n-1)-own)
		d.SD = math.Sqrt(between)
		if between > 0 {
			d.weight = between / (between + own)
		}
	}
	return d
}

// mostDrift is the logarithm of the greatest correction of times. Beyond a factor of two the cause is not the
// machine's speed: other programs kept the probe from running.
const mostDrift = math.Ln2

// follows is how much of a change of the probe's time, as logarithms, the times of jobs follow: the probe computes
// in the caches of a core, and jobs also wait for memory. On a virtual machine with two cores, programs that train
// on one and on two followed by 0.25 to 0.55 of it where they did at all, with a correlation of about 0.5.
const follows = 0.3

// Slower returns the factor on a time of the given seconds at a moment, relative to the typical speed. It is shrunk
// by the error of the probe, and for times longer than a moment.
func (d Drift) Slower(at Moment, seconds float64) float64 {
	return d.SlowerThan(math.Exp(d.Typical), at, seconds)
}

// SlowerThan is Slower, compared with moments at which the probe's piece of work took so long.
func (d Drift) SlowerThan(probe float64, at Moment, seconds float64) float64 {
	if at.Seconds <= 0 || probe <= 0 || d.weight == 0 {
		return 1
	}
	log := follows * d.weight * math.Log(at.Seconds/probe) * math.Min(1, momentLasts/math.Max(seconds, momentLasts))
	return math.Exp(math.Max(-mostDrift, math.Min(mostDrift, log)))
}

// moment is when the sample was taken.
func (s Sample) moment() Moment { return Moment{s.ProbeCores, s.Probe, s.ProbeError, s.Exchange} }

// Moments returns the moments of samples whose machine speed was probed.
func Moments(samples []Sample) []Moment {
	var all []Moment
	for _, s := range samples {
		if s.Probe > 0 {
			all = append(all, s.moment())
		}
	}
	return all
}

// AtOneSpeed returns samples with their times as they had been without other programs, at the typical speed of the
// machine while these samples were taken. Those without a probe stay as they are.
func AtOneSpeed(samples []Sample) []Sample {
	moments := Moments(samples)
	out := make([]Sample, len(samples))
	for i, s := range samples {
		out[i] = s
		f := DriftOn(moments, s.ProbeCores).Slower(s.moment(), s.Wall)
		if typical := exchangeOn(samples, s.ProbeCores); typical > 0 && s.Exchange > 0 {
			f *= math.Pow(s.Exchange/typical, sharedOn(samples, s.ProbeCores))
		}
		f *= s.besidePrograms()
		if f == 1 {
			continue
		}
		out[i].Wall, out[i].Startup, out[i].Save = s.Wall/f, s.Startup/f, s.Save/f
		out[i].Units = nil
		for _, u := range s.Units {
			out[i].Units = append(out[i].Units, u/f)
		}
	}
	return out
}

// loadError is how much CPU time in seconds is lost or counted twice at the ends of a measurement, since the machine
// counts in ticks of 10 ms.
const loadError = 0.02

// besidePrograms is the factor on the times of a sample because other programs used the machine.
func (s Sample) besidePrograms() float64 {
	idle := AnyMachine()
	busy := idle
	busy.Taken = math.Max(0, s.Busy-loadError/s.Wall)
	slowed := func(c Contention) float64 {
		return c.Slowdown(float64(s.Threads), float64(s.Others), float64(s.Machine))
	}
	return slowed(busy) / slowed(idle)
}

// exchangeOn is the geometric mean of the exchanges of samples on some number of cores; 0 for none.
func exchangeOn(samples []Sample, cores int) float64 {
	sum, n := 0.0, 0.0
	for _, s := range samples {
		if s.ProbeCores == cores && s.Exchange > 0 {
			sum, n = sum+math.Log(s.Exchange), n+1
		}
	}
	if n == 0 {
		return 0
	}
	return math.Exp(sum / n)
}

// How far the time of a job with several threads follows the time of an exchange, as logarithms, where its samples do not
// show it; its standard deviation among jobs; and the standard deviation of a sample's time for other reasons. On a
// virtual machine with two cores a perceptron followed by 0.22, a convolutional network by 0.10.
const (
	usuallyShared = 0.15
	sharedSD      = 0.1
	sampleSD      = 0.06
)

// sharedOn returns how far the times of samples on some number of cores follow their exchanges: their regression within
// each resource, shrunk toward the usual value.
func sharedOn(samples []Sample, cores int) float64 {
	var resources []Resource
	x, y := map[Resource][]float64{}, map[Resource][]float64{}
	for _, s := range samples {
		if s.ProbeCores == cores && s.Exchange > 0 && len(s.Units) > 0 {
			unit, _ := meanSD(s.Units)
			r := s.Resource()
			if x[r] == nil {
				resources = append(resources, r)
			}
			x[r], y[r] = append(x[r], math.Log(s.Exchange)), append(y[r], math.Log(unit))
		}
	}
	precision := 1 / square(sharedSD)
	weighted := usuallyShared * precision
	for _, r := range resources {
		meanX, _ := meanSD(x[r])
		meanY, _ := meanSD(y[r])
		for i := range x[r] {
			precision += square((x[r][i] - meanX) / sampleSD)
			weighted += (x[r][i] - meanX) * (y[r][i] - meanY) / square(sampleSD)
		}
	}
	return math.Max(0, weighted/precision)
}

// Exchanging returns the factor on the job's time at a moment, relative to its samples, by the exchanges of both.
func (e Estimate) Exchanging(at Moment) float64 {
	if e.Exchange <= 0 || at.Exchange <= 0 {
		return 1
	}
	log := e.Shared * math.Log(at.Exchange/e.Exchange)
	return math.Exp(math.Max(-mostDrift, math.Min(mostDrift, log)))
}

// leastMoments is the least number of moments for an estimate of the spread of speeds.
const leastMoments = 3

// Among returns the estimate with an interval that knows the speeds of the machine at these moments. The samples were
// taken at some of them, so the speeds of these moments bound the samples' error.
func (e Estimate) Among(moments []Moment, samples []Sample) Estimate {
	cores := e.Resource.Threads
	if d := DriftOn(moments, cores); d.Moments >= leastMoments {
		e.MomentSD, e.MomentDF = d.SD, float64(d.Moments-1)
	}
	for _, s := range samples {
		if s.ProbeCores == cores && s.Probe > 0 {
			e.SampledMoments++
			e.Probe += math.Log(s.Probe)
		}
	}
	if e.SampledMoments > 0 {
		e.Probe = math.Exp(e.Probe / float64(e.SampledMoments))
	}
	if e.Exchange = exchangeOn(samples, cores); e.Exchange > 0 {
		e.Shared = sharedOn(samples, cores)
		var logs []float64
		for _, m := range moments {
			if m.Cores == cores && m.Exchange > 0 {
				logs = append(logs, math.Log(m.Exchange))
			}
		}
		if len(logs) >= leastMoments {
			_, sd := meanSD(logs)
			e.MomentSD, e.MomentDF = math.Hypot(e.MomentSD, e.Shared*sd), float64(len(logs)-1)
		}
	}
	return e
}

// momentary returns the relative variance that moments add to a run of the given seconds: from the run's moments,
// and from the samples' moments.
func (e Estimate) momentary(seconds float64) float64 {
	return square(e.MomentSD) * (math.Min(1, momentLasts/math.Max(seconds, momentLasts)) +
		1/float64(max(e.SampledMoments, 1)))
}
