package marks

import (
	"cmp"
	"math"
	"slices"

	"github.com/tfexp/tfexp/estimator"
)

// alike predicts the time per unit of a run from past runs of the job that began similarly. The prediction is a
// weighted median of their times per unit, each adjusted to the run's own beginning.
//
// Two parameters, how similar a beginning must be and how strong the adjustment is, are tried at several values. Each
// past run is predicted from the others; the result is the mean over all values, weighted by the inverse square of
// these errors. The errors also give the interval.
//
// ok is false if fewer than leastAlike past runs have marks as far as the run's own.
func alike(own []Mark, past []Run) (e estimator.Estimate, ok bool) {
	begins := make([]begin, 0, len(past))
	for _, r := range past {
		b := begin{pace: math.Log(r.Seconds / float64(r.Length)), at: atMarks(r.Marks, own)}
		if n := len(b.at); n > 0 && b.at[n-1] > 0 {
			begins = append(begins, b)
		}
	}
	if len(begins) < leastAlike {
		return estimator.Estimate{}, false
	}
	at := make([]float64, 0, len(own))
	for _, m := range own[1:] {
		at = append(at, m.At)
	}
	// A setting has the errors of its predictions of past runs, and its prediction of this run.
	type setting struct {
		errors     []float64
		total, log float64
	}
	var settings []setting
	best := math.Inf(1) // an error of 0, of equal past runs, would divide by 0
	for _, nearness := range []float64{0.01, 0.02, 0.04, 0.08, math.Inf(1)} {
		for _, adjust := range []float64{0, 0.25, 0.5, 1} {
			s := setting{errors: make([]float64, len(begins)), log: paceOf(at, begins, nearness, adjust)}
			for i, b := range begins {
				s.errors[i] = b.pace - paceOf(b.at, slices.Delete(slices.Clone(begins), i, i+1), nearness, adjust)
				s.total += math.Abs(s.errors[i])
			}
			settings, best = append(settings, s), math.Min(best, math.Max(s.total, 1e-9))
		}
	}
	residuals, log, n := make([]float64, len(begins)), 0.0, 0.0
	for _, s := range settings {
		w := square(best / math.Max(s.total, 1e-9))
		n += w
		log += w * s.log
		for i := range residuals {
			residuals[i] += w * s.errors[i]
		}
	}
	for i := range residuals {
		residuals[i] /= n
	}
	slices.Sort(residuals)
	return estimator.Estimate{Slope: math.Exp(log / n), Residuals: residuals}, true
}

const leastAlike = 5

// begin is the beginning of a past run, with the logarithm of its time per unit overall.
type begin struct {
	pace float64
	at   []float64 // seconds after which it had the progress of each mark of the run
}

// paceOf returns the median of the runs' logarithms of times per unit, weighted by how similar their beginnings are
// to at. A weight falls to a quarter at the relative distance h.
func paceOf(at []float64, runs []begin, h, adjust float64) float64 {
	type vote struct{ pace, weight float64 }
	votes, total := make([]vote, len(runs)), 0.0
	last := at[len(at)-1]
	for i, r := range runs {
		var ss float64
		for k := range at {
			ss += square((at[k] - r.at[k]) / last)
		}
		votes[i] = vote{
			r.pace + adjust*math.Log(last/r.at[len(at)-1]),
			1/square(1+ss/square(h)) + 1e-3, // every run has some weight
		}
		total += votes[i].weight
	}
	slices.SortFunc(votes, func(a, b vote) int { return cmp.Compare(a.pace, b.pace) })
	half := 0.0
	for _, v := range votes {
		if half += v.weight; half >= total/2 {
			return v.pace
		}
	}
	return votes[len(votes)-1].pace
}

// atMarks returns the times at which a run had the progress of each of own's marks but the first, interpolated
// between its marks; nil if its marks do not extend as far.
func atMarks(marks, own []Mark) []float64 {
	var at []float64
	k := 1
	for _, m := range own[1:] {
		// After the same work, marks of different runs can be a few units apart.
		done := float64(m.Done)
		for k < len(marks) && float64(marks[k].Done) < done*0.99 {
			k++
		}
		if k >= len(marks) {
			return nil
		}
		from, to := marks[k-1], marks[k]
		t := to.At
		if float64(to.Done) > done*1.01 {
			t = from.At + (to.At-from.At)*(done-float64(from.Done))/float64(to.Done-from.Done)
		}
		at = append(at, t)
	}
	return at
}
