package tuning

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/tuning/trial"
)

var orNaN = schema.OrNaN

// near is the distance from the best, in percent, within which a trial counts as having reached the best.
const near = 10

// Rows returns the rows of trials.csv and tunings.csv.
func Rows(e *record.Experiment) ([]TrialRow, []TuningRow) {
	var trials []TrialRow
	var tunings []TuningRow
	for i := range trial.Asked.Of(&e.Plan) {
		t := &trial.Asked.Of(&e.Plan)[i]
		best := Best(e, t)
		var runs [][]TrialRow
		for r := 1; r <= e.Plan.Replicates; r++ {
			rows := run(e, i, r, best)
			trials = append(trials, rows...)
			if len(rows) > 0 {
				runs = append(runs, rows)
			}
		}
		if len(runs) > 0 {
			row := summary(t, runs, best)
			row.ToFixed, row.ToFixedLow, row.ToFixedHigh = math.NaN(), math.NaN(), math.NaN()
			if a, ok := Fixed(e, i); ok {
				row.ToFixed, row.ToFixedLow, row.ToFixedHigh = a.Ratio, a.Low, a.High
			}
			tunings = append(tunings, row)
		}
	}
	unranked(tunings)
	return trials, tunings
}

// Best returns the best value of a tuning's objective: over all settings, if all their values are known before the
// search; else over the feasible trials of all searches among the same settings. It returns NaN without such trials.
func Best(e *record.Experiment, t *trial.Tuning) float64 {
	if t.Best != nil {
		return *t.Best
	}
	best := math.NaN()
	take := func(o *trial.Outcome) {
		if o != nil && t.Feasible(o) && (math.IsNaN(best) || t.Better(t.Value(o), best)) {
			best = t.Value(o)
		}
	}
	for _, c := range trial.Cells(e) {
		if t.Same(&trial.Asked.Of(&e.Plan)[c.Trial.Tuning]) && t.Counts(c.Trial.Settings) {
			take(c.Outcome)
		}
	}
	for i := range t.Imported {
		// for a job that is tuned while it trains, imported values are predictions, not results
		if t.Mode != "" || !t.Counts(t.Imported[i].Settings) {
			continue
		}
		take(t.Imported[i].Outcome.Reach(t.Aim()))
	}
	return best
}

// run returns the rows of one replicate of a tuning, imported trials first.
func run(e *record.Experiment, tuning, replicate int, best float64) []TrialRow {
	t := &trial.Asked.Of(&e.Plan)[tuning]
	s := &sums{t: t, best: best, found: math.NaN()}
	var rows []TrialRow
	for i := range t.Imported {
		if t.Mode != "" {
			break
		}
		row := s.row(t.Imported[i].Outcome.Reach(t.Aim()), 0, t.Counts(t.Imported[i].Settings))
		row.Replicate, row.State = replicate, trial.TrialImported
		row.Settings = record.AxesLabel(t.Imported[i].Settings)
		rows = append(rows, row)
	}
	s.time, s.cost = 0, 0 // the search has not spent time and money on imported trials
	for i := range rows {
		rows[i].SpentTime, rows[i].SpentCost = 0, 0
	}
	for _, c := range trial.Cells(e) {
		if c.Trial.Tuning != tuning || c.Replicate != replicate || c.Outcome == nil {
			continue
		}
		row := s.row(c.Outcome, c.Trial.Number, t.Counts(c.Trial.Settings))
		row.Replicate, row.Cell, row.Settings = replicate, c.Cell.Cell, record.AxesLabel(c.Trial.Settings)
		row.Predicted, row.Low = orNaN(c.Trial.Predicted), orNaN(c.Trial.Low)
		row.High, row.Feasible = orNaN(c.Trial.High), orNaN(c.Trial.Feasible)
		rows = append(rows, stretches(row, c.Outcome)...)
		rows = append(rows, row)
	}
	return rows
}

// stretches returns a row for each period between two changes of a job's settings. row is the row of the whole job.
func stretches(row TrialRow, o *trial.Outcome) []TrialRow {
	var rows []TrialRow
	for i := range o.Stretches {
		s := &o.Stretches[i]
		one := TrialRow{
			Tuning: row.Tuning, Method: row.Method, Hardware: row.Hardware, Axes: row.Axes, Replicate: row.Replicate, Cell: row.Cell,
			Trial: i + 1, State: trial.TrialStretch, Time: s.To - s.From, Loss: orNaN(s.Loss), Accuracy: orNaN(s.Accuracy),
			Cost: math.NaN(), Objective: math.NaN(), Best: math.NaN(), RegretPct: math.NaN(),
			ModelledTrial: noModel, SpentTime: s.To, Settings: record.AxesLabel(s.Settings), Epoch: math.NaN(),
			Change: s.Cost, Remaining: orNaN(s.Remaining), ActualRemaining: o.Time - s.From,
		}
		if s.Pace > 0 {
			one.Epoch = s.Pace
		}
		if s.Restart {
			one.Reason = "restarted"
		}
		if s.Ignored != "" {
			one.Reason = fmt.Sprintf("the program did not adopt %s, so no other setting was tried", s.Ignored)
		}
		rows = append(rows, one)
	}
	return rows
}

// sums has the totals of a run's trials so far.
type sums struct {
	t           *trial.Tuning
	best, found float64
	time, cost  float64
	priced      bool // the cost of at least one trial is known
}

func (s *sums) row(o *trial.Outcome, number int, counts bool) TrialRow {
	r := TrialRow{
		Tuning: s.t.Name, Method: s.t.Method, Hardware: s.t.Hardware, Axes: record.AxesLabel(s.t.Axes), Trial: number,
		State: trial.TrialDone, Time: o.Time, Loss: orNaN(o.Loss), Accuracy: orNaN(o.Accuracy), Cost: orNaN(o.Cost),
		Objective: s.t.Value(o), RegretPct: math.NaN(),
		ModelledTrial: noModel,
		Epoch:         math.NaN(), Change: math.NaN(), Remaining: math.NaN(), ActualRemaining: math.NaN(),
	}
	if o.Units > 0 && o.Crashed == "" {
		r.Epoch = o.Time / float64(o.Units)
	}
	s.time += o.Time
	if o.Cost != nil {
		s.cost, s.priced = s.cost+*o.Cost, true
	}
	switch state := s.t.State(o); {
	case state == trial.TrialCrashed:
		r.State, r.Reason, r.Objective = state, o.Crashed, math.NaN()
	case state == trial.TrialDiverged:
		r.State, r.Reason, r.Objective = state, "its last loss is NaN or infinite", math.NaN()
	case !counts:
		r.State = trial.TrialPartial
	case state != trial.TrialDone:
		r.State, r.Reason = state, violated(s.t, o)
	case math.IsNaN(s.found) || s.t.Better(r.Objective, s.found):
		s.found = r.Objective
	}
	r.Best, r.SpentTime, r.SpentCost = s.found, s.time, s.cost
	if !s.priced {
		r.SpentCost = math.NaN()
	}
	if !math.IsNaN(s.found) {
		r.RegretPct = 100 * s.t.Regret(s.found, s.best)
	}
	return r
}

// violated returns a phrase about the first constraint that a trial violates.
func violated(t *trial.Tuning, o *trial.Outcome) string {
	for _, c := range t.AllConstraints() {
		v := o.Outcome(c.Outcome)
		switch {
		case math.IsNaN(v):
			return fmt.Sprintf("its %s is not known", c.Outcome)
		case t.IsTarget(c) && o.Reached != nil:
		case c.Min != nil && v < *c.Min:
			return fmt.Sprintf("%s %.4g, below %g", c.Outcome, v, *c.Min)
		case c.Max != nil && v > *c.Max:
			return fmt.Sprintf("%s %.4g, above %g", c.Outcome, v, *c.Max)
		}
	}
	return fmt.Sprintf("its %s is not known", t.Objective)
}

// summary returns the row of a tuning, from the rows of its runs.
func summary(t *trial.Tuning, runs [][]TrialRow, best float64) TuningRow {
	row := TuningRow{
		Tuning: t.Name, Method: t.Method, Hardware: t.Hardware, Axes: record.AxesLabel(t.Axes), Runs: len(runs), Best: best,
	}
	var needed, found, spent []float64
	for _, run := range runs {
		reached := math.Inf(1)
		for _, r := range run {
			if r.State == trial.TrialStretch {
				continue
			}
			if r.Trial > 0 {
				row.Trials++
			}
			if r.State == trial.TrialCrashed {
				row.Crashed++
			}
			if math.IsInf(reached, 1) && r.RegretPct <= near {
				reached = float64(r.Trial)
				spent = append(spent, r.SpentCost)
			}
		}
		last := run[len(run)-1]
		needed, found = append(needed, reached), append(found, last.Best)
		row.SpentTime += last.SpentTime / float64(len(runs))
		row.SpentCost += last.SpentCost / float64(len(runs))
		if !math.IsInf(reached, 1) {
			row.Reached++
		}
	}
	row.Median, row.Low, row.High = MedianInterval(needed)
	row.Found, _, _ = MedianInterval(found)
	row.CostToBest, _, _ = MedianInterval(spent)
	row.RegretPct = math.NaN()
	if !math.IsNaN(row.Found) {
		row.RegretPct = 100 * t.Regret(row.Found, best)
	}
	return row
}

// MedianInterval returns the median of values and its 95% confidence interval, by order statistics (binomial
// distribution). Values may be +Inf. NaN counts as +Inf: a value that was never reached.
func MedianInterval(values []float64) (median, low, high float64) {
	n := len(values)
	if n == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	sorted := slices.Clone(values)
	for i, v := range sorted {
		if math.IsNaN(v) {
			sorted[i] = math.Inf(1)
		}
	}
	sort.Float64s(sorted)
	median = (sorted[(n-1)/2] + sorted[n/2]) / 2
	// The interval is without the k lowest and the k highest values; k is the greatest number that leaves a confidence
	// of 95%.
	k, tail, choose := 0, 0.0, math.Pow(0.5, float64(n))
	for k < (n-1)/2 {
		if tail += choose; tail > 0.025 {
			break
		}
		choose *= float64(n-k) / float64(k+1)
		k++
	}
	k = max(k-1, 0)
	if math.IsInf(median, 1) {
		median = math.NaN()
	}
	return median, sorted[k], sorted[n-1-k]
}
