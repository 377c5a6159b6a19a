package forecast

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler/workload"
)

// Options set how much is simulated for a forecast.
type Options struct {
	// Futures is the number of simulations of a queue; queues of the past are simulated a quarter as often. Horizon is
	// the simulated time span.
	Futures int
	Horizon time.Duration // 0: see Complete
	// Trials is the number of past instants at which forecasts are compared with the actual starts.
	Trials int
	Seed   int64
	// Progress receives how many queues of the past, or ("futures") how many futures of the present queue have been
	// simulated. It may be nil.
	Progress Progress
}

// Progress receives how much of something is done.
type Progress func(what string, done, all int)

// Complete returns the options with a horizon. The default is three times the longest wait in the log.
func (o Options) Complete(t *Twin) Options {
	if o.Horizon == 0 {
		o.Horizon = t.horizonOf()
	}
	return o
}

// levels are the quantiles of a forecast: the ends of the 90% and 50% intervals, and the median.
var levels = [5]float64{0.05, 0.25, 0.5, 0.75, 0.95}

// Forecast is a prediction of how long a job will wait from now on.
type Forecast struct {
	// Seconds are the quantiles of the wait at 5, 25, 50, 75 and 95%; infinite beyond the horizon.
	Seconds [5]float64
	// Within is the fraction of the futures in which the job starts within the horizon.
	Within float64
	// Requested is the wait, in seconds, if every job uses its whole requested time and no job arrives.
	Requested float64
}

// forecastAt returns forecasts of some jobs of a queue, without calibration.
func (t *Twin) forecastAt(
	ctx context.Context, q *Queue, asked []int, o Options, progress Progress,
) ([]Forecast, error) {
	t.hear(q.At)
	d := &drawing{Twin: t, queue: q, past: t.known(q.At), asked: asked, horizon: o.Horizon, seed: o.Seed}
	waits, err := d.futures(ctx, o.Futures, progress)
	if err != nil {
		return nil, err
	}
	requested, err := d.requested(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]Forecast, len(asked))
	for i := range all {
		f := &all[i]
		f.Requested = seconds(requested[i])
		slices.Sort(waits[i])
		for k, level := range levels {
			f.Seconds[k] = seconds(waits[i][rank(level, len(waits[i]))])
		}
		beyond, _ := slices.BinarySearch(waits[i], never)
		f.Within = float64(beyond) / float64(len(waits[i]))
	}
	return all, nil
}

// rank returns the index of a quantile among n sorted values.
func rank(level float64, n int) int {
	return min(max(int(math.Ceil(level*float64(n+1)))-1, 0), n-1)
}

// Trial is a forecast at an instant of the past, with the actual wait.
type Trial struct {
	Job      string
	At       time.Duration // time since the log's origin
	Raw      Forecast
	Forecast Forecast // calibrated by trials whose outcome was known then; equal to Raw if these were too few
	Actual   float64  // how long the job waited from then on, in seconds
	Checked  bool     // whether Forecast is calibrated
}

const (
	// settle is the time after the submission of a job at which a trial forecasts the job, if it still waits.
	settle = time.Minute
	// beside is the number of other waiting jobs that a trial forecasts.
	beside = 3
	// fewest is the number of trials that a calibration needs.
	fewest = 30
	// early is the first fraction of the log, in which no trials are made.
	early = 0.1
	// grain is the least scale of an error, in seconds. share is the fraction of the wait that is added to the scale.
	grain = 30.0
	share = 0.1
	// latest is the number of latest outcomes that are used for a calibration.
	latest = 400
	// pace is how far one outcome moves a quantile, in units of the scale.
	pace = 0.05
)

// try makes forecasts at instants of the log, up to a given instant, and compares them with the actual starts.
func (t *Twin) try(ctx context.Context, until time.Duration, o Options) (trials []Trial, past tracker, err error) {
	first, last := t.Span()
	from := first + time.Duration(early*float64(min(last, until)-first))
	var able []int
	for i := range t.log {
		if j := &t.log[i]; j.Arrival >= from && asks(j, j.Arrival+settle) && j.start <= until {
			able = append(able, i)
		}
	}
	o.Futures = max(o.Futures/4, 20)
	draws := workload.Stream(o.Seed, "trials")
	draws.Shuffle(len(able), func(i, k int) { able[i], able[k] = able[k], able[i] })
	able = able[:min(len(able), o.Trials)]
	slices.Sort(able)
	for n, i := range able {
		at := t.log[i].Arrival + settle
		q := t.QueueAt(at)
		of := t.inLog(at)
		var asked, others []int
		for k := range q.Jobs {
			switch {
			case of[k] == i:
				asked = append(asked, k)
			case q.Jobs[k].Waits() && asks(&t.log[of[k]], at) && t.log[of[k]].start <= until:
				others = append(others, k)
			}
		}
		draws.Shuffle(len(others), func(i, k int) { others[i], others[k] = others[k], others[i] })
		asked = append(asked, others[:min(len(others), beside)]...)
		list, err := t.forecastAt(ctx, &q, asked, o, nil)
		if err != nil {
			return nil, past, err
		}
		c := past.correction(trials, at)
		for k, f := range list {
			j := &t.log[of[asked[k]]]
			trials = append(trials, Trial{j.Name, at, f, c.apply(f, o.Horizon), (j.start - at).Seconds(), c != nil})
		}
		if o.Progress != nil {
			o.Progress("forecasts of the past", n+1, len(able))
		}
	}
	return trials, past, nil
}

// asks reports whether a job waits at an instant, and is eligible to start.
func asks(j *logged, at time.Duration) bool {
	s := j.Submission()
	return j.start > at && j.start < never && (s == nil || s.Begin <= at)
}

// inLog returns the indexes in the log of the jobs that QueueAt returns.
func (t *Twin) inLog(at time.Duration) (list []int) {
	for i := range t.log {
		if j := &t.log[i]; j.Arrival <= at && j.start < never && j.end > at {
			list = append(list, i)
		}
	}
	return list
}

// correction is the correction of the quantiles of forecasts, as logarithms; nil if there are too few trials.
type correction []float64

// calibration finds the correction by the trials whose outcome was known at an instant: after it, each quantile was
// above the outcome of as many of them as it should be. (Y. Romano, E. Patterson, E. Candès: Conformalized Quantile
// Regression, 2019; here for each quantile alone, of logarithms.)
func calibration(trials []Trial, at time.Duration) (c correction) {
	for k, level := range levels {
		var off []float64
		instants := map[time.Duration]bool{}
		for i := len(trials) - 1; i >= 0 && len(off) < latest; i-- {
			x := &trials[i]
			if q := x.Raw.Seconds[k]; x.known() <= at && !math.IsInf(q, 1) {
				off = append(off, (x.Actual-q)/x.Raw.scale())
				instants[x.At] = true
			}
		}
		if len(off) < fewest {
			return nil
		}
		slices.Sort(off)
		// Jobs that wait at the same instant have similar outcomes, so instants are counted, not jobs.
		m := len(instants)
		at := (float64(rank(level, m)) + 0.5) / float64(m)
		c = append(c, off[min(int(at*float64(len(off))), len(off)-1)])
	}
	return c
}

// tracker moves the ends of intervals so that, in the long run, each is above the outcome as often as it should be,
// whatever the cluster does. (A. Angelopoulos, E. Candès, R. Tibshirani: Conformal PID Control, 2023, after I. Gibbs,
// E. Candès: Adaptive Conformal Inference, 2021; here with the outcomes in the order in which they become known.)
type tracker struct {
	shift [len(levels)]float64
	taken map[int]bool // trials
}

// correction returns the calibration by the trials whose outcome is known at an instant, adjusted by the tracker.
// Instants never decrease between calls.
func (t *tracker) correction(trials []Trial, at time.Duration) correction {
	var fresh []int
	for i := range trials {
		if trials[i].known() <= at && !t.taken[i] && trials[i].Checked {
			fresh = append(fresh, i)
		}
	}
	slices.SortStableFunc(fresh, func(a, b int) int { return cmp.Compare(trials[a].known(), trials[b].known()) })
	for _, i := range fresh {
		if t.taken == nil {
			t.taken = map[int]bool{}
		}
		t.taken[i] = true
		for k, level := range levels {
			if level == 0.5 { // the median is not adjusted: that would only add noise
				continue
			}
			if t.shift[k] += pace * level; trials[i].Actual <= trials[i].Forecast.Seconds[k] {
				t.shift[k] -= pace
			}
		}
	}
	c := calibration(trials, at)
	for k := range c {
		c[k] += t.shift[k]
	}
	return c
}

// known returns the instant at which the outcome of a trial is known.
func (x *Trial) known() time.Duration { return x.At + time.Duration(x.Actual*1e9) }

// scale is the expected error of a forecast, in seconds: the width of its 90% interval plus a fraction of the wait.
func (f *Forecast) scale() float64 {
	high := f.Seconds[4]
	for k := 3; k > 0 && math.IsInf(high, 1); k-- {
		high = f.Seconds[k]
	}
	if math.IsInf(high, 1) {
		return grain
	}
	return grain + high - f.Seconds[0] + share*high
}

// apply returns a corrected forecast. Quantiles beyond the horizon stay beyond it.
func (c correction) apply(f Forecast, horizon time.Duration) Forecast {
	scale := f.scale()
	for k := range c {
		f.Seconds[k] = max(f.Seconds[k]+c[k]*scale, 0)
		if f.Seconds[k] > horizon.Seconds() {
			f.Seconds[k] = math.Inf(1)
		}
	}
	slices.Sort(f.Seconds[:])
	return f
}

// Backtest is the accuracy of forecasts of the past.
type Backtest struct {
	// Trials are all forecasts. Checked of them were calibrated by earlier ones; only these count in the fields below.
	Trials  []Trial `json:"-"`
	Made    int     `json:"forecasts"`
	Checked int     `json:"calibrated_forecasts"`
	// Error is the median absolute error of the medians. Requested is the median absolute error of forecasts by
	// requested times.
	Error     float64 `json:"median_error_s"`
	Requested float64 `json:"requested_median_error_s"`
	// MeanError and MeanRequested are the mean absolute errors, of forecasts within the horizon.
	MeanError     float64 `json:"mean_error_s"`
	MeanRequested float64 `json:"requested_mean_error_s"`
	// Half and Nine are the percentages of outcomes within the 50% and 90% intervals. RawNine is Nine without
	// calibration.
	Half    float64 `json:"in_50_percent"`
	Nine    float64 `json:"in_90_percent"`
	RawNine float64 `json:"in_90_percent_uncalibrated"`
	// Width is the median width of the 90% intervals. Wait is the median of the outcomes.
	Width float64 `json:"median_width_90_s"`
	Wait  float64 `json:"median_wait_s"`
}

// ErrShort is returned if too few jobs of the log waited.
var ErrShort = errors.New("the log has too few jobs that waited for longer than a minute: forecasts cannot be " +
	"compared with what happened")

// Backtest compares forecasts of the log's past with the actual starts.
func (t *Twin) Backtest(ctx context.Context, o Options) (b Backtest, err error) {
	if b.Trials, _, err = t.try(ctx, never, o); err != nil {
		return b, err
	}
	return summarize(b.Trials)
}

func summarize(trials []Trial) (b Backtest, err error) {
	b.Trials, b.Made = trials, len(trials)
	var errs, requested, widths, waits []float64
	within := func(x *Trial, f *Forecast, low, high int) float64 {
		if x.Actual >= math.Floor(f.Seconds[low]) && x.Actual <= math.Ceil(f.Seconds[high]) {
			return 1
		}
		return 0
	}
	for i := range trials {
		x := &trials[i]
		if !x.Checked {
			continue
		}
		b.Checked++
		errs = append(errs, math.Abs(x.Forecast.Seconds[2]-x.Actual))
		requested = append(requested, math.Abs(x.Raw.Requested-x.Actual))
		widths = append(widths, x.Forecast.Seconds[4]-x.Forecast.Seconds[0])
		waits = append(waits, x.Actual)
		b.Half += within(x, &x.Forecast, 1, 3)
		b.Nine += within(x, &x.Forecast, 0, 4)
		b.RawNine += within(x, &x.Raw, 0, 4)
	}
	if b.Checked == 0 {
		return b, ErrShort
	}
	for _, part := range []*float64{&b.Half, &b.Nine, &b.RawNine} {
		*part *= 100 / float64(b.Checked)
	}
	b.Error, b.MeanError = middle(errs)
	b.Requested, b.MeanRequested = middle(requested)
	b.Width, _ = middle(widths)
	b.Wait, _ = middle(waits)
	return b, nil
}

// middle returns the median of values, and the mean of the finite ones.
func middle(v []float64) (median, mean float64) {
	v = slices.DeleteFunc(v, math.IsNaN)
	slices.SortFunc(v, cmp.Compare)
	n := 0
	for _, x := range v {
		if !math.IsInf(x, 0) {
			mean += x
			n++
		}
	}
	return v[len(v)/2], mean / float64(max(n, 1))
}

// Predict returns forecasts of some jobs of a queue, calibrated by forecasts of the log's past. past is nil, and
// nothing is calibrated, if too few jobs of the log waited.
func (t *Twin) Predict(
	ctx context.Context, q Queue, asked []int, o Options,
) (list []Forecast, past *Backtest, err error) {
	var c correction
	if o.Trials > 0 {
		trials, last, err := t.try(ctx, q.At, o)
		if err != nil {
			return nil, nil, err
		}
		if c = last.correction(trials, q.At); c != nil {
			if b, err := summarize(trials); err == nil {
				past = &b
			}
		}
	}
	list, err = t.forecastAt(ctx, &q, asked, o, o.Progress)
	for i := range list {
		list[i] = c.apply(list[i], o.Horizon)
	}
	return list, past, err
}
