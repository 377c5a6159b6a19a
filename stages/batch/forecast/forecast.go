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

// Options set the amount of simulation.
type Options struct {
	// Futures is how often a queue is simulated (one of the past a quarter as often), Horizon how far.
	Futures int
	Horizon time.Duration // 0: see Complete
	// Trials is the number of past instants at which forecasts are compared with the actual starts.
	Trials int
	Seed   int64
	// Progress receives how many queues of the past have been simulated, or ("futures") futures of the present one. It
	// may be nil.
	Progress Progress
}

// Progress receives how much of something is done.
type Progress func(what string, done, all int)

// Complete returns the options with a horizon: three times the longest wait of the log, if none is given.
func (o Options) Complete(t *Twin) Options {
	if o.Horizon == 0 {
		o.Horizon = t.horizonOf()
	}
	return o
}

// levels are the quantiles of a forecast: the median, and the ends of the intervals of 50% and 90%.
var levels = [5]float64{0.05, 0.25, 0.5, 0.75, 0.95}

// Forecast is the wait of a job from now on.
type Forecast struct {
	// Seconds are the quantiles of the wait at 5, 25, 50, 75 and 95%; infinite beyond the horizon.
	Seconds [5]float64
	// Within is the part of the futures in which the job starts within the horizon.
	Within float64
	// Requested is the wait if all jobs used up the time that they asked for and none arrived.
	Requested float64
}

// forecastAt makes the forecasts of some jobs of a queue.
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

// rank is the index of the quantile of a level among n sorted values.
func rank(level float64, n int) int {
	return min(max(int(math.Ceil(level*float64(n+1)))-1, 0), n-1)
}

// Trial is a forecast of the past, with the actual start.
type Trial struct {
	Job      string
	At       time.Duration // on the log's clock
	Raw      Forecast
	Forecast Forecast // calibrated by the trials whose outcome was known; as Raw where they were too few
	Actual   float64  // seconds of its wait from then on
	Checked  bool     // it is calibrated
}

const (
	// settle is the time after its submission at which a trial forecasts a job, if it still waits.
	settle = time.Minute
	// beside is how many other waiting jobs are forecast with it.
	beside = 3
	// fewest trials calibrate a forecast.
	fewest = 30
	// early is the part of the log that is only learned from.
	early = 0.1
	// grain is the least scale of a forecast's error, in seconds; share is the part of a wait that adds to it.
	grain = 30.0
	share = 0.1
	// latest bounds the outcomes that calibrate a forecast: the last ones.
	latest = 400
	// pace is how far an outcome moves a quantile, in units of the scale.
	pace = 0.05
)

// try makes forecasts at instants of the log, up to a given one, and compares them with the actual starts.
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

// asks reports whether a job waits at an instant, and may start then.
func asks(j *logged, at time.Duration) bool {
	s := j.Submission()
	return j.start > at && j.start < never && (s == nil || s.Begin <= at)
}

// inLog returns the places in the log of the jobs that QueueAt returns.
func (t *Twin) inLog(at time.Duration) (list []int) {
	for i := range t.log {
		if j := &t.log[i]; j.Arrival <= at && j.start < never && j.end > at {
			list = append(list, i)
		}
	}
	return list
}

// correction is the error of the forecasts' quantiles, as logarithms; nil if unknown.
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
		// Jobs that wait at the same instant fare alike: what counts is how many instants there are.
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

// correction is the calibration by the trials whose outcome is known at an instant, moved by how these turned out.
// Instants never decrease.
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
			if level == 0.5 { // it would only be less sure
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

// known returns when the outcome is known.
func (x *Trial) known() time.Duration { return x.At + time.Duration(x.Actual*1e9) }

// scale is the expected error of a forecast: the width of its 90% interval, and a part of the wait.
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

// apply corrects a forecast. Quantiles beyond the horizon stay there.
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
	// MeanError and MeanRequested are their means, where the forecasts are within the horizon.
	MeanError     float64 `json:"mean_error_s"`
	MeanRequested float64 `json:"requested_mean_error_s"`
	// Half and Nine are the parts of the outcomes within the intervals of 50% and 90%, in percent; RawNine before the
	// calibration.
	Half    float64 `json:"in_50_percent"`
	Nine    float64 `json:"in_90_percent"`
	RawNine float64 `json:"in_90_percent_uncalibrated"`
	// Width is the median width of the intervals of 90%, Wait the median of the outcomes.
	Width float64 `json:"median_width_90_s"`
	Wait  float64 `json:"median_wait_s"`
}

// ErrShort is returned where the log has too few jobs that waited.
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

// middle returns the median, and the mean of those that are finite.
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

// Predict makes forecasts of some jobs of a queue, calibrated by forecasts of the log's past. past is nil where the log
// has too few jobs that waited: then the forecasts are not calibrated.
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
