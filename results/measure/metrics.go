package measure

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/table"
)

// Metric is a number that is computed for a cell, a column of metrics.csv. Register adds a metric to the language,
// the tables, the pictures and the documentation.
type Metric struct {
	// Rank orders the columns, the lowest first.
	Rank int
	// Name is the name of the column, such as "mean_jct_s".
	Name string
	// Title is the name in texts and pictures, such as "mean JCT".
	Title string
	// Unit is "s", "jobs/h", or empty for a plain number.
	Unit string
	// Doc defines the metric in one line for the documentation.
	Doc string
	// HigherBetter is set if larger values are better.
	HigherBetter bool
	// Least and Most are the smallest and the largest possible value; a Most of 0 means no largest one.
	Least, Most float64
	// Count is set if values are whole numbers.
	Count bool
	// OfAllJobs is set if the metric includes jobs that did not finish. Cells in which different jobs failed can then
	// be compared by it.
	OfAllJobs bool
	// Rare is set if the metric's column is left out of tables in which no cell has a value.
	Rare bool
	// Shown says where the metric is shown by default.
	Shown Shown
	// Compute returns the metric's value, NaN if unknown. It must not change the totals.
	Compute func(*Totals) float64
	// EachJob is set if Compute calls Totals.Outcomes: jobs that are over are then kept in memory.
	EachJob bool
	// Grouped is set if the metric is also computed for groups of jobs. Compute then uses only the sums in Totals,
	// which are the sums of the group.
	Grouped bool
	// Unmet is set if the metric measures missed requirements of jobs. A policy with a value above 0 is not ranked
	// among those with 0.
	Unmet bool
	// OfJob returns the value of one job if the metric is a mean over the finished jobs, NaN for a job that is not
	// counted; nil for other metrics.
	OfJob func(*Outcome) float64

	at int // index in Metrics, plus one
}

// Shown has the position of a metric in each place where metrics are shown, from 1 on; 0 means that it is not shown
// there.
type Shown struct {
	// Cells is the table of all cells in the report. Summary is the summary in the terminal and in the report.
	Cells, Summary int
	// Spare is the order in which metrics are left out of a summary on a narrow terminal.
	Spare int
	// Fidelity is the order of the metrics that are compared between real cells and their simulations.
	Fidelity int
	// Panels is for pictures of the kind "metrics", Series for the kind "series".
	Panels, Series int
}

// registered are all metrics, by rank and then by name; slots is their number.
var (
	registered []Metric
	slots      int
)

// Register registers a metric and returns it. It panics if a metric with the name exists.
func Register(m Metric) Metric {
	if _, ok := MetricByName(m.Name); ok {
		panic(fmt.Sprintf("there are two metrics %q", m.Name))
	}
	slots++
	m.at = slots
	registered = append(registered, m)
	slices.SortStableFunc(registered, func(a, b Metric) int {
		if a.Rank != b.Rank {
			return a.Rank - b.Rank
		}
		return strings.Compare(a.Name, b.Name)
	})
	return m
}

// Is reports whether two metrics are the same.
func (m Metric) Is(o Metric) bool { return m.Name == o.Name }

// AllMetrics returns the metrics in the order of their columns.
func AllMetrics() []Metric { return schema.Each(registered, Metric.inCurrency) }

// EachJob reports whether some metric needs the outcome of each job.
func EachJob() bool { return slices.ContainsFunc(registered, func(m Metric) bool { return m.EachJob }) }

// ShownIn returns the metrics that are shown in a place, in order.
func ShownIn(place func(Shown) int) []Metric {
	list := slices.DeleteFunc(AllMetrics(), func(m Metric) bool { return place(m.Shown) == 0 })
	slices.SortStableFunc(list, func(a, b Metric) int { return place(a.Shown) - place(b.Shown) })
	return list
}

// Places for ShownIn.
var (
	InCells    = func(s Shown) int { return s.Cells }
	InSummary  = func(s Shown) int { return s.Summary }
	Spare      = func(s Shown) int { return s.Spare }
	InFidelity = func(s Shown) int { return s.Fidelity }
	InPanels   = func(s Shown) int { return s.Panels }
	InSeries   = func(s Shown) int { return s.Series }
)

// MetricByName returns the metric with a column name. The unit may be left out: "mean_jct" is "mean_jct_s".
func MetricByName(name string) (Metric, bool) {
	for _, m := range registered {
		if name == m.Name || name == strings.TrimSuffix(m.Name, "_s") || name == strings.TrimSuffix(m.Name, "_per_h") {
			return m.inCurrency(), true
		}
	}
	return Metric{}, false
}

// Label returns the title with the unit, as in "mean JCT (s)".
func (m Metric) Label() string {
	if m.Unit == "" {
		return m.Title
	}
	return m.Title + " (" + m.Unit + ")"
}

// Of returns the metric's value for a cell, NaN if unknown.
func (m Metric) Of(values *Metrics) float64 {
	if m.at == 0 || m.at > len(values.values) {
		return math.NaN()
	}
	return values.values[m.at-1]
}

// CountOf returns the value as a whole number, 0 if unknown.
func (m Metric) CountOf(values *Metrics) int {
	if v := m.Of(values); !math.IsNaN(v) {
		return int(v)
	}
	return 0
}

// Metrics has the values of the metrics of a cell. Means and quantiles are over the finished jobs. An unknown value
// is NaN, an empty field in metrics.csv and null in JSON. In the zero value all are unknown.
type Metrics struct{ values []float64 }

// Set sets the value of a metric.
func (v *Metrics) Set(m Metric, value float64) {
	for len(v.values) < slots {
		v.values = append(v.values, math.NaN())
	}
	v.values[m.at-1] = value
}

// Join copies the known values of `other`.
func (v *Metrics) Join(other Metrics) {
	for _, m := range registered {
		if value := m.Of(&other); !math.IsNaN(value) {
			v.Set(m, value)
		}
	}
}

// Metrics returns the metrics of the cell so far.
func (c *Collector) Metrics() Metrics {
	totals := c.totals()
	v := Metrics{values: make([]float64, slots)}
	for i := range registered {
		v.values[registered[i].at-1] = registered[i].Compute(totals)
	}
	return v
}

// Append appends the metric's value as a field of a table; nothing if it is unknown.
func (m Metric) Append(b []byte, v *Metrics) []byte {
	if m.Count {
		return strconv.AppendInt(b, int64(m.CountOf(v)), 10)
	}
	return table.AppendNumber(b, m.Of(v))
}

// Read reads the metric's value from a field.
func (m Metric) Read(v *Metrics, s string) error {
	if s == "" {
		v.Set(m, m.unknown())
		return nil
	}
	value, err := strconv.ParseFloat(s, 64)
	v.Set(m, value)
	return err
}

// unknown returns the value of an empty field.
func (m Metric) unknown() float64 {
	if m.Count {
		return 0
	}
	return math.NaN()
}

// MarshalJSON writes an object with the columns of metrics.csv in their order;
// NaN is null.
func (v Metrics) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for _, m := range registered {
		if m.Rare && math.IsNaN(m.Of(&v)) {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, m.Name), ':')
		from := len(b)
		if b = m.Append(b, &v); len(b) == from {
			b = append(b, "null"...)
		}
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads the output of MarshalJSON. A missing metric is unknown.
func (v *Metrics) UnmarshalJSON(raw []byte) error {
	var object map[string]*float64
	if err := json.Unmarshal(raw, &object); err != nil {
		return err
	}
	v.values = make([]float64, slots)
	for _, m := range registered {
		if value := object[m.Name]; value != nil {
			v.values[m.at-1] = *value
		} else {
			v.values[m.at-1] = m.unknown()
		}
	}
	return nil
}
