package estimator

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Scaling predicts the time per unit on one resource from samples on others: by the number of threads, and by the
// split into inter-op and intra-op threads.
//
// The logarithm of the time per unit is its value on one thread minus log(speed-up). The speed-up follows Amdahl's
// law, the universal scalability law, or Amdahl's law up to a limit: the law that best predicts the samples of each
// resource from the others. A more complex law is used only if its error is at least a tenth smaller. If the samples
// vary inter-op and intra-op threads, each thread pool has its own serial part, and the two speed-ups multiply, as
// far as there are cores.
type Scaling struct{}

// Name is "scaling".
func (Scaling) Name() string { return "scaling" }

// priorLawSD is the relative error assumed of a law before it has predicted anything.
const priorLawSD = 0.05

// point is the time per unit measured on one resource.
type point struct {
	at        Resource
	log       float64 // logarithm of the seconds per unit
	intercept float64
}

// Fit needs samples on at least two numbers of threads (or splits). None needs to be on the wanted resource.
func (Scaling) Fit(p Problem) (Estimate, error) {
	asked := p.Resource
	if asked == (Resource{}) && len(p.Samples) > 0 {
		asked = p.Samples[0].Resource()
	}
	points, direct, err := paces(p, asked)
	if err != nil {
		return Estimate{}, err
	}
	if len(points) < 2 {
		return Estimate{}, fmt.Errorf("fit scaling: all samples have the same number of threads: sample another "+
			"number of threads: %w", ErrUnfit)
	}
	law, loo := choose(points)
	fit := law.fit(points)
	n := float64(len(points))
	e := Estimate{Model: "scaling", Resource: asked, Samples: len(p.Samples), PaceSD: PriorPaceSD}
	e.DF = PriorDF + n
	e.CurveSE = math.Sqrt((PriorDF*square(priorLawSD) + n*square(loo)) / (PriorDF + n))
	e.Curve = fit.curve(asked)
	log, variance := fit.log(asked), square(e.CurveSE)
	intercepts := schema.Each(points, func(q point) float64 { return q.intercept })
	e.Intercept = Median(intercepts)
	_, isd := meanSD(intercepts)
	e.InterceptSE = isd / math.Sqrt(n)
	if direct != nil && direct.Slope > 0 {
		// If the wanted resource was sampled as well, both estimates are combined by their precision.
		e.Intercept, e.InterceptSE = direct.Intercept, direct.InterceptSE
		e.UnitSD, e.Rho, e.PaceSD, e.PaceDF = direct.UnitSD, direct.Rho, direct.PaceSD, direct.PaceDF
		v := square(direct.SlopeSE/direct.Slope) + square(direct.PaceSD)
		log = (log*v + math.Log(direct.Slope)*variance) / (v + variance)
		variance = v * variance / (v + variance)
	}
	e.Slope = math.Exp(log)
	e.SlopeSE = e.Slope * math.Sqrt(variance)
	return e, nil
}

// paces fits the samples of each resource separately. direct is the estimate on the wanted resource, or nil without
// samples there.
func paces(p Problem, asked Resource) (points []point, direct *Estimate, err error) {
	var seen []Resource
	for _, s := range p.Samples {
		at := s.Resource()
		// Other types of GPU and other machines have other curves.
		if slices.Contains(seen, at) || at.GPUs != asked.GPUs || !same(at.GPUType, asked.GPUType) ||
			!same(at.Host, asked.Host) {
			continue
		}
		seen = append(seen, at)
		there := slices.DeleteFunc(slices.Clone(p.Samples), func(o Sample) bool { return o.Resource() != at })
		line, err := fitLine(p, there)
		if err != nil {
			return nil, nil, fmt.Errorf("fit scaling on %d threads: %w", at.Threads, err)
		}
		if line.Slope <= 0 || at.Threads <= 0 {
			return nil, nil, fmt.Errorf("fit scaling: a sample without threads or run time: %w", ErrUnfit)
		}
		points = append(points, point{at, math.Log(line.Slope), line.Intercept})
		if at.Is(asked) {
			direct = &line
		}
	}
	return points, direct, nil
}

// law is a form of the speed-up function.
type law struct{ usl, limit, split bool }

func (l law) parameters() int {
	n := 2 // two parameters: time per unit on one thread, serial part
	for _, more := range []bool{l.usl, l.limit, l.split} {
		if more {
			n++
		}
	}
	return n
}

// fitted is a law with its parameters.
type fitted struct {
	law
	one         float64 // logarithm of the time per unit on one thread
	curve0      Curve
	interSerial float64
}

// choose returns the law that best predicts each resource from the others, and its root mean squared error.
func choose(points []point) (law, float64) {
	var base law
	inter, intra := map[int]bool{}, map[int]bool{}
	for _, q := range points {
		inter[q.at.Inter], intra[q.at.Intra] = true, true
	}
	base.split = len(inter) > 1 && len(intra) > 1
	best, least := base, math.Inf(1)
	for _, form := range []law{{}, {usl: true}, {limit: true}} {
		l := base
		l.usl, l.limit = form.usl, form.limit
		if form != (law{}) && l.parameters() >= len(points) {
			continue
		}
		if loo := l.leaveOneOut(points); loo < 0.9*least {
			best, least = l, loo
		}
	}
	return best, least
}

func (l law) leaveOneOut(points []point) float64 {
	var ss float64
	for i, q := range points {
		others := slices.Delete(slices.Clone(points), i, i+1)
		ss += square(l.fit(others).log(q.at) - q.log)
	}
	return math.Sqrt(ss / float64(len(points)))
}

// fit finds the parameters by least squares of the logarithms. A small penalty keeps undetermined parameters close to
// 0.
func (l law) fit(points []point) fitted {
	largest := 1.0
	for _, q := range points {
		largest = math.Max(largest, float64(q.at.Threads))
	}
	unpack := func(x []float64) fitted {
		f := fitted{law: l, curve0: Curve{Sigma: part(x[0])}}
		i := 1
		next := func(used bool) float64 {
			if !used {
				return 0
			}
			i++
			return x[i-1]
		}
		if v := next(l.usl); l.usl {
			f.curve0.Kappa = math.Exp(math.Min(v, 0))
		}
		if v := next(l.limit); l.limit {
			f.curve0.Limit = 1 + (largest-1)*part(v)
		}
		if v := next(l.split); l.split {
			f.interSerial = part(v)
		}
		r := schema.Each(points, func(q point) float64 { return q.log - f.log(q.at) })
		f.one = stat.Mean(r, nil)
		return f
	}
	loss := func(x []float64) float64 {
		f := unpack(x)
		ss := 1e-4 * (f.curve0.Sigma + f.interSerial + f.curve0.Kappa)
		for _, q := range points {
			ss += square(q.log - f.log(q.at))
		}
		return ss
	}
	start := make([]float64, l.parameters()-1)
	var best fitted
	least := math.Inf(1)
	for _, serial := range []float64{-4, -1} {
		start[0] = serial
		if l.usl {
			start[1] = -7
		}
		r, err := optimize.Minimize(optimize.Problem{Func: loss}, start, nil, &optimize.NelderMead{})
		if r == nil || err != nil && math.IsNaN(r.F) {
			continue
		}
		if r.F < least {
			best, least = unpack(r.X), r.F
		}
	}
	return best
}

// part maps any number to a number from 0 to 1.
func part(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// log returns the logarithm of the time per unit on a resource.
func (f fitted) log(at Resource) float64 {
	if !f.split || at.Inter <= 0 || at.Intra <= 0 {
		return f.one - math.Log(f.curve0.Speedup(used(at)))
	}
	speedup := f.curve0.Speedup(float64(at.Intra)) * Curve{Sigma: f.interSerial}.Speedup(float64(at.Inter))
	if pool := float64(at.Inter * at.Intra); pool > float64(at.Threads) {
		speedup *= float64(at.Threads) / pool
	}
	return f.one - math.Log(speedup)
}

// curve returns the speed-up curve over the threads that the program can use on the resource.
func (f fitted) curve(at Resource) Curve {
	c := f.curve0
	if pool := at.Inter * at.Intra; pool > 0 && (c.Limit == 0 || float64(pool) < c.Limit) {
		c.Limit = float64(pool)
	}
	return c
}

// used returns the number of threads that a program on the resource can keep busy.
func used(at Resource) float64 {
	if pool := at.Inter * at.Intra; pool > 0 {
		return float64(min(pool, at.Threads))
	}
	return float64(at.Threads)
}
