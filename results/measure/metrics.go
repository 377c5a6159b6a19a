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

// Metric is a number computed for a cell: a column of metrics.csv. Register
// adds one; the language, the tables, the pictures and the documentation list
// the registered ones.
type Metric struct {
	// Rank is its place among the columns, the lowest first.
	Rank int
	// Name is the column: "mean_jct_s".
	Name string
	// Title is for people: "mean JCT".
	Title string
	// Unit is "s", "jobs/h", or empty for a plain number.
	Unit string
	// Doc defines it in one line, for the documentation.
	Doc string
	// HigherBetter reports in which direction the metric improves.
	HigherBetter bool
	// Least and Most are its least and largest possible value; 0: it has no largest one.
	Least, Most float64
	// Count reports that its values are whole numbers.
	Count bool
	// OfAllJobs reports that it is over all jobs, whether they finished or not: cells in which different jobs failed can be
	// compared by it.
	OfAllJobs bool
	// Rare metrics have a column only in tables in which they are known of some cell.
	Rare bool
	// Shown is where it appears by default.
	Shown Shown
	// Compute returns its value; NaN when it is unknown. It must not change the
	// totals.
	Compute func(*Totals) float64
	// EachJob reports that Compute calls Totals.Outcomes: then no cell drops jobs that are over.
	EachJob bool
	// Grouped metrics are also known of each class of jobs, of each user and of each size: Compute
	// then looks at the sums of Totals alone, which are the sums of the group.
	Grouped bool
	// Unmet metrics measure missed requirements of jobs: a policy with a value above 0 is not ranked among those
	// that have none.
	Unmet bool
	// OfJob is set for a mean over the finished jobs: the value of one job. It is NaN for a job that is not
	// counted.
	OfJob func(*Outcome) float64

	at int // its place in Metrics, plus one
}

// Shown is where a metric appears by default: its place there from 1 on; 0 if
// it does not.
type Shown struct {
	// Cells is the table of all cells in the report. Summary is the summary, on the
	// terminal and in the report; its metrics are in the table of cells, too.
	Cells, Summary int
	// Spare metrics are left out of a summary on a narrow terminal, in this order.
	Spare int
	// Fidelity metrics are compared between real cells and their simulations, the
	// most important first.
	Fidelity int
	// Panels are the pictures "metrics", Series the pictures "series".
	Panels, Series int
}

// registered are all metrics, by rank and then by name; slots counts them.
var (
	registered []Metric
	slots      int
)

// Register adds a metric, and returns it as it is registered. It panics when one
// of that name exists.
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

// AllMetrics lists the metrics in the order of their columns.
func AllMetrics() []Metric { return schema.Each(registered, Metric.inCurrency) }

// EachJob reports whether a metric needs the outcome of each job.
func EachJob() bool { return slices.ContainsFunc(registered, func(m Metric) bool { return m.EachJob }) }

// ShownIn lists the metrics that have a place somewhere, in its order.
func ShownIn(place func(Shown) int) []Metric {
	list := slices.DeleteFunc(AllMetrics(), func(m Metric) bool { return place(m.Shown) == 0 })
	slices.SortStableFunc(list, func(a, b Metric) int { return place(a.Shown) - place(b.Shown) })
	return list
}

// Places of metrics, for ShownIn.
var (
	InCells    = func(s Shown) int { return s.Cells }
	InSummary  = func(s Shown) int { return s.Summary }
	Spare      = func(s Shown) int { return s.Spare }
	InFidelity = func(s Shown) int { return s.Fidelity }
	InPanels   = func(s Shown) int { return s.Panels }
	InSeries   = func(s Shown) int { return s.Series }
)

// MetricByName finds a metric by its column, or by the column without its
// unit: "mean_jct" is "mean_jct_s".
func MetricByName(name string) (Metric, bool) {
	for _, m := range registered {
		if name == m.Name || name == strings.TrimSuffix(m.Name, "_s") || name == strings.TrimSuffix(m.Name, "_per_h") {
			return m.inCurrency(), true
		}
	}
	return Metric{}, false
}

// Label is its title with its unit: "mean JCT (s)".
func (m Metric) Label() string {
	if m.Unit == "" {
		return m.Title
	}
	return m.Title + " (" + m.Unit + ")"
}

// Of returns the metric's value in the metrics of a cell; NaN when it is unknown.
func (m Metric) Of(values *Metrics) float64 {
	if m.at == 0 || m.at > len(values.values) {
		return math.NaN()
	}
	return values.values[m.at-1]
}

// CountOf is Of as a whole number; 0 when it is unknown.
func (m Metric) CountOf(values *Metrics) int {
	if v := m.Of(values); !math.IsNaN(v) {
		return int(v)
	}
	return 0
}

// Metrics are the values of the metrics of a cell. Means and quantiles are over
// the finished jobs. An unknown value is NaN, written as an empty field of
// metrics.csv and a JSON null. The zero value knows none.
type Metrics struct{ values []float64 }

// Set sets a value.
func (v *Metrics) Set(m Metric, value float64) {
	for len(v.values) < slots {
		v.values = append(v.values, math.NaN())
	}
	v.values[m.at-1] = value
}

// Join copies the values that other knows.
func (v *Metrics) Join(other Metrics) {
	for _, m := range registered {
		if value := m.Of(&other); !math.IsNaN(value) {
			v.Set(m, value)
		}
	}
}

// Of returns values by the names of their metrics, for tests; it panics when
// there is no such metric.
func Of(values map[string]float64) Metrics {
	var v Metrics
	for name, value := range values {
		m, ok := MetricByName(name)
		if !ok {
			panic(fmt.Sprintf("there is no metric %q", name))
		}
		v.Set(m, value)
	}
	return v
}

// Metrics are the cell's, over all that was recorded.
func (c *Collector) Metrics() Metrics {
	totals := c.totals()
	v := Metrics{values: make([]float64, slots)}
	for i := range registered {
		v.values[registered[i].at-1] = registered[i].Compute(totals)
	}
	return v
}

// Append appends the metric's value as a field of a table; nothing when it is unknown.
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

// unknown is the value of an empty field.
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

// UnmarshalJSON reads the output of MarshalJSON; a missing metric is unknown.
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
