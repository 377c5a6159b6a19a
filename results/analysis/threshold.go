package analysis

import (
	"fmt"
	"math"
	"strings"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// Judged is the quantity that a threshold bounds.
type Judged int

// JudgedValue is the mean of a metric over the replicates of a variant,
// JudgedFidelity the mean absolute error of its simulation, and JudgedEstimates
// the mean absolute error of the estimates.
const (
	JudgedValue Judged = iota
	JudgedFidelity
	JudgedEstimates
)

// Verdict reports whether a threshold is met, by one variant if it is about a
// metric's value.
type Verdict struct {
	Metric   string `json:"metric"`
	Workload string `json:"workload,omitempty"`
	Hardware string `json:"hardware,omitempty"`
	Variant  string `json:"variant,omitempty"`
	// Value is nil when it is not known; the threshold is then missed.
	Value *float64 `json:"value"`
	Met   bool     `json:"met"`
	// Text is "mean JCT of rr is 11.2 s (at most 12 s)".
	Text string `json:"text"`
	// Judged is the kind of Value, Policy its policy, empty for all, and Min and
	// Max its bounds, nil for none.
	Judged   Judged   `json:"-"`
	Policy   string   `json:"-"`
	Min, Max *float64 `json:"-"`
}

// Thresholds judges the declared thresholds, in the order of the file and
// then of the variants.
func Thresholds(e *record.Experiment) ([]Verdict, error) {
	var list []Verdict
	for _, t := range e.Plan.Thresholds {
		if t.Metric == record.EstimateError {
			v, err := judgeEstimates(e, t)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
			continue
		}
		m, ok := measure.MetricByName(t.Metric)
		if !ok {
			return nil, fmt.Errorf("judge thresholds: there is no metric %q", t.Metric)
		}
		if t.Min != nil || t.Max != nil {
			for _, v := range Variants(e) {
				if t.Policy != "" && v.Policy != t.Policy {
					continue
				}
				verdict := judge(stats.MeanInterval(v.Values(m), DefaultLevel).Mean, t.Min, t.Max)
				verdict.Metric, verdict.Workload, verdict.Hardware, verdict.Variant = t.Metric, v.Workload, v.Hardware, v.Label
				list = append(list, verdict)
			}
		}
		if t.FidelityPct != nil {
			list = append(list, judgeFidelity(e, t, m))
		}
	}
	for i, v := range list {
		list[i].Text = clause(e.Plan, v)
	}
	return list, nil
}

// judgeFidelity judges the error of a metric's simulation.
func judgeFidelity(e *record.Experiment, t record.Threshold, m measure.Metric) Verdict {
	var size stats.Mean
	for _, p := range Pairs(e) {
		if t.Policy == "" || p.Real.Policy == t.Policy {
			if pct := errorPct(m.Of(&p.Twin.Metrics), m.Of(&p.Real.Metrics)); stats.Finite(pct) {
				size.Add(math.Abs(pct))
			}
		}
	}
	v := judge(size.Value(), nil, t.FidelityPct)
	v.Metric, v.Judged, v.Policy = t.Metric, JudgedFidelity, t.Policy
	return v
}

// judgeEstimates judges the mean absolute error of the estimates that were used;
// models that are only there to be compared with them may be as bad as they like.
func judgeEstimates(e *record.Experiment, t record.Threshold) (Verdict, error) {
	rows, err := record.Estimates.Read(e.Dir)
	if err != nil {
		return Verdict{}, err
	}
	var size stats.Mean
	for _, r := range rows {
		if r.Role != record.EstimateCompared && stats.Finite(r.ErrorPct) {
			size.Add(math.Abs(r.ErrorPct))
		}
	}
	v := judge(size.Value(), t.Min, t.Max)
	v.Metric, v.Judged = t.Metric, JudgedEstimates
	return v, nil
}

// judge compares a value with its bounds.
func judge(value float64, low, high *float64) Verdict {
	v := Verdict{Min: low, Max: high}
	if stats.Finite(value) {
		v.Value, v.Met = &value, (low == nil || value >= *low) && (high == nil || value <= *high)
	}
	return v
}

// clause returns a verdict as a clause: "mean JCT of rr is 11.2 s (at most 12 s)".
func clause(p record.Plan, v Verdict) string {
	what, unit := "the mean absolute error of the estimates", "%"
	switch m, _ := measure.MetricByName(v.Metric); v.Judged {
	case JudgedFidelity:
		what = "the error of the simulated " + m.Title
		if v.Policy != "" {
			what += " of " + v.Policy
		}
	case JudgedValue:
		what, unit = m.Title+" of "+v.Variant, m.Unit
		if len(p.Workloads) > 1 || len(p.Hardware) > 1 {
			what += fmt.Sprintf(" (%s on %s)", v.Workload, v.Hardware)
		}
	}
	return what + bounded(v, unit)
}

// bounded is a value with its bounds: " is 11.2 s (at most 12 s)".
func bounded(v Verdict, unit string) string {
	write := func(v float64) string { return table.WithUnit(v, unit) }
	if unit == "%" {
		write = func(v float64) string { return table.Number(v) + unit }
	}
	var bounds []string
	if v.Min != nil {
		bounds = append(bounds, "at least "+write(*v.Min))
	}
	if v.Max != nil {
		bounds = append(bounds, "at most "+write(*v.Max))
	}
	asked := " (" + strings.Join(bounds, ", ") + ")"
	if v.Value == nil {
		return " is not known" + asked
	}
	return " is " + write(*v.Value) + asked
}
