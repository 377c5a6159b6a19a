package results

import "strings"

// Metric describes one numeric column of metrics.csv.
type Metric struct {
	// Name is the column: "mean_jct_s".
	Name string
	// Title is for people: "mean JCT".
	Title string
	// Unit is "s", "jobs/h", or empty for a plain number.
	Unit string
	// HigherBetter says in which direction the metric improves.
	HigherBetter bool
	// Of reads the metric; NaN when it is not known.
	Of func(*Metrics) float64
}

// metricColumns are the columns of a Metrics in the order of metrics.csv.
var metricColumns = []column[Metrics]{
	intColumn("jobs", func(m *Metrics) *int { return &m.Jobs }),
	intColumn("finished", func(m *Metrics) *int { return &m.Finished }),
	intColumn("failed", func(m *Metrics) *int { return &m.Failed }),
	floatColumn("makespan_s", func(m *Metrics) *float64 { return &m.Makespan }),
	floatColumn("throughput_per_h", func(m *Metrics) *float64 { return &m.ThroughputPerHour }),
	floatColumn("utilization", func(m *Metrics) *float64 { return &m.Utilization }),
	floatColumn("mean_jct_s", func(m *Metrics) *float64 { return &m.MeanJCT }),
	floatColumn("median_jct_s", func(m *Metrics) *float64 { return &m.MedianJCT }),
	floatColumn("p95_jct_s", func(m *Metrics) *float64 { return &m.P95JCT }),
	floatColumn("mean_waiting_s", func(m *Metrics) *float64 { return &m.MeanWaiting }),
	floatColumn("mean_first_run_delay_s", func(m *Metrics) *float64 { return &m.MeanFirstRunDelay }),
	floatColumn("mean_service_s", func(m *Metrics) *float64 { return &m.MeanService }),
	floatColumn("mean_slowdown", func(m *Metrics) *float64 { return &m.MeanSlowdown }),
	floatColumn("p95_slowdown", func(m *Metrics) *float64 { return &m.P95Slowdown }),
	floatColumn("jain_fairness", func(m *Metrics) *float64 { return &m.JainFairness }),
	intColumn("preemptions", func(m *Metrics) *int { return &m.Preemptions }),
	intColumn("resizes", func(m *Metrics) *int { return &m.Resizes }),
	floatColumn("mean_bounded_slowdown", func(m *Metrics) *float64 { return &m.MeanBoundedSlowdown }),
	floatColumn("gpu_utilization", func(m *Metrics) *float64 { return &m.GPUUtilization }),
}

// AllMetrics lists the metrics in the order of their columns.
func AllMetrics() []Metric {
	return []Metric{
		{"jobs", "jobs", "", true, func(m *Metrics) float64 { return float64(m.Jobs) }},
		{"finished", "finished jobs", "", true, func(m *Metrics) float64 { return float64(m.Finished) }},
		{"failed", "failed jobs", "", false, func(m *Metrics) float64 { return float64(m.Failed) }},
		{"makespan_s", "makespan", "s", false, func(m *Metrics) float64 { return m.Makespan }},
		{"throughput_per_h", "throughput", "jobs/h", true, func(m *Metrics) float64 { return m.ThroughputPerHour }},
		{"utilization", "utilization", "", true, func(m *Metrics) float64 { return m.Utilization }},
		{"mean_jct_s", "mean JCT", "s", false, func(m *Metrics) float64 { return m.MeanJCT }},
		{"median_jct_s", "median JCT", "s", false, func(m *Metrics) float64 { return m.MedianJCT }},
		{"p95_jct_s", "p95 JCT", "s", false, func(m *Metrics) float64 { return m.P95JCT }},
		{"mean_waiting_s", "mean waiting time", "s", false, func(m *Metrics) float64 { return m.MeanWaiting }},
		{"mean_first_run_delay_s", "mean first-run delay", "s", false, func(m *Metrics) float64 { return m.MeanFirstRunDelay }},
		{"mean_service_s", "mean service time", "s", false, func(m *Metrics) float64 { return m.MeanService }},
		{"mean_slowdown", "mean slowdown", "", false, func(m *Metrics) float64 { return m.MeanSlowdown }},
		{"p95_slowdown", "p95 slowdown", "", false, func(m *Metrics) float64 { return m.P95Slowdown }},
		{"jain_fairness", "Jain fairness", "", true, func(m *Metrics) float64 { return m.JainFairness }},
		{"preemptions", "preemptions", "", false, func(m *Metrics) float64 { return float64(m.Preemptions) }},
		{"resizes", "resizes", "", false, func(m *Metrics) float64 { return float64(m.Resizes) }},
		{"mean_bounded_slowdown", "mean bounded slowdown", "", false, func(m *Metrics) float64 { return m.MeanBoundedSlowdown }},
		{"gpu_utilization", "GPU utilization", "", true, func(m *Metrics) float64 { return m.GPUUtilization }},
	}
}

// MetricByName finds a metric by its column, or by the column without its
// unit: "mean_jct" is "mean_jct_s".
func MetricByName(name string) (Metric, bool) {
	for _, m := range AllMetrics() {
		if name == m.Name || name == strings.TrimSuffix(m.Name, "_s") || name == strings.TrimSuffix(m.Name, "_per_h") {
			return m, true
		}
	}
	return Metric{}, false
}

// MarshalJSON writes the columns of metrics.csv; NaN is null.
func (m Metrics) MarshalJSON() ([]byte, error) { return marshalRow(metricColumns, &m) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *Metrics) UnmarshalJSON(raw []byte) error { return unmarshalRow(metricColumns, raw, m) }
