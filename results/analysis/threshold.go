package analysis

import (
	"fmt"
	"math"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// Judged is what a threshold bounds.
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
	// Judged is what Value is, Policy the one that it is about, empty for all, and
	// Min and Max its bounds, nil for none.
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
	rows, err := e.Estimates()
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
