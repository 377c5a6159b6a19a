package marks

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// grid is the grid over which the posterior of paces is summed. It has common and
// own paces at equal steps of their logarithm and, for a clock that ticks, lags of
// the first mark in equal steps of a tick. Without ticks there is one lag, which
// is 0.
type grid struct {
	tick     float64
	relative float64 // as clockless says it; 0 where there is a tick
	width    float64 // of a step between paces
	at       []float64
	lags     []float64
	kernels  []kernel
}

const (
	finestPace = 0.01
	mostPaces  = 400
	mostLags   = 12
	// A run's pace has Student's t distribution about the common one, with this many degrees
	// of freedom.
	freedom = 3
	// How uneven the work is within a run: the relative standard deviation of its
	// pace from one mark to the next.
	uneven = 0.01
	// Weight of a mark that fits no even pace: servers are lost, programs stand
	// still.
	odd = 0.01
	// mostMarks bounds the number of marks of a run that are used.
	mostMarks = 20
)

// The spread of the runs' paces is one of these, each as likely beforehand.
var spreads = []float64{0.005, 0.01, 0.02, 0.05, 0.1, 0.2}

func newGrid(runs [][]Mark, tick float64) *grid {
	g := &grid{tick: tick, lags: []float64{0}, kernels: []kernel{{[]float64{1}, 1}}}
	if tick == 0 {
		g.relative = clockless(runs)
	}
	lo, hi := math.Inf(1), 0.0
	for _, marks := range runs {
		if !moves(marks) {
			continue
		}
		length, seconds := span(marks)
		n := g.noise(marks)
		lo, hi = math.Min(lo, math.Max(seconds-n, seconds/4)/length), math.Max(hi, (seconds+n)/length)
	}
	g.width = math.Max(finestPace, math.Log(hi/lo)/mostPaces)
	g.at = make([]float64, int(math.Log(hi/lo)/g.width)+1)
	for i := range g.at {
		g.at[i] = lo * math.Exp(float64(i)*g.width)
	}
	if tick > 0 {
		g.lags, g.kernels = lagsOf(tick)
	}
	return g
}

// kernel is a belief about the first lags of runs: how likely each is, and how likely
// the belief itself is beforehand.
type kernel struct {
	lags  []float64
	prior float64
}

// lagsOf returns the lags within a tick, and the hypotheses: the lags of the runs
// are independent, or they are all close to a common one. The prior of
// independence is 0.1.
func lagsOf(tick float64) (lags []float64, kernels []kernel) {
	free := kernel{make([]float64, mostLags), 0.1}
	for i := range mostLags {
		lags = append(lags, tick*(float64(i)+0.5)/mostLags)
		free.lags[i] = 1.0 / mostLags
	}
	kernels = append(kernels, free)
	for _, center := range lags {
		about := kernel{make([]float64, mostLags), 0.9 / mostLags}
		for i, lag := range lags {
			d := math.Abs(lag-center) / tick
			about.lags[i] = math.Exp(-square(math.Min(d, 1-d)/lagSpread) / 2)
		}
		floats.Scale(0.8/floats.Sum(about.lags), about.lags)
		floats.AddConst(0.2/mostLags, about.lags)
		kernels = append(kernels, about)
	}
	return lags, kernels
}

// lagSpread is the standard deviation of first lags that have something in common, in ticks.
const lagSpread = 0.07

// noise is how far off the seconds between a run's first and last mark may be.
func (g *grid) noise(marks []Mark) float64 {
	_, seconds := span(marks)
	if g.tick > 0 {
		return math.Min(g.tick, seconds)
	}
	return g.relative * seconds / math.Sqrt(float64(len(marks)-1))
}

// likely is how likely a run's marks are, by first lag and pace.
func (g *grid) likely(marks []Mark) [][]float64 {
	table := make([][]float64, len(g.lags))
	for u := range table {
		table[u] = make([]float64, len(g.at))
	}
	if !moves(marks) { // it has no information
		for _, row := range table {
			floats.AddConst(1, row)
		}
		return table
	}
	length, seconds := span(marks)
	if g.tick == 0 {
		// An error narrower than the grid would fall between its points.
		n := math.Max(g.noise(marks), 2*g.width*seconds)
		for c, pace := range g.at {
			table[0][c] = math.Max(0, 1-math.Abs(seconds-length*pace)/n)
		}
		return table
	}
	every := max(1, (len(marks)-1+mostMarks-1)/mostMarks)
	apart := seconds / float64(len(marks)-1)
	for u, lag := range g.lags {
		for c, pace := range g.at {
			p := 1.0
			for i := len(marks) - 1; i > 0; i -= every {
				at := marks[i].At - marks[0].At
				off := math.Max(uneven*math.Sqrt(at*apart), g.width*at/2)
				p *= odd + (1-odd)*within(at+lag-pace*float64(marks[i].Done-marks[0].Done), g.tick, off)
			}
			table[u][c] = p
		}
	}
	return table
}

// within is how likely a lag is one from 0 to a tick, give or take off.
func within(lag, tick, off float64) float64 {
	edge := func(x float64) float64 { return math.Min(1, math.Max(0, 0.5+x/(2*math.Sqrt(3)*off))) }
	return edge(lag) * edge(tick-lag)
}

// posterior is how likely each first lag and pace is of the first run, up to a
// factor.
func (g *grid) posterior(likely [][][]float64) [][]float64 {
	k := len(g.at)
	density := make([][]float64, len(spreads)) // by distance on the grid
	for s, spread := range spreads {
		density[s] = make([]float64, k)
		for d := range k {
			z := float64(d) * g.width / spread
			density[s][d] = math.Pow(1+z*z/freedom, -(freedom+1)/2) / spread
		}
	}
	// By kernel, spread and common pace: the log-likelihood of all runs, and the
	// likelihood of the first.
	logs, first := g.table(), g.table()
	for i, run := range likely {
		for s := range spreads {
			given := make([][]float64, len(g.lags))
			for u, row := range run {
				given[u] = convolve(row, density[s])
			}
			for h, kernel := range g.kernels {
				for common := range k {
					m := 0.0
					for u, w := range kernel.lags {
						m += w * given[u][common]
					}
					if i == 0 {
						first[h][s][common] = m
					}
					logs[h][s][common] += math.Log(m)
				}
			}
		}
	}
	best := math.Inf(-1)
	for _, byKernel := range logs {
		for _, bySpread := range byKernel {
			for _, l := range bySpread {
				best = math.Max(best, l)
			}
		}
	}
	own := make([][]float64, len(g.lags))
	for u := range own {
		own[u] = make([]float64, k)
	}
	for s := range spreads {
		for u := range own {
			weights := make([]float64, k) // of each common pace
			for h, kernel := range g.kernels {
				for common := range k {
					if f := first[h][s][common]; f > 0 {
						weights[common] += kernel.prior * kernel.lags[u] * math.Exp(logs[h][s][common]-best) / f
					}
				}
			}
			for c, d := range convolve(weights, density[s]) {
				own[u][c] += likely[0][u][c] * d
			}
		}
	}
	return own
}

// table is a number for each kernel, spread and pace.
func (g *grid) table() [][][]float64 {
	t := make([][][]float64, len(g.kernels))
	for h := range t {
		t[h] = make([][]float64, len(spreads))
		for s := range t[h] {
			t[h][s] = make([]float64, len(g.at))
		}
	}
	return t
}

// convolve sums weights over all places, each with the density of its distance.
func convolve(weights, density []float64) []float64 {
	sum := make([]float64, len(weights))
	for i, w := range weights {
		if w == 0 {
			continue
		}
		for j := range sum {
			sum[j] += w * density[max(i-j, j-i)]
		}
	}
	return sum
}

// center is the median and the standard deviation of the pace, and the mean lag.
func (g *grid) center(weights [][]float64) (median, sd, lag float64) {
	byPace := make([]float64, len(g.at))
	var sum, mean, sq, below float64
	for u, row := range weights {
		for c, w := range row {
			byPace[c] += w
			sum += w
			lag += w * g.lags[u]
			mean += w * g.at[c]
			sq += w * square(g.at[c])
		}
	}
	mean, lag = mean/sum, lag/sum
	for c, w := range byPace {
		if below+w >= sum/2 { // within the cell, in proportion
			median = g.at[c] * math.Exp(g.width*((sum/2-below)/w-0.5))
			break
		}
		below += w
	}
	return median, math.Sqrt(math.Max(0, sq/sum-square(mean))), lag
}
