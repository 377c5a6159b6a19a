package law

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Sample is the measured speed of a cluster of equal workers.
type Sample struct {
	// Model is the trained model; it may be empty if all samples have the same.
	Model, Device    string
	Servers, Workers int
	// StepsPerSecond is the speed of all workers together. It is positive.
	StepsPerSecond float64
}

// Model has the fitted parameters of one model.
type Model struct {
	Name                       string
	Rates                      []Rate
	Limit, Exponent, Sharpness float64
}

// Fitted has the fitted laws of several models. Each model's exponent and sharpness are drawn toward the common
// Exponent and Sharpness; outliers have little effect on the common values.
type Fitted struct {
	Form                Form
	Models              []Model
	Exponent, Sharpness float64
}

// ErrNoSamples is returned if there are no samples to fit.
var ErrNoSamples = errors.New("there are no measured speeds")

// The fit maximizes the posterior probability. The priors are wide: they matter only for parameters that the samples do
// not determine, such as a limit that was never reached. Their values are round numbers and were not fitted to any
// table.
const (
	// noise is the relative error of a sample.
	noise = 0.03
	// heavy is the residual, as a multiple of the noise, beyond which outliers are damped.
	heavy = 1.0

	priorExponent, sdExponent   = 0.8, 0.3 // speed grows a little less than the number of servers
	priorSharpness, sdSharpness = 4.0, 0.7 // the deviation is of the logarithm
	priorLimit, sdLimit         = 6.0, 1.0 // workers per parameter server; the deviation is of the logarithm

	// With several models, the common exponent and sharpness have sdCommon times the deviations above. Values of a
	// model deviate from the common ones by sdOwn times these deviations; some are outliers.
	sdCommon, sdOwn = 0.5, 1.0 / 3
)

// Fit fits a form of the law to samples. Each pair of model and device has a rate, and each model a limit.
//
// It minimizes the sum of squared errors of the logarithm of the speed and of the priors. Outliers are damped (P. J.
// Huber, 1964, in the smooth form of P. Charbonnier, 1997). The method is Levenberg–Marquardt (1963) from several
// starting points.
func Fit(samples []Sample, form Form) (Fitted, error) {
	if len(samples) == 0 {
		return Fitted{}, ErrNoSamples
	}
	for _, s := range samples {
		if s.Workers < 1 || s.Servers < 0 || !(s.StepsPerSecond > 0) || math.IsInf(s.StepsPerSecond, 1) {
			return Fitted{}, fmt.Errorf("%v steps/s of %d workers with %d parameter servers", s.StepsPerSecond,
				s.Workers,
				s.Servers)
		}
	}
	p := newProblem(samples, form)
	best, least := []float64(nil), math.Inf(1)
	for _, reach := range []float64{1, 3, 10} {
		at, value := p.descend(p.start(reach))
		if value < least {
			best, least = at, value
		}
	}
	return p.fitted(best).rounded(), nil
}

// Law returns the law of a model; false if the model was not fitted.
func (f Fitted) Law(model string) (Law, bool) {
	for _, m := range f.Models {
		if m.Name == model {
			return Law{Form: f.Form, Rates: m.Rates, Limit: m.Limit, Exponent: m.Exponent, Sharpness: m.Sharpness}, true
		}
	}
	return Law{}, false
}

// Predict returns the speed of the sample's cluster; NaN if its model or device was not fitted.
func (f Fitted) Predict(s Sample) float64 {
	law, ok := f.Law(s.Model)
	if _, known := law.Rate(s.Device); !ok || !known {
		return math.NaN()
	}
	return law.Speed(Alike(s.Device, s.Workers), s.Servers)
}

// problem is the minimization problem. Its variables are: the logarithms of all rates and of all limits; for each
// model, its exponent minus the common one, and the same for the logarithm of sharpness; the common exponent, and the
// logarithm of the common sharpness.
type problem struct {
	form    Form
	samples []Sample
	models  []string
	rates   []Sample // the first sample of each pair of model and device
	rateOf  []int    // index into rates, by sample
	modelOf []int    // index of the model, by rate
}

func newProblem(samples []Sample, form Form) *problem {
	p := &problem{form: form, samples: samples}
	for _, s := range samples {
		m := slices.Index(p.models, s.Model)
		if m < 0 {
			m = len(p.models)
			p.models = append(p.models, s.Model)
		}
		r := slices.IndexFunc(p.rates, func(o Sample) bool { return o.Model == s.Model && o.Device == s.Device })
		if r < 0 {
			r = len(p.rates)
			p.rates, p.modelOf = append(p.rates, s), append(p.modelOf, m)
		}
		p.rateOf = append(p.rateOf, r)
	}
	return p
}

// own returns the number of models with their own exponent and sharpness. A single model uses the common ones, so the
// number is then 0.
func (p *problem) own() int {
	if len(p.models) == 1 {
		return 0
	}
	return len(p.models)
}

// ownOf returns the parts of the variables that are exponents and sharpnesses of single models.
func (p *problem) ownOf(at []float64) (exponents, sharpnesses []float64) {
	own := at[len(p.rates)+len(p.models) : len(at)-2]
	return own[:p.own()], own[p.own():]
}

// start returns starting values. A rate is the best speed of one worker; a limit is reach times the highest speed.
func (p *problem) start(reach float64) []float64 {
	at := make([]float64, len(p.rates)+len(p.models)+2*p.own()+2)
	rates, top := make([]float64, len(p.rates)), make([]float64, len(p.models))
	for i, s := range p.samples {
		r := p.rateOf[i]
		rates[r] = max(rates[r], s.StepsPerSecond/float64(s.Workers))
		top[p.modelOf[r]] = max(top[p.modelOf[r]], s.StepsPerSecond)
	}
	for i, r := range rates {
		at[i] = math.Log(r)
	}
	for i, v := range top {
		at[len(rates)+i] = math.Log(v * reach)
	}
	at[len(at)-2], at[len(at)-1] = priorExponent, math.Log(priorSharpness)
	return at
}

// rounded rounds the fitted values to six digits. Further digits have no meaning and can differ between processors.
func (f Fitted) rounded() Fitted {
	six := func(v float64) float64 {
		unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-5)
		return math.Round(v/unit) * unit
	}
	for i := range f.Models {
		m := &f.Models[i]
		for k := range m.Rates {
			m.Rates[k].StepsPerSecond = six(m.Rates[k].StepsPerSecond)
		}
		m.Limit, m.Exponent, m.Sharpness = six(m.Limit), six(m.Exponent), six(m.Sharpness)
	}
	f.Exponent, f.Sharpness = six(f.Exponent), six(f.Sharpness)
	return f
}

func (p *problem) fitted(at []float64) Fitted {
	f := Fitted{Form: p.form, Exponent: at[len(at)-2], Sharpness: math.Exp(at[len(at)-1])}
	exponents, sharpnesses := p.ownOf(at)
	for i, name := range p.models {
		m := Model{Name: name, Limit: math.Exp(at[len(p.rates)+i]), Exponent: f.Exponent, Sharpness: f.Sharpness}
		if p.own() > 0 {
			m.Exponent += exponents[i]
			m.Sharpness *= math.Exp(sharpnesses[i])
		}
		f.Models = append(f.Models, m)
	}
	for i, r := range p.rates {
		m := &f.Models[p.modelOf[i]]
		m.Rates = append(m.Rates, Rate{r.Device, math.Exp(at[i])})
	}
	return f
}

// residuals returns the terms whose squares are summed: one for each sample, then one for each prior.
func (p *problem) residuals(at []float64) []float64 {
	f := p.fitted(at)
	out := make([]float64, 0, len(p.samples)+3*len(p.models)+2)
	for _, s := range p.samples {
		out = append(out, heavy*damped(math.Log(s.StepsPerSecond/f.Predict(s))/(noise*heavy)))
	}
	exponents, sharpnesses := p.ownOf(at)
	part := 1.0
	for i := range exponents {
		out = append(out, outlying(exponents[i]/(sdOwn*sdExponent)), outlying(sharpnesses[i]/(sdOwn*sdSharpness)))
		part = sdCommon
	}
	out = append(out, (f.Exponent-priorExponent)/(part*sdExponent),
		(math.Log(f.Sharpness)-math.Log(priorSharpness))/(part*sdSharpness))
	for m := range p.models {
		sum, n := 0.0, 0
		for r, of := range p.modelOf {
			if of == m {
				sum += at[r]
				n++
			}
		}
		out = append(out, (at[len(p.rates)+m]-sum/float64(n)-math.Log(priorLimit))/sdLimit)
	}
	return out
}

// damped grows linearly near 0 and as the square root of e far from 0.
func damped(e float64) float64 { return math.Copysign(math.Sqrt(2*(math.Sqrt(1+e*e)-1)), e) }

// outlying grows linearly near 0 and logarithmically far from 0. Its square is the negative logarithm of Cauchy's
// density, up to a constant.
func outlying(e float64) float64 { return math.Copysign(math.Sqrt(math.Log1p(e*e)), e) }

// mostSteps is the largest number of steps of a descent; most need a few tens.
const mostSteps = 300

// descend minimizes by the Levenberg–Marquardt method with numerical derivatives. It returns the variables and the
// minimum.
func (p *problem) descend(at []float64) ([]float64, float64) {
	n, damping := len(at), 1e-2
	r := p.residuals(at)
	value := squares(r)
	for range mostSteps {
		slopes := mat.NewDense(len(r), n, nil)
		for j := range n {
			const h = 1e-6
			moved := slices.Clone(at)
			moved[j] += h
			for i, v := range p.residuals(moved) {
				slopes.Set(i, j, (v-r[i])/h)
			}
		}
		var normal mat.Dense
		var gradient, step mat.VecDense
		normal.Mul(slopes.T(), slopes)
		gradient.MulVec(slopes.T(), mat.NewVecDense(len(r), r))
		better := false
		for tries := 0; tries < 12 && !better; tries++ {
			with := mat.DenseCopyOf(&normal)
			for j := range n {
				with.Set(j, j, normal.At(j, j)*(1+damping)+1e-9)
			}
			if err := step.SolveVec(with, &gradient); err != nil {
				damping *= 10
				continue
			}
			moved := slices.Clone(at)
			for j := range n {
				moved[j] -= step.AtVec(j)
			}
			next := p.residuals(moved)
			if v := squares(next); v < value {
				better = value-v > 1e-10*value
				at, r, value = moved, next, v
				damping = max(damping/5, 1e-9)
				break
			}
			damping *= 4
		}
		if !better {
			break
		}
	}
	return at, value
}

func squares(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v * v
	}
	return sum
}
