package record

import (
	"slices"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/table"
)

// Tables of an experiment. In Jobs, Metrics and Timings, the axes of the matrix follow the other columns.
var (
	Jobs = table.Register[JobRow]("jobs.csv", nil)
	// Metrics has a row for each cell with its metrics and load. It does not depend on the machine that simulated the
	// cell.
	Metrics = table.Register("metrics.csv", cellFields)
	// Timings has the time that the machine took for each cell.
	Timings     = table.Register[TimingRow]("timings.csv", nil)
	Estimates   = table.Register[EstimateRow]("estimates.csv", nil)
	Samples     = table.Register[SampleRow]("samples.csv", nil)
	Accuracy    = table.Register[AccuracyRow]("accuracy.csv", nil)
	Profiling   = table.Register[ProfilingRow]("profiling.csv", nil)
	Comparisons = table.Register[ComparisonRow]("comparisons.csv", nil)
	// Tables that exist only if real cells were also simulated:
	Fidelity          = table.Register[FidelityRow]("fidelity.csv", nil)
	FidelityJobs      = table.Register[FidelityJobRow]("fidelity_jobs.csv", nil)
	FidelityDecisions = table.Register[FidelityDecisionRow]("fidelity_decisions.csv", nil)
	// Occupancy has the resources in use over time in a cell.
	Occupancy = table.RegisterOfCells[measure.Occupancy]("occupancy.csv", nil)
)

// cellColumnsOfJobs is the number of columns, at the beginning of jobs.csv, that identify the cell.
const cellColumnsOfJobs = 5

// heldColumns are the columns of occupancy.csv for a cell without containers.
var heldColumns = []string{"t_s", "cores_held", "running", "queued", "paused"}

// cellFields returns the columns of metrics.csv: the cell, the registered metrics, how the cell ended, and its load.
func cellFields() []table.Field[Cell] {
	fields := table.FieldsOf[Cell]()
	at := slices.IndexFunc(fields, func(f table.Field[Cell]) bool { return f.Name == "state" })
	var metrics []table.Field[Cell]
	for _, m := range measure.AllMetrics() {
		kind := table.AsNumber
		if m.Count {
			kind = table.AsWhole
		}
		metrics = append(metrics, table.Computed(m.Name, kind,
			func(b []byte, c *Cell) []byte { return m.Append(b, &c.Metrics) },
			func(c *Cell, s string) error { return m.Read(&c.Metrics, s) }))
	}
	return slices.Insert(fields, at, metrics...)
}

// TimingRow is a row of timings.csv.
type TimingRow struct {
	CellRef
	Seconds float64 `csv:"seconds"`
	Busy    float64 `csv:"busy_cores,time"`
}

// ColumnNames returns the names of the columns of jobs.csv and metrics.csv, without repetitions. Axes cannot have
// these names, because their values become columns too.
func ColumnNames() (names []string) {
	for _, c := range slices.Concat(Jobs.Columns(), Metrics.Columns()) {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// MarshalJSON writes the columns of jobs.csv; unknown values are null.
func (r JobRow) MarshalJSON() ([]byte, error) { return Jobs.Marshal(&r) }

// MarshalJSON writes the columns of estimates.csv; unknown values are null.
func (r EstimateRow) MarshalJSON() ([]byte, error) { return Estimates.Marshal(&r) }

// MarshalJSON writes the columns of comparisons.csv; unknown values are null.
func (r ComparisonRow) MarshalJSON() ([]byte, error) { return Comparisons.Marshal(&r) }
