package estimator

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// History improves estimates from samples with past runs.
//
// The logarithm of the pace is believed in levels, each a normal observation joined by its precision:
//
//  1. runs of the same kind on the resource, as unlike as their jobs are;
//  2. runs of the job on other hosts, times the ratio that other jobs had between
//     the two hosts, as certain as these jobs agree on it;
//  3. runs of the job on the resource, as unlike as they are;
//  4. the samples, corrected by how whole runs of the job differed from their own
//     beginnings.
//
// A spread from few runs is combined with the prior of any machine.
type History struct{}

// Name is "history".
func (History) Name() string { return "history" }

// Priors without runs: standard deviations of log ratios.
const (
	priorHostSD  = 0.1 // of the ratio between two hosts from job to job
	unknownRatio = 0.5 // of that ratio when no job shows it
	priorKindSD  = 1.0 // between jobs of a kind
)

// belief is a normal distribution; the zero value is no belief.
type belief struct{ mean, precision float64 }

func (b belief) and(mean, variance float64) belief {
	p := 1 / variance
	return belief{(b.mean*b.precision + mean*p) / (b.precision + p), b.precision + p}
}

// Fit needs a finished run in the history of the job or of a like job, and
// the same samples as linear; it can do without samples when the history
// has the job.
func (History) Fit(p Problem) (Estimate, error) {
	samples, asked := p.on()
	var past []Run
	for _, r := range p.History {
		if r.Seconds > 0 && r.Length > 0 {
			past = append(past, r)
		}
	}
	line := Estimate{Intercept: startup(p, past)}
	if len(samples) > 0 {
		var err error
		if line, err = fitLine(p, samples); err != nil {
			return Estimate{}, err
		}
	}
	b, spread, known := remember(p, past, asked, line.Intercept)
	if !known {
		return Estimate{}, fmt.Errorf("fit history: no finished run of this job or of a like job: %w", ErrUnfit)
	}
	e := line
	e.Model, e.Resource, e.Samples, e.PaceSD = "history", asked, len(samples), spread
	if e.PaceDF > 0 { // now the deviation of runs
		e.PaceDF = 2 * PriorDF
	}
	if line.Slope > 0 {
		shift, variance := development(sameJob(p, past, asked), longestUnits(samples))
		own := square(line.SlopeSE/line.Slope) + square(line.PaceSD) + variance
		b = b.and(math.Log(line.Slope)+shift, own)
	}
	e.Slope = math.Exp(b.mean)
	e.SlopeSE = e.Slope / math.Sqrt(b.precision)
	e.DF += 2 * PriorDF
	return e, nil
}

// startup returns the mean time beyond their units of past runs of the job, or
// else of its kind; 0 when unknown.
func startup(p Problem, past []Run) float64 {
	var job, kind []float64
	for _, r := range past {
		if len(r.Units) < 2 || len(r.Units) != r.Length {
			continue
		}
		rest := math.Max(0, r.Seconds-stat.Mean(r.Units[1:], nil)*float64(r.Length))
		if r.Job == p.Job {
			job = append(job, rest)
		} else if r.Kind == p.Kind {
			kind = append(kind, rest)
		}
	}
	switch {
	case len(job) > 0:
		return stat.Mean(job, nil)
	case len(kind) > 0:
		return stat.Mean(kind, nil)
	}
	return 0
}

// remember returns the belief about the log pace from past runs; spread is the
// spread of a run about the job's pace.
func remember(p Problem, past []Run, asked Resource, intercept float64) (b belief, spread float64, known bool) {
	spread = PriorPaceSD
	pace := func(r Run) float64 {
		if n := len(r.Units); n > 1 {
			return math.Log(stat.Mean(r.Units[1:], nil))
		}
		return math.Log(math.Max(r.Seconds-intercept, r.Seconds/2) / float64(r.Length))
	}
	here := means(past, pace, func(r Run) bool { return r.Resource.Is(asked) })

	var kind []float64
	for _, j := range here {
		if j.job != p.Job && p.Kind != "" && j.kind == p.Kind {
			kind = append(kind, j.mean)
		}
	}
	if n := float64(len(kind)); n > 0 {
		v := (square(priorKindSD) + squares(kind)) / n
		b, known = b.and(stat.Mean(kind, nil), v*(1+1/n)), true
	}

	for _, host := range hosts(past) {
		there := asked
		if there.Host = host; host == asked.Host || asked.Host == "" {
			continue
		}
		away := means(past, pace, func(r Run) bool { return r.Resource.Host == host && r.Resource.Is(there) })
		i := slices.IndexFunc(away, func(j jobMean) bool { return j.job == p.Job })
		if i < 0 {
			continue
		}
		var ratios []float64
		for _, h := range here {
			if k := slices.IndexFunc(away, func(j jobMean) bool { return j.job == h.job }); k >= 0 && h.job != p.Job {
				ratios = append(ratios, h.mean-away[k].mean)
			}
		}
		ratio, v := 0.0, square(unknownRatio)
		if n := float64(len(ratios)); n > 0 {
			v = (PriorDF*square(priorHostSD) + squares(ratios)) / (PriorDF + n - 1)
			ratio, v = stat.Mean(ratios, nil), v*(1+1/n)
		}
		b, known = b.and(away[i].mean+ratio, v+square(PriorPaceSD)/away[i].runs), true
	}

	if i := slices.IndexFunc(here, func(j jobMean) bool { return j.job == p.Job }); i >= 0 {
		j := here[i]
		v := (PriorDF*square(PriorPaceSD) + j.squares) / (PriorDF + j.runs - 1)
		b, spread, known = b.and(j.mean, v/j.runs), math.Sqrt(v), true
	}
	return b, spread, known
}

// jobMean is the mean log pace of a job's runs, and their squared deviations.
type jobMean struct {
	job, kind           string
	mean, squares, runs float64
}

// means lists the jobs of the runs that are in, in the order of the runs.
func means(past []Run, pace func(Run) float64, in func(Run) bool) []jobMean {
	var list []jobMean
	var paces [][]float64
	for _, r := range past {
		if !in(r) {
			continue
		}
		i := slices.IndexFunc(list, func(j jobMean) bool { return j.job == r.Job })
		if i < 0 {
			i, list, paces = len(list), append(list, jobMean{job: r.Job, kind: r.Kind}), append(paces, nil)
		}
		paces[i] = append(paces[i], pace(r))
	}
	for i, v := range paces {
		list[i].mean, list[i].squares, list[i].runs = stat.Mean(v, nil), squares(v), float64(len(v))
	}
	return list
}

func hosts(past []Run) []string {
	var names []string
	for _, r := range past {
		if r.Resource.Host != "" && !slices.Contains(names, r.Resource.Host) {
			names = append(names, r.Resource.Host)
		}
	}
	return names
}

func sameJob(p Problem, past []Run, asked Resource) []Run {
	var same []Run
	for _, r := range past {
		if r.Job == p.Job && r.Resource.Is(asked) {
			same = append(same, r)
		}
	}
	return same
}

// development returns the difference of the pace of whole runs from the pace of
// their first n units, as a log ratio, shrunk as if two more runs had shown
// none; and the variance that this adds.
func development(runs []Run, n int) (shift, variance float64) {
	var ratios []float64
	for _, r := range runs {
		if n > 1 && len(r.Units) > n {
			ratios = append(ratios, math.Log(stat.Mean(r.Units[1:], nil)/stat.Mean(r.Units[1:n], nil)))
		}
	}
	k := float64(len(ratios))
	if k == 0 {
		return 0, 0
	}
	variance = (PriorDF*square(PriorPaceSD) + squares(ratios)) / (PriorDF + k - 1)
	return stat.Mean(ratios, nil) * k / (k + 2), variance / k
}

func longestUnits(samples []Sample) int {
	n := 0
	for _, s := range samples {
		n = max(n, len(s.Units))
	}
	return n
}
