package measure

import (
	"github.com/tfexp/tfexp/results/table"
	"strings"
)

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

// Columns are the columns of a Metrics in the order of metrics.csv.
var Columns = []table.Column[Metrics]{
	table.Int("jobs", func(m *Metrics) *int { return &m.Jobs }),
	table.Int("finished", func(m *Metrics) *int { return &m.Finished }),
	table.Int("failed", func(m *Metrics) *int { return &m.Failed }),
	table.Float("makespan_s", func(m *Metrics) *float64 { return &m.Makespan }),
	table.Float("throughput_per_h", func(m *Metrics) *float64 { return &m.ThroughputPerHour }),
	table.Float("utilization", func(m *Metrics) *float64 { return &m.Utilization }),
	table.Float("mean_jct_s", func(m *Metrics) *float64 { return &m.MeanJCT }),
	table.Float("median_jct_s", func(m *Metrics) *float64 { return &m.MedianJCT }),
	table.Float("p95_jct_s", func(m *Metrics) *float64 { return &m.P95JCT }),
	table.Float("mean_waiting_s", func(m *Metrics) *float64 { return &m.MeanWaiting }),
	table.Float("mean_first_run_delay_s", func(m *Metrics) *float64 { return &m.MeanFirstRunDelay }),
	table.Float("mean_service_s", func(m *Metrics) *float64 { return &m.MeanService }),
	table.Float("mean_slowdown", func(m *Metrics) *float64 { return &m.MeanSlowdown }),
	table.Float("p95_slowdown", func(m *Metrics) *float64 { return &m.P95Slowdown }),
	table.Float("jain_fairness", func(m *Metrics) *float64 { return &m.JainFairness }),
	table.Int("preemptions", func(m *Metrics) *int { return &m.Preemptions }),
	table.Int("resizes", func(m *Metrics) *int { return &m.Resizes }),
	table.Float("mean_bounded_slowdown", func(m *Metrics) *float64 { return &m.MeanBoundedSlowdown }),
	table.Float("gpu_utilization", func(m *Metrics) *float64 { return &m.GPUUtilization }),
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
func (m Metrics) MarshalJSON() ([]byte, error) { return table.MarshalRow(Columns, &m) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *Metrics) UnmarshalJSON(raw []byte) error { return table.UnmarshalRow(Columns, raw, m) }

// Metrics is a row of metrics.csv without the cell's own columns. Means and
// quantiles are over the finished jobs; what is not known is NaN, which is an
// empty field and a JSON null. Failed counts the jobs that ended without
// finishing. The makespan goes to the last end of any job.
type Metrics struct {
	Jobs              int     `json:"jobs"`
	Finished          int     `json:"finished"`
	Failed            int     `json:"failed"`
	Makespan          float64 `json:"makespan_s"`
	ThroughputPerHour float64 `json:"throughput_per_h"`
	Utilization       float64 `json:"utilization"`
	MeanJCT           float64 `json:"mean_jct_s"`
	MedianJCT         float64 `json:"median_jct_s"`
	P95JCT            float64 `json:"p95_jct_s"`
	MeanWaiting       float64 `json:"mean_waiting_s"`
	MeanFirstRunDelay float64 `json:"mean_first_run_delay_s"`
	MeanService       float64 `json:"mean_service_s"`
	MeanSlowdown      float64 `json:"mean_slowdown"`
	P95Slowdown       float64 `json:"p95_slowdown"`
	JainFairness      float64 `json:"jain_fairness"`
	Preemptions       int     `json:"preemptions"`
	Resizes           int     `json:"resizes"`
	// MeanBoundedSlowdown is over the same jobs as MeanSlowdown.
	MeanBoundedSlowdown float64 `json:"mean_bounded_slowdown"`
	// GPUUtilization is NaN on hardware without GPUs.
	GPUUtilization float64 `json:"gpu_utilization"`
}
