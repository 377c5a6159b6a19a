package estimator

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Auto is the model with the smallest error on known data, among the models
// that can be fitted. Known data are left out and predicted from the rest:
//
//   - past runs of the job on the resource, each from a beginning as long as the
//     samples (up to mostFolds of them);
//   - without these, the wall time of each sample.
//
// A model that cannot be fitted to some of these problems is chosen only if no other
// can be. If nothing can be left out, or models have equal errors, the earlier of
// history, pooled, scaling and linear is taken: the one that uses the most data.
// Fraction is the last resort. It is right only for a job without fixed costs, for
// which linear is right as well. With two noisy samples it can predict each from the
// other better by chance.
type Auto struct{}

// Name is "auto".
func (Auto) Name() string { return "auto" }

const mostFolds = 5

// tie is how much less a model must err, relatively, to be taken before
// an earlier one.
const tie = 0.95

// Fit returns the estimate of the chosen model, under that model's name.
func (Auto) Fit(p Problem) (Estimate, error) {
	folds := leaveOut(p)
	var best Estimate
	least, found := math.Inf(1), false
	var failures []error
	for _, m := range []Model{History{}, Pooled{}, Scaling{}, Linear{}, Fraction{}} {
		if found && m == Model(Fraction{}) {
			continue
		}
		e, err := m.Fit(p)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		score, fits := foldError(m, folds)
		if !fits && found {
			continue
		}
		if !fits {
			score = math.MaxFloat64
		}
		if !found || score < tie*least {
			best, least, found = e, score, true
		}
	}
	if !found {
		return Estimate{}, fmt.Errorf("fit auto: no model can be fitted: %w", errors.Join(failures...))
	}
	return best, nil
}

// fold is a problem with a known answer.
type fold struct {
	Problem
	length  int
	threads int
	seconds float64
}

func foldError(m Model, folds []fold) (mean float64, ok bool) {
	for _, f := range folds {
		e, err := m.Fit(f.Problem)
		if err != nil {
			return 0, false
		}
		p := e.PredictOn(f.length, f.threads, 0.9)
		mean += math.Abs(math.Log(math.Max(p.Seconds, 1e-9) / f.seconds))
	}
	return mean / float64(max(1, len(folds))), true
}

func leaveOut(p Problem) []fold {
	samples, asked := p.on()
	var folds []fold
	own, units := longestMarks(samples), longestUnits(samples)
	for i, r := range p.History {
		if r.Job != p.Job || !r.Resource.Is(asked) || r.Seconds <= 0 || r.Length <= 0 {
			continue
		}
		f := fold{Problem: p, length: r.Length, threads: asked.Threads, seconds: r.Seconds}
		s := Sample{Host: asked.Host, Threads: asked.Threads, Inter: asked.Inter, Intra: asked.Intra,
			GPUs: asked.GPUs, GPUType: asked.GPUType, Batch: asked.Batch}
		switch {
		case len(own) > 1 && len(r.Marks) > 1:
			s.Marks = upTo(r.Marks, own[len(own)-1].Done)
			if len(s.Marks) < 2 {
				continue
			}
			s.Length, s.Wall = s.Marks[len(s.Marks)-1].Done, s.Marks[len(s.Marks)-1].At
		case units > 0 && len(r.Units) > units:
			// The costs of a run beyond its units also belong to its beginning.
			s.Units, s.Length, s.Wall = r.Units[:units], units, r.Seconds
			for _, u := range r.Units[units:] {
				s.Wall -= u
			}
		default:
			continue
		}
		f.Samples = []Sample{s}
		f.History = slices.Delete(slices.Clone(p.History), i, i+1)
		folds = append(folds, f)
	}
	if len(folds) > mostFolds { // as many, from all parts of the history
		some := make([]fold, mostFolds)
		for i := range some {
			some[i] = folds[i*len(folds)/mostFolds]
		}
		return some
	}
	if len(folds) == 1 { // the rest does not test models that use whole runs
		return nil
	}
	if len(folds) > 0 || len(own) > 0 || len(p.Samples) < 2 {
		return folds
	}
	for i, s := range p.Samples {
		if s.Length <= 0 || s.Wall <= 0 {
			continue
		}
		f := fold{Problem: p, length: s.Length, threads: s.Threads, seconds: s.Wall}
		f.Resource = s.Resource()
		f.Samples = slices.Delete(slices.Clone(p.Samples), i, i+1)
		folds = append(folds, f)
	}
	return folds
}
