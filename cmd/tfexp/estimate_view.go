package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/tfexp/tfexp/stages/estimate"
)

// seconds writes a time; "–" where it is unknown (negative).
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

// known returns a number for JSON, nil where it is unknown (negative).
func known(x float64) *float64 {
	if x < 0 || math.IsNaN(x) {
		return nil
	}
	return &x
}

// loggedRun is a run of estimate --from-log --json.
type loggedRun struct {
	File      string   `json:"file"`
	Run       string   `json:"run"`
	Rows      int      `json:"rows"` // that were looked at
	Steps     int      `json:"steps"`
	Model     string   `json:"model,omitempty"`
	Predicted *float64 `json:"predicted_s"`
	Low       *float64 `json:"low_s"`
	High      *float64 `json:"high_s"`
	Actual    *float64 `json:"actual_s"`
	Error     *float64 `json:"error_pct"`
	Linear    *float64 `json:"linear_s"` // by plain linear extrapolation
	Failed    string   `json:"failed,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`
}

type loggedRuns struct {
	Total    int                  `json:"total"`
	Fraction *float64             `json:"fraction"`
	Level    float64              `json:"level"`
	Runs     []loggedRun          `json:"runs"`
	Summary  *estimate.LogSummary `json:"summary"`
}

func logsJSON(predictions []estimate.LogPrediction, s estimate.LogSummary, total int, o estimateOptions) loggedRuns {
	out := loggedRuns{Total: total, Level: o.level, Runs: []loggedRun{}}
	if o.fraction > 0 {
		out.Fraction = &o.fraction
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

func (a *app) printLogs(
	predictions []estimate.LogPrediction, s estimate.LogSummary, total int, o estimateOptions,
) error {
	file := ""
	var t *table
	flush := func() error {
		if t == nil {
			return nil
		}
		err := t.write(a.out, "  ", a.outColor)
		t = nil
		fmt.Fprintln(a.out)
		return err
	}
	for _, p := range predictions {
		if p.Run.File != file || t == nil {
			if err := flush(); err != nil {
				return err
			}
			file = p.Run.File
			fmt.Fprintf(a.out, "%s: run times of %d steps\n", paint(a.outColor, bold, file), total)
			level := fmt.Sprintf("%g%% interval", 100*o.level)
			t = &table{left: 2, header: []string{"run", "model", "steps seen", "predicted", level, "actual", "error"}}
		}
		name := p.Run.Name
		if name == "" {
			name = "1"
		}
		if p.Err != nil {
			t.add(name, "–", fmt.Sprint(p.Steps), "–", "–", seconds(p.Actual), "–")
			fmt.Fprintf(a.err, "%s %s run %s: %s\n", paint(a.errColor, yellow, "Warning:"), file, name, p.Why())
			continue
		}
		e := "–"
		if pct, ok := p.ErrorPct(); ok {
			e = percent(pct)
		}
		t.add(name, p.Model, fmt.Sprint(p.Steps), seconds(p.Seconds), interval(p.Low, p.High), seconds(p.Actual), e)
	}
	if err := flush(); err != nil {
		return err
	}
	for _, w := range doubts(predictions) {
		fmt.Fprintf(a.err, "%s %s\n", paint(a.errColor, yellow, "Warning:"), w)
	}
	if s.Runs == 0 {
		text := "no run is finished, so the predictions cannot be compared with actual run times"
		if slices.ContainsFunc(predictions, func(p estimate.LogPrediction) bool { return p.Actual >= 0 }) {
			text = "none of the finished runs could be predicted"
		}
		fmt.Fprintln(a.out, text)
		return nil
	}
	runs := "1 run"
	if s.Runs > 1 {
		runs = fmt.Sprintf("%d runs", s.Runs)
	}
	fmt.Fprintf(a.out, "%s: mean absolute error %.1f%%, sd %.1f%%, bias %+.1f%%; "+
		"%.0f%% of runs fell inside the %g%% interval\n", runs, s.MeanAbs, s.SD, s.Bias, s.Coverage, 100*o.level)
	if s.LinearMeanAbs >= 0 {
		fmt.Fprintf(a.out, "plain linear extrapolation: mean absolute error %.1f%%\n", s.LinearMeanAbs)
	}
	if s.MedianMeanAbs >= 0 {
		fmt.Fprintf(a.out, "median of the history: mean absolute error %.1f%%\n", s.MedianMeanAbs)
	}
	return nil
}

// doubts returns the warnings of the predictions, each with the number of runs
// that have it.
func doubts(predictions []estimate.LogPrediction) []string {
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

// fittedCurve is a curve of estimate --curve --json.
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

type fittedCurves struct {
	Level   float64       `json:"level"`
	Curves  []fittedCurve `json:"curves"`
	Summary *curveSummary `json:"summary"`
}

// curveSummary is over the points that were held out of the fits, or over all
// measured points if none were.
type curveSummary struct {
	Points   int     `json:"points"`
	HeldOut  bool    `json:"held_out"`
	MeanAbs  float64 `json:"mean_absolute_error_pct"`
	Coverage float64 `json:"coverage_pct"`
}

func summarizeCurves(fits []estimate.CurveFit) *curveSummary {
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

func curvesJSON(fits []estimate.CurveFit, level float64) fittedCurves {
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

func (a *app) printCurves(fits []estimate.CurveFit, o estimateOptions) error {
	for _, f := range fits {
		title := f.File
		if f.Group != "" {
			title += " " + f.Group
		}
		fmt.Fprintf(a.out, "%s: %s, serial part %.3g", paint(a.outColor, bold, title), f.Curve.Law(), f.Curve.Sigma)
		if f.Curve.Kappa > 0 {
			fmt.Fprintf(a.out, ", coherence %.3g", f.Curve.Kappa)
		}
		if f.Curve.Limit > 0 {
			fmt.Fprintf(a.out, ", at most %.3g threads used", f.Curve.Limit)
		}
		fmt.Fprintln(a.out)
		t := table{header: []string{"threads", "predicted", fmt.Sprintf("%g%% interval", 100*o.level), "measured", "error",
			""}}
		for _, p := range f.Points {
			e, held := "–", ""
			if p.Measured > 0 {
				e = percent(100 * (p.Seconds/p.Measured - 1))
			}
			if p.Held {
				held = "held out"
			}
			t.add(fmt.Sprint(p.Threads), seconds(p.Seconds), interval(p.Low, p.High), seconds(p.Measured), e, held)
		}
		if err := t.write(a.out, "  ", a.outColor); err != nil {
			return err
		}
	}
	s := summarizeCurves(fits)
	what := "measured"
	if s.HeldOut {
		what = "held-out"
	}
	fmt.Fprintf(a.out, "\n%d %s run times: mean absolute error %.1f%%; %.0f%% of them fell inside the %g%% interval\n",
		s.Points, what, s.MeanAbs, s.Coverage, 100*o.level)
	return nil
}
