package prose

import (
	"fmt"
	"strings"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// Verdict is a verdict on a threshold with a text for people.
type Verdict struct {
	analysis.Verdict
	// Text is "mean JCT of rr is 11.2 s (at most 12 s)".
	Text string `json:"text"`
}

// Thresholds judges the declared thresholds; see analysis.Thresholds.
func Thresholds(e *record.Experiment) ([]Verdict, error) {
	verdicts, err := analysis.Thresholds(e)
	var list []Verdict
	for _, v := range verdicts {
		list = append(list, Verdict{v, Threshold(e.Plan, v)})
	}
	return list, err
}

// Threshold returns a verdict as a clause: "mean JCT of rr is 11.2 s (at most 12 s)".
func Threshold(p record.Plan, v analysis.Verdict) string {
	what, unit := "the mean absolute error of the estimates", "%"
	switch m, _ := measure.MetricByName(v.Metric); v.Judged {
	case analysis.JudgedFidelity:
		what = "the error of the simulated " + m.Title
		if v.Policy != "" {
			what += " of " + v.Policy
		}
	case analysis.JudgedValue:
		what, unit = m.Title+" of "+v.Variant, m.Unit
		if len(p.Workloads) > 1 || len(p.Hardware) > 1 {
			what += fmt.Sprintf(" (%s on %s)", v.Workload, v.Hardware)
		}
	}
	return what + bounded(v, unit)
}

// bounded is a value with its bounds: " is 11.2 s (at most 12 s)".
func bounded(v analysis.Verdict, unit string) string {
	if unit != "" && unit != "%" {
		unit = " " + unit
	}
	var bounds []string
	if v.Min != nil {
		bounds = append(bounds, "at least "+Number(*v.Min)+unit)
	}
	if v.Max != nil {
		bounds = append(bounds, "at most "+Number(*v.Max)+unit)
	}
	asked := " (" + strings.Join(bounds, ", ") + ")"
	if v.Value == nil {
		return " is not known" + asked
	}
	return " is " + Number(*v.Value) + unit + asked
}
