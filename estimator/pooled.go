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
		tick = findTick(runs)
	}
	pace, sd := pool(runs, tick)
	// Runs that one program launches are first looked at after about the same
	// time: that part of the error is shared, and no number of runs averages it out.
	length, _ := span(own)
	sd = math.Hypot(sd, tick/math.Sqrt(12)/length)
	return Estimate{
		Model: "pooled", Slope: pace, SlopeSE: sd, PaceSD: runDrift, DF: clockDF, Samples: len(runs), Resource: asked,
	}, nil
}

// runDrift is how much the pace of the rest of a training run differs from that
// of its beginning, relative to it.
const runDrift = 0.02

// clockDF are the degrees of freedom of an error whose spread is known.
const clockDF = 30

// upTo is the marks of the first units, and of one that is a little later: marks
// of one length of work are a few units apart from run to run.
func upTo(marks []Mark, done int) []Mark {
	n := 0
	for n < len(marks) && float64(marks[n].Done) <= float64(done)*1.02 {
		n++
	}
	return marks[:n]
}

// pool returns the pace of the first run and its standard error.
func pool(runs [][]Mark, tick float64) (pace, sd float64) {
	const (
		step    = 0.004 // of the grid of log paces
		widest  = 600
		freedom = 3
	)
	spreads := []float64{0.005, 0.01, 0.02, 0.05, 0.1, 0.2}

	type seen struct{ length, seconds, noise float64 }
	var obs []seen
	relative := clockless(runs)
	lo, hi := math.Inf(1), 0.0
	for _, marks := range runs {
		l, t := span(marks)
		o := seen{l, t, tick}
		if tick == 0 {
			o.noise = relative * t / math.Sqrt(float64(len(marks)-1))
		}
		obs = append(obs, o)
		lo, hi = math.Min(lo, math.Max(t-o.noise, t/4)/l), math.Max(hi, (t+o.noise)/l)
	}
	width := math.Max(step, math.Log(hi/lo)/widest)
	k := int(math.Log(hi/lo)/width) + 1
	at := make([]float64, k)
	for i := range at {
		at[i] = lo * math.Exp(float64(i)*width)
	}
	// likely[i][c] is how likely run i's marks are at pace c.
	likely := make([][]float64, len(obs))
	for i, o := range obs {
		likely[i] = make([]float64, k)
		for c := range at {
			likely[i][c] = math.Max(0, 1-math.Abs(o.seconds-o.length*at[c])/o.noise)
		}
	}
	own := make([]float64, k)
	var logs [][]float64
	best := math.Inf(-1)
	dens := make([][]float64, len(spreads))
	marg := make([][]float64, len(spreads))
	for s, tau := range spreads {
		dens[s] = make([]float64, k)
		for d := range dens[s] {
			z := float64(d) * width / tau
			dens[s][d] = math.Pow(1+z*z/freedom, -(freedom+1)/2) / tau
		}
		logs = append(logs, make([]float64, k))
		marg[s] = make([]float64, k)
		for mu := range at {
			var sum float64
			for i := range obs {
				var m float64
				for c, l := range likely[i] {
					if l > 0 {
						m += l * dens[s][abs(c-mu)]
					}
				}
				if i == 0 {
					marg[s][mu] = m
				}
				sum += math.Log(m)
			}
			logs[s][mu] = sum
			best = math.Max(best, logs[s][mu])
		}
	}
	for s := range spreads {
		for mu := range at {
			w := math.Exp(logs[s][mu]-best) / marg[s][mu]
			if w == 0 {
				continue
			}
			for c, l := range likely[0] {
				if l > 0 {
					own[c] += w * l * dens[s][abs(c-mu)]
				}
			}
		}
	}
	var sum, mean, sq float64
	for c, w := range own {
		sum += w
		mean += w * at[c]
		sq += w * at[c] * at[c]
	}
	mean /= sum
	half := 0.0
	for c, w := range own {
		if half += w; half >= sum/2 {
			pace = at[c]
			break
		}
	}
	return pace, math.Sqrt(math.Max(0, sq/sum-mean*mean))
}

func abs(i int) int { return max(i, -i) }
