package results

import (
	"fmt"
	"math"
	"strings"

	"github.com/tfexp/tfexp/results/stats"
)

// Threshold is a bound that an experiment's results must keep. A bound that is
// nil is none.
type Threshold struct {
	// Metric is a column of metrics.csv, or EstimateError.
	Metric string `json:"metric"`
	// Policy is the one that it is about; empty for all.
	Policy string `json:"policy,omitempty"`
	// Min and Max bound the mean over the replicates of a variant; FidelityPct the
	// mean absolute error_pct of fidelity.csv.
	Min         *float64 `json:"min,omitempty"`
	Max         *float64 `json:"max,omitempty"`
	FidelityPct *float64 `json:"fidelity_pct,omitempty"`
}

// EstimateError is the threshold that is about estimates.csv: the mean
// absolute error_pct of the rows that are used.
const EstimateError = "estimate_error_pct"

// Verdict says whether a threshold is met, by one variant if it is about a
// metric's value.
type Verdict struct {
	Metric   string `json:"metric"`
	Workload string `json:"workload,omitempty"`
	Hardware string `json:"hardware,omitempty"`
	Variant  string `json:"variant,omitempty"`
	// Value is nil when it cannot be told; the threshold is then missed.
	Value *float64 `json:"value"`
	Met   bool     `json:"met"`
	// Text is for people: "mean JCT of rr is 11.2 s (at most 12 s)".
	Text string `json:"text"`
}

// Thresholds judges the declared thresholds, in the order of the file and
// then of the variants.
func (e *Experiment) Thresholds() ([]Verdict, error) {
	var list []Verdict
	for _, t := range e.Plan.Thresholds {
		if t.Metric == EstimateError {
			v, err := e.judgeEstimates(t)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
			continue
		}
		m, ok := MetricByName(t.Metric)
		if !ok {
			return nil, fmt.Errorf("judge thresholds: there is no metric %q", t.Metric)
		}
		if t.Min != nil || t.Max != nil {
			for _, v := range e.Variants() {
				if t.Policy != "" && v.Policy != t.Policy {
					continue
				}
				who := v.Label
				if len(e.Plan.Workloads) > 1 || len(e.Plan.Hardware) > 1 {
					who += fmt.Sprintf(" (%s on %s)", v.Workload, v.Hardware)
				}
				verdict := judge(m.Title+" of "+who, stats.MeanInterval(v.Values(m), DefaultLevel).Mean, m.Unit, t.Min, t.Max)
				verdict.Metric, verdict.Workload, verdict.Hardware, verdict.Variant = t.Metric, v.Workload, v.Hardware, v.Label
				list = append(list, verdict)
			}
		}
		if t.FidelityPct != nil {
			list = append(list, e.judgeFidelity(t, m))
		}
	}
	return list, nil
}

// judgeFidelity judges the error of a metric's simulation.
func (e *Experiment) judgeFidelity(t Threshold, m Metric) Verdict {
	var size mean
	for _, p := range e.Pairs() {
		if t.Policy == "" || p.Real.Policy == t.Policy {
			if pct := errorPct(m.Of(&p.Twin.Metrics), m.Of(&p.Real.Metrics)); finite(pct) {
				size.add(math.Abs(pct))
			}
		}
	}
	of := m.Title
	if t.Policy != "" {
		of += " of " + t.Policy
	}
	v := judge("the error of the simulated "+of, size.value(), "%", nil, t.FidelityPct)
	v.Metric = t.Metric
	return v
}

// judgeEstimates judges the mean absolute error of the estimates that were used;
// models that are only there to be compared with them may be as bad as they like.
func (e *Experiment) judgeEstimates(t Threshold) (Verdict, error) {
	rows, err := e.Estimates()
	if err != nil {
		return Verdict{}, err
	}
	var size mean
	for _, r := range rows {
		if r.Role != EstimateCompared && finite(r.ErrorPct) {
			size.add(math.Abs(r.ErrorPct))
		}
	}
	v := judge("the mean absolute error of the estimates", size.value(), "%", t.Min, t.Max)
	v.Metric = t.Metric
	return v, nil
}

// judge holds a value against its bounds.
func judge(what string, value float64, unit string, low, high *float64) Verdict {
	if unit != "" && unit != "%" {
		unit = " " + unit
	}
	var bounds []string
	if low != nil {
		bounds = append(bounds, "at least "+FormatNumber(*low)+unit)
	}
	if high != nil {
		bounds = append(bounds, "at most "+FormatNumber(*high)+unit)
	}
	asked := " (" + strings.Join(bounds, ", ") + ")"
	if !finite(value) {
		return Verdict{Text: what + " is not known" + asked}
	}
	return Verdict{
		Value: &value, Met: (low == nil || value >= *low) && (high == nil || value <= *high),
		Text: what + " is " + FormatNumber(value) + unit + asked,
	}
}
