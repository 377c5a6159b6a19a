package surrogate

import (
	"math"
	"math/rand/v2"
)

// With few observations the hyper-parameters are uncertain, and so is how far inputs act independently. Predictions
// are therefore averaged over hyper-parameters drawn from their posterior (importance resampling).
const (
	// candidateDraws hyper-parameters are drawn and weighted; keptDraws remain, with equal weights.
	candidateDraws, keptDraws = 300, 16
	// aroundFit is the standard deviation of two thirds of the draws around the fit; the others are drawn from the
	// prior.
	aroundFit = 0.7
	// With more than fewObservations, the fit is used without averaging.
	fewObservations = 40
)

// average adds processes with drawn hyper-parameters. For the same observations it draws the same ones.
func (p *Process) average() {
	p.drawn = []*Process{p.alone()}
	if len(p.x) > fewObservations {
		return
	}
	r := rand.New(rand.NewPCG(1, 2))
	fit, space := p.parameters(p.hyper), &workspace{}
	weight, processes := make([]float64, candidateDraws), make([]*Process, candidateDraws)
	most, sum := math.Inf(-1), 0.0
	for i := range processes {
		theta := make([]float64, len(fit))
		byPrior, byFit := 0.0, 0.0
		for d := range theta {
			mean := priorMean(d, len(fit)-2)
			if i%3 == 0 {
				theta[d] = mean + r.NormFloat64()
			} else {
				theta[d] = fit[d] + aroundFit*r.NormFloat64()
			}
			byPrior += logNormal(theta[d], mean, 1)
			byFit += logNormal(theta[d], fit[d], aroundFit)
		}
		q := p.alone()
		q.hyper, q.additive = p.hyperOf(theta), math.Sqrt(r.Float64()) // prefers values near 1, independent inputs
		processes[i] = q
		greater := math.Max(byPrior, byFit)
		weight[i] = q.posterior(theta, nil, space) - greater -
			math.Log(math.Exp(byPrior-greater)/3+math.Exp(byFit-greater)*2/3)
		most = math.Max(most, weight[i])
	}
	for i := range weight {
		weight[i] = math.Exp(weight[i] - most)
		sum += weight[i]
	}
	var kept []*Process
	upTo, next := 0.0, 0.5
	for i, q := range processes {
		upTo += keptDraws * weight[i] / sum
		if upTo > next && q.condition() != nil {
			continue
		}
		for ; upTo > next; next++ {
			kept = append(kept, q)
		}
	}
	if len(kept) > 0 {
		p.drawn = kept
	}
}

// alone returns the process with the most likely hyper-parameters, without the drawn processes.
func (p *Process) alone() *Process {
	q := *p
	q.drawn = nil
	return &q
}

// logNormal returns the logarithm of a normal density, up to a constant.
func logNormal(v, mean, sd float64) float64 {
	z := (v - mean) / sd
	return -z*z/2 - math.Log(sd)
}

// Expect returns the mean and standard deviation of an observation, including noise, at each point, averaged over the
// drawn processes. If none were drawn, it is like Predict.
func (p *Process) Expect(points [][]float64) (mean, sd []float64) {
	if p.drawn == nil {
		return p.Predict(points)
	}
	mean, sd = make([]float64, len(points)), make([]float64, len(points))
	n := float64(len(p.drawn))
	for _, q := range p.drawn {
		noise := q.scale * q.hyper.Noise
		means, sds := q.Predict(points)
		for k, m := range means {
			mean[k] += m / n
			sd[k] += (m*m + sds[k]*sds[k] + noise*noise) / n
		}
	}
	for k := range sd {
		sd[k] = math.Sqrt(math.Max(sd[k]-mean[k]*mean[k], 0))
	}
	return mean, sd
}
