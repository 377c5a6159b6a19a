package experiment

import "github.com/tfexp/tfexp/experiments/schema"

// Reference is published numbers to show next to the experiment's own.
type Reference struct {
	Name string `json:"name"`
	File string `json:"file"`
	Doc  string `json:"doc,omitempty"`
	// RelativeTo is the policy by whose metrics the numbers are divided; empty for none.
	RelativeTo string         `json:"relative_to,omitempty"`
	Rows       []ReferenceRow `json:"rows"`
}

// ReferenceRow is some numbers of the cells at some values of axes; also "workload", "hardware", "policy" and
// "replicate".
type ReferenceRow struct {
	At     []schema.Setting `json:"at"`
	Values []ReferenceValue `json:"values"`
}

// ReferenceValue is the value of a metric.
type ReferenceValue struct {
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
}
