package estimator

import (
	"fmt"
	"math"
)

// Pooled tells the pace of a run from its own marks and from those of like
// runs, none of which has to be finished: partial pooling.
//
// The clock of the marks may be coarse. A mark that a watcher makes once in a
// tick was true at some time within the tick before, so the time between two
// marks is the work's, give or take a tick: a triangular error. For a run that is
// short of a few ticks this is all of the error, and only other runs can tell
// more; what the clock does not explain is the run's own.
//
// The logarithms of the runs' paces are Student's t about a common one, with 3
// degrees of freedom, since some runs are far slower than the rest. The posterior
// of the run's own pace is summed over a grid of common paces and spreads. The
// estimate is its median.
type Pooled struct{}

// Name is "pooled".
func (Pooled) Name() string { return "pooled" }

// Fit needs marks of the job on the resource; without like runs it differs from
// linear by its interval alone.
func (Pooled) Fit(p Problem) (Estimate, error) {
	samples, asked := p.on()
	own := longestMarks(samples)
	if length, seconds := span(own); length <= 0 || seconds <= 0 {
		return Estimate{}, fmt.Errorf("fit pooled: a pace needs two marks, one later and further than the other: %w", ErrUnfit)
	}
	runs := [][]Mark{own}
	far := own[len(own)-1].Done
	for _, r := range p.History {
		// Of runs that got further, as much as of this one.
		marks := upTo(r.Marks, far)
		if l, t := span(marks); r.Job == p.Job && r.Resource.Is(asked) && l > 0 && t > 0 {
			runs = append(runs, marks)
		}
	}
	tick := p.Tick
	if tick == 0 {
		tick = FindTick(runs)
	}
	pace, sd := pool(runs, tick)
	// Runs that one program launches are first looked at after about the same
	// time: that part of the error, uniform over a tick, is shared by all, and no
	// number of runs averages it out. The normal that holds as much of it at 90%:
	const uniform = 0.9 / 2 / 1.645
	length, _ := span(own)
	sd = math.Hypot(sd, tick*uniform/length*math.Sqrt(1-1/float64(len(runs))))
	e := Estimate{
		Model: "pooled", Slope: pace, SlopeSE: sd, PaceSD: runDrift, DF: clockDF, Samples: len(runs), Resource: asked,
	}
	if tick == 0 && len(own) < 3 {
		e.Warnings = append(e.Warnings, fewMarks)
	}
	return e, nil
}

// runDrift is how much the pace of the rest of a training run differs from that
// of its beginning, relative to it: a standard deviation, measured on complete runs
// of distributed training, those that lost servers on the way left out.
const runDrift = 0.015

// clockDF are the degrees of freedom of an error whose spread is known.
const clockDF = 200

// upTo is the marks of the first units, and of one that is a little later: marks
// of one length of work are a few units apart from run to run.
func upTo(marks []Mark, done int) []Mark {
	n := 0
	for n < len(marks) && float64(marks[n].Done) <= float64(done)*1.02 {
		n++
	}
	return marks[:n]
}

// The grid of log paces that a posterior is summed over, and the population of
// paces: Student's t with so many degrees of freedom and one of these spreads, each
// as likely beforehand.
const (
	finestPace = 0.004
	mostPaces  = 600
	freedom    = 3
)

var spreads = []float64{0.005, 0.01, 0.02, 0.05, 0.1, 0.2}

// pool returns the pace of the first run and its standard error.
func pool(runs [][]Mark, tick float64) (pace, sd float64) {
	relative := clockless(runs)
	noise := func(marks []Mark) float64 {
		_, seconds := span(marks)
		if tick > 0 {
			return math.Min(tick, seconds)
		}
		return relative * seconds / math.Sqrt(float64(len(marks)-1))
	}
	if len(runs) == 1 {
		length, seconds := span(runs[0])
		return seconds / length, noise(runs[0]) / math.Sqrt(6) / length
	}

	lo, hi := math.Inf(1), 0.0
	for _, marks := range runs {
		length, seconds := span(marks)
		n := noise(marks)
		lo, hi = math.Min(lo, math.Max(seconds-n, seconds/4)/length), math.Max(hi, (seconds+n)/length)
	}
	width := math.Max(finestPace, math.Log(hi/lo)/mostPaces)
	at := make([]float64, int(math.Log(hi/lo)/width)+1)
	for i := range at {
		at[i] = lo * math.Exp(float64(i)*width)
	}
	// likely[i][c] is how likely run i's marks are at pace c. An error narrower than
	// the grid would fall between its points.
	likely := make([][]float64, len(runs))
	for i, marks := range runs {
		length, seconds := span(marks)
		n := math.Max(noise(marks), 2*width*seconds)
		likely[i] = make([]float64, len(at))
		for c := range at {
			likely[i][c] = math.Max(0, 1-math.Abs(seconds-length*at[c])/n)
		}
	}
	return center(posterior(likely, width), at, width)
}

// posterior is how likely each pace is of the first run, up to a factor.
func posterior(likely [][]float64, width float64) []float64 {
	k := len(likely[0])
	// For each spread and common pace: the log-likelihood of all runs, and the
	// likelihood of the first.
	logs, first, density := make([][]float64, len(spreads)), make([][]float64, len(spreads)), make([][]float64, len(spreads))
	best := math.Inf(-1)
	for s, spread := range spreads {
		logs[s], first[s], density[s] = make([]float64, k), make([]float64, k), make([]float64, k)
		for d := range k {
			z := float64(d) * width / spread
			density[s][d] = math.Pow(1+z*z/freedom, -(freedom+1)/2) / spread
		}
		for common := range k {
			for i := range likely {
				m := 0.0
				for c, l := range likely[i] {
					if l > 0 {
						m += l * density[s][abs(c-common)]
					}
				}
				if i == 0 {
					first[s][common] = m
				}
				logs[s][common] += math.Log(m)
			}
			best = math.Max(best, logs[s][common])
		}
	}
	own := make([]float64, k)
	for s := range spreads {
		for common := range k {
			w := math.Exp(logs[s][common]-best) / first[s][common]
			if w == 0 {
				continue
			}
			for c, l := range likely[0] {
				if l > 0 {
					own[c] += w * l * density[s][abs(c-common)]
				}
			}
		}
	}
	return own
}

// center returns the median and the standard deviation of a distribution over paces.
func center(weights, at []float64, width float64) (median, sd float64) {
	var sum, mean, sq, below float64
	for c, w := range weights {
		sum += w
		mean += w * at[c]
		sq += w * at[c] * at[c]
	}
	mean /= sum
	for c, w := range weights {
		if below+w >= sum/2 { // within the cell, in proportion
			median = at[c] * math.Exp(width*((sum/2-below)/w-0.5))
			break
		}
		below += w
	}
	return median, math.Sqrt(math.Max(0, sq/sum-mean*mean))
}

func abs(i int) int { return max(i, -i) }
