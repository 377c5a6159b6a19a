package marks

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// grid is the grid over which the posterior is summed. It has the runs' common time per unit and the run's own, in
// equal steps of their logarithm. For a clock with a tick it also has lags of the first mark, in equal fractions of a
// tick; otherwise one lag of 0.
type grid struct {
	tick     float64
	relative float64 // error as in clockless; 0 if there is a tick
	width    float64 // of a step of the logarithm of times per unit
	at       []float64
	lags     []float64
	kernels  []kernel
}

const (
	finestPace = 0.01
	mostPaces  = 400
	mostLags   = 12
	// A run's logarithm of time per unit has Student's t distribution around the common one, with this many degrees
	// of freedom.
	freedom = 3
	// The relative standard deviation of the time per unit between marks of a run, because the work is uneven.
	uneven = 0.01
	// The prior probability that a mark fits no even speed, because servers are lost or programs stop for a while.
	odd = 0.01
	// mostMarks is the largest number of marks of a run that are used.
	mostMarks = 20
)

// Possible standard deviations between runs, with equal priors.
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

// kernel is a hypothesis about the first lags of runs: the probability of each lag, and the prior of the hypothesis.
type kernel struct {
	lags  []float64
	prior float64
}

// lagsOf returns the lags within a tick, and the hypotheses: the lags of runs are independent (with prior 0.1), or
// all are close to a common lag.
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

// lagSpread is the standard deviation, in ticks, of lags that are close to a common one.
const lagSpread = 0.07

// noise returns the possible error in seconds of the time between a run's first and last mark.
func (g *grid) noise(marks []Mark) float64 {
	_, seconds := span(marks)
	if g.tick > 0 {
		return math.Min(g.tick, seconds)
	}
	return g.relative * seconds / math.Sqrt(float64(len(marks)-1))
}

// likely returns the likelihood of a run's marks, by first lag and time per unit.
func (g *grid) likely(marks []Mark) [][]float64 {
	table := make([][]float64, len(g.lags))
	for u := range table {
		table[u] = make([]float64, len(g.at))
	}
	if !moves(marks) { // without two marks all are equally likely
		for _, row := range table {
			floats.AddConst(1, row)
		}
		return table
	}
	length, seconds := span(marks)
	if g.tick == 0 {
		// The error is at least two steps of the grid, otherwise it would fall between the points.
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

// within returns the probability that a lag is between 0 and a tick, with the error off.
func within(lag, tick, off float64) float64 {
	edge := func(x float64) float64 { return math.Min(1, math.Max(0, 0.5+x/(2*math.Sqrt(3)*off))) }
	return edge(lag) * edge(tick-lag)
}

// posterior returns the probability, up to a factor, of each first lag and time per unit of the first run.
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
	// By kernel, spread and common time per unit: the log-likelihood of all runs, and the likelihood of the first.
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
			weights := make([]float64, k) // by common time per unit
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

// table returns a table of numbers by kernel, spread and common time per unit.
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

// convolve returns, for each place, the sum of the weights of all places times the density of their distance.
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

// center returns the median and the standard deviation of the time per unit, and the mean lag.
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
		if below+w >= sum/2 { // the median is inside this cell, in proportion
			median = g.at[c] * math.Exp(g.width*((sum/2-below)/w-0.5))
			break
		}
		below += w
	}
	return median, math.Sqrt(math.Max(0, sq/sum-square(mean))), lag
}
