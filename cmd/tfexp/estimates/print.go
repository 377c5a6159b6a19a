package estimates

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// printer prints estimates.
type printer struct{ *show.Printer }

// seconds formats a time for people; "–" if it is negative, which means unknown.
func seconds(s float64) string {
	switch {
	case s < 0 || math.IsNaN(s):
		return "–"
	case s >= 100:
		return fmt.Sprintf("%.0f s", s)
	}
	return fmt.Sprintf("%.3g s", s)
}

func interval(low, high float64) string {
	if low < 0 || high < 0 {
		return "–"
	}
	return seconds(low) + " … " + seconds(high)
}

func percent(p float64) string { return fmt.Sprintf("%+.1f%%", p) }

// known returns a number for JSON; nil if it is negative, which means unknown.
func known(x float64) *float64 {
	if x < 0 || math.IsNaN(x) {
		return nil
	}
	return &x
}

// loggedRun is an entry in the output of estimate --from-log --json.
type loggedRun struct {
	File      string   `json:"file"`
	Run       string   `json:"run"`
	Rows      int      `json:"rows"` // rows that were used
	Steps     int      `json:"steps"`
	Model     string   `json:"model,omitempty"`
	Predicted *float64 `json:"predicted_s"`
	Low       *float64 `json:"low_s"`
	High      *float64 `json:"high_s"`
	Actual    *float64 `json:"actual_s"`
	Error     *float64 `json:"error_pct"`
	Linear    *float64 `json:"linear_s"` // by linear extrapolation
	Failed    string   `json:"failed,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`
}

// loggedRuns is the output of estimate --from-log --json.
type loggedRuns struct {
	Total    int         `json:"total"`
	Fraction *float64    `json:"fraction"`
	Level    float64     `json:"level"`
	Runs     []loggedRun `json:"runs"`
	Summary  *LogSummary `json:"summary"`
}

// logsAsJSON returns the output of estimate --from-log --json. A fraction of 0 means the default.
func logsAsJSON(predictions []LogPrediction, s LogSummary, total int, fraction,
	level float64) loggedRuns {
	out := loggedRuns{Total: total, Level: level, Runs: []loggedRun{}}
	if fraction > 0 {
		out.Fraction = &fraction
	}
	if s.Runs > 0 {
		out.Summary = &s
	}
	for _, p := range predictions {
		r := loggedRun{
			File: p.Run.File, Run: p.Run.Name, Rows: p.Rows, Steps: p.Steps, Model: p.Model,
			Predicted: known(p.Seconds), Low: known(p.Low), High: known(p.High),
			Actual: known(p.Actual), Linear: known(p.Linear), Failed: p.Why(), Warnings: p.Warnings,
		}
		if e, ok := p.ErrorPct(); ok {
			r.Error = &e
		}
		out.Runs = append(out.Runs, r)
	}
	return out
}

// logs prints the predictions of logged runs.
func (p printer) logs(
	predictions []LogPrediction, s LogSummary, total int, level float64,
) error {
	file := ""
	var t *table.Table
	within := fmt.Sprintf("%g%% interval", 100*level)
	flush := func() error {
		if t == nil {
			return nil
		}
		err := t.Write(p.Out, "  ", p.Color)
		t = nil
		fmt.Fprintln(p.Out)
		return err
	}
	for _, q := range predictions {
		if q.Run.File != file || t == nil {
			if err := flush(); err != nil {
				return err
			}
			file = q.Run.File
			fmt.Fprintf(p.Out, "%s: run times of %d steps\n", p.Paint(table.Bold, file), total)
			one := table.New(2, "run", "model", "steps seen", "predicted", within, "actual", "error")
			t = &one
		}
		name := q.Run.Name
		if name == "" {
			name = "1"
		}
		if q.Err != nil {
			t.Add(name, "–", fmt.Sprint(q.Steps), "–", "–", seconds(q.Actual), "–")
			p.Warn("%s run %s: %s", file, name, q.Why())
			continue
		}
		e := "–"
		if pct, ok := q.ErrorPct(); ok {
			e = percent(pct)
		}
		t.Add(name, q.Model, fmt.Sprint(q.Steps), seconds(q.Seconds), interval(q.Low, q.High), seconds(q.Actual), e)
	}
	if err := flush(); err != nil {
		return err
	}
	for _, w := range doubts(predictions) {
		p.Warn("%s", w)
	}
	if s.Runs == 0 {
		text := "no run is finished, so the predictions cannot be compared with actual run times"
		if slices.ContainsFunc(predictions, func(p LogPrediction) bool { return p.Actual >= 0 }) {
			text = "none of the finished runs could be predicted"
		}
		fmt.Fprintln(p.Out, text)
		return nil
	}
	runs := "1 run"
	if s.Runs > 1 {
		runs = fmt.Sprintf("%d runs", s.Runs)
	}
	fmt.Fprintf(p.Out, "%s: mean absolute error %.1f%%, sd %.1f%%, bias %+.1f%%; "+
		"%.0f%% of runs fell inside the %g%% interval\n", runs, s.MeanAbs, s.SD, s.Bias, s.Coverage, 100*level)
	if s.LinearMeanAbs >= 0 {
		fmt.Fprintf(p.Out, "plain linear extrapolation: mean absolute error %.1f%%\n", s.LinearMeanAbs)
	}
	if s.MedianMeanAbs >= 0 {
		fmt.Fprintf(p.Out, "median of the history: mean absolute error %.1f%%\n", s.MedianMeanAbs)
	}
	return nil
}

// doubts returns the predictions' warnings, each with the number of runs that it concerns.
func doubts(predictions []LogPrediction) []string {
	var texts []string
	count := map[string]int{}
	for _, p := range predictions {
		for _, w := range p.Warnings {
			if count[w]++; count[w] == 1 {
				texts = append(texts, w)
			}
		}
	}
	for i, w := range texts {
		if n := count[w]; n > 1 {
			texts[i] = fmt.Sprintf("%s (%d runs)", w, n)
		}
	}
	return texts
}

// fittedCurve is an entry in the output of estimate --curve --json.
type fittedCurve struct {
	File   string       `json:"file"`
	Group  string       `json:"group,omitempty"`
	Law    string       `json:"law"`
	Sigma  float64      `json:"sigma"`
	Kappa  float64      `json:"kappa"`
	Limit  float64      `json:"limit,omitempty"`
	Points []curvePoint `json:"points"`
}

type curvePoint struct {
	Threads   int      `json:"threads"`
	Predicted float64  `json:"predicted_s"`
	Low       *float64 `json:"low_s"`
	High      *float64 `json:"high_s"`
	Measured  *float64 `json:"measured_s"`
	Error     *float64 `json:"error_pct"`
	Held      bool     `json:"held_out"`
}

// fittedCurves is the output of estimate --curve --json.
type fittedCurves struct {
	Level   float64       `json:"level"`
	Curves  []fittedCurve `json:"curves"`
	Summary *curveSummary `json:"summary"`
}

// curveSummary summarizes the errors at the points that were excluded from the fits. If no point was excluded, it
// covers all measured points.
type curveSummary struct {
	Points   int     `json:"points"`
	HeldOut  bool    `json:"held_out"`
	MeanAbs  float64 `json:"mean_absolute_error_pct"`
	Coverage float64 `json:"coverage_pct"`
}

func summarizeCurves(fits []CurveFit) *curveSummary {
	var held, all curveSummary
	held.HeldOut = true
	for _, f := range fits {
		for _, p := range f.Points {
			if p.Measured <= 0 {
				continue
			}
			sums := []*curveSummary{&all}
			if p.Held {
				sums = append(sums, &held)
			}
			for _, s := range sums {
				s.Points++
				s.MeanAbs += 100 * math.Abs(p.Seconds/p.Measured-1)
				if p.Low <= p.Measured && p.Measured <= p.High {
					s.Coverage += 100
				}
			}
		}
	}
	s := &held
	if held.Points == 0 {
		s = &all
	}
	s.MeanAbs, s.Coverage = s.MeanAbs/float64(s.Points), s.Coverage/float64(s.Points)
	return s
}

// curvesAsJSON returns the output of estimate --curve --json.
func curvesAsJSON(fits []CurveFit, level float64) fittedCurves {
	out := fittedCurves{Level: level, Summary: summarizeCurves(fits)}
	for _, f := range fits {
		c := fittedCurve{File: f.File, Group: f.Group, Law: f.Curve.Law(), Sigma: f.Curve.Sigma, Kappa: f.Curve.Kappa,
			Limit: f.Curve.Limit}
		for _, p := range f.Points {
			q := curvePoint{Threads: p.Threads, Predicted: p.Seconds, Low: known(p.Low), High: known(p.High),
				Measured: known(p.Measured), Held: p.Held}
			if p.Measured > 0 {
				e := 100 * (p.Seconds/p.Measured - 1)
				q.Error = &e
			}
			c.Points = append(c.Points, q)
		}
		out.Curves = append(out.Curves, c)
	}
	return out
}

// curves prints fitted curves and the run times that they predict.
func (p printer) curves(fits []CurveFit, level float64) error {
	for _, f := range fits {
		title := f.File
		if f.Group != "" {
			title += " " + f.Group
		}
		fmt.Fprintf(p.Out, "%s: %s, serial part %.3g", p.Paint(table.Bold, title), f.Curve.Law(), f.Curve.Sigma)
		if f.Curve.Kappa > 0 {
			fmt.Fprintf(p.Out, ", coherence %.3g", f.Curve.Kappa)
		}
		if f.Curve.Limit > 0 {
			fmt.Fprintf(p.Out, ", at most %.3g threads used", f.Curve.Limit)
		}
		fmt.Fprintln(p.Out)
		t := table.New(0, "threads", "predicted", fmt.Sprintf("%g%% interval", 100*level), "measured", "error",
			"")
		for _, q := range f.Points {
			e, held := "–", ""
			if q.Measured > 0 {
				e = percent(100 * (q.Seconds/q.Measured - 1))
			}
			if q.Held {
				held = "held out"
			}
			t.Add(fmt.Sprint(q.Threads), seconds(q.Seconds), interval(q.Low, q.High), seconds(q.Measured), e, held)
		}
		if err := t.Write(p.Out, "  ", p.Color); err != nil {
			return err
		}
	}
	s := summarizeCurves(fits)
	what := "measured"
	if s.HeldOut {
		what = "held-out"
	}
	fmt.Fprintf(p.Out, "\n%d %s run times: mean absolute error %.1f%%; %.0f%% of them fell inside the %g%% interval\n",
		s.Points, what, s.MeanAbs, s.Coverage, 100*level)
	return nil
}

// experimentEstimates are the estimates of an experiment.
type experimentEstimates struct {
	Experiment string               `json:"experiment"`
	Dir        string               `json:"dir"`
	Estimates  []record.EstimateRow `json:"estimates"`
}

// estimatesOf reads the estimates of the experiments in dirs.
func estimatesOf(dirs []string) ([]experimentEstimates, error) {
	list := []experimentEstimates{}
	for _, d := range dirs {
		e, err := record.Open(d)
		if err != nil {
			return nil, err
		}
		rows, err := record.Estimates.Read(e.Dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		list = append(list, experimentEstimates{e.Plan.Experiment, d, append([]record.EstimateRow{}, rows...)})
	}
	return list, nil
}

// estimates prints the estimates of experiments.
func (p printer) estimates(list []experimentEstimates) error {
	for i, e := range list {
		if i > 0 {
			fmt.Fprintln(p.Out)
		}
		fmt.Fprintf(p.Out, "%s (%s)\n", p.Paint(table.Bold, e.Experiment), e.Dir)
		if len(e.Estimates) == 0 {
			fmt.Fprintln(p.Out, "  no estimates: its jobs are not profiled, or profiling failed")
			continue
		}
		t := table.New(2, "job", "model", "threads", "samples", "predicted", "interval", "actual",
			"error")
		for _, r := range e.Estimates {
			e := "–"
			if !math.IsNaN(r.ErrorPct) {
				e = percent(r.ErrorPct)
			}
			t.Add(r.Job, r.Model, fmt.Sprint(r.Threads), fmt.Sprint(r.Samples), seconds(r.Predicted), interval(r.Low, r.High),
				seconds(r.Actual), e)
		}
		if err := t.Write(p.Out, "  ", p.Color); err != nil {
			return err
		}
	}
	return nil
}
