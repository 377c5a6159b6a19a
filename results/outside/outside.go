// Package outside has the tables of what an experiment brings from outside beside what comes out of it: numbers of
// others beside ours, and measured clusters beside the law that was fitted to them.
package outside

import (
	"path/filepath"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// The tables, in an experiment's folder.
const (
	// ReferencesFile is there only where the experiment names numbers of others.
	ReferencesFile = "references.csv"
	// ClusterSpeedFile is there only where a job has a table of measured clusters.
	ClusterSpeedFile = "cluster_speed.csv"
)

// ReferencedRow is a row of references.csv: a number of others beside ours.
type ReferencedRow struct {
	Reference, Place, Metric string
	Expected                 float64
	// Cells is the number of cells that ours is the mean of, with its interval; NaN without any.
	Cells           int
	Ours, Low, High float64
	// Difference is Ours − Expected, and ErrorPct that in percent of Expected.
	Difference, ErrorPct float64
}

var referencedColumns = []table.Column[ReferencedRow]{
	table.Text("reference", func(r *ReferencedRow) *string { return &r.Reference }),
	table.Text("at", func(r *ReferencedRow) *string { return &r.Place }),
	table.Text("metric", func(r *ReferencedRow) *string { return &r.Metric }),
	table.Float("expected", func(r *ReferencedRow) *float64 { return &r.Expected }),
	table.Int("cells", func(r *ReferencedRow) *int { return &r.Cells }),
	table.Float("ours", func(r *ReferencedRow) *float64 { return &r.Ours }),
	table.Float("low", func(r *ReferencedRow) *float64 { return &r.Low }),
	table.Float("high", func(r *ReferencedRow) *float64 { return &r.High }),
	table.Float("difference", func(r *ReferencedRow) *float64 { return &r.Difference }),
	table.Float("error_pct", func(r *ReferencedRow) *float64 { return &r.ErrorPct }),
}

// WriteReferences writes references.csv; it removes the file when there are no rows.
func WriteReferences(dir string, rows []ReferencedRow) error {
	return table.WriteOrRemove(filepath.Join(dir, ReferencesFile), referencedColumns, rows)
}

// References reads references.csv of an experiment's folder; there are no rows without the file.
func References(dir string) ([]ReferencedRow, error) {
	return table.ReadAll(dir, ReferencesFile, referencedColumns)
}

// ClusterSpeedRow is a row of cluster_speed.csv: a measured cluster, and what the law of cluster speeds says of it.
type ClusterSpeedRow struct {
	record.MeasuredCluster
	// Fitted is by the law that was fitted to all rows of the table, ErrorPct its error: (Fitted − Speed) / Speed.
	Fitted, ErrorPct float64
	// LeftOut says that the larger clusters of the row's group were left out of the following predictions, which are NaN
	// in other rows: by both forms of the law, without a limit of the parameter servers, and on a straight line.
	LeftOut                          bool
	Queued, Apart, Unlimited, Linear float64
}

var clusterSpeedColumns = []table.Column[ClusterSpeedRow]{
	table.Text("file", func(r *ClusterSpeedRow) *string { return &r.File }),
	table.Text("model", func(r *ClusterSpeedRow) *string { return &r.Model }),
	table.Text("gpu", func(r *ClusterSpeedRow) *string { return &r.Device }),
	table.Int("parameter_servers", func(r *ClusterSpeedRow) *int { return &r.Servers }),
	table.Int("workers", func(r *ClusterSpeedRow) *int { return &r.Workers }),
	table.Float("steps_per_s", func(r *ClusterSpeedRow) *float64 { return &r.Speed }),
	table.Float("fitted", func(r *ClusterSpeedRow) *float64 { return &r.Fitted }),
	table.Float("error_pct", func(r *ClusterSpeedRow) *float64 { return &r.ErrorPct }),
	table.Bool("left_out", func(r *ClusterSpeedRow) *bool { return &r.LeftOut }),
	table.Float("queued", func(r *ClusterSpeedRow) *float64 { return &r.Queued }),
	table.Float("apart", func(r *ClusterSpeedRow) *float64 { return &r.Apart }),
	table.Float("unlimited", func(r *ClusterSpeedRow) *float64 { return &r.Unlimited }),
	table.Float("linear", func(r *ClusterSpeedRow) *float64 { return &r.Linear }),
}

// WriteClusterSpeeds writes cluster_speed.csv; it removes the file when there are no rows.
func WriteClusterSpeeds(dir string, rows []ClusterSpeedRow) error {
	return table.WriteOrRemove(filepath.Join(dir, ClusterSpeedFile), clusterSpeedColumns, rows)
}

// ClusterSpeeds reads cluster_speed.csv of an experiment's folder; there are no rows without the file.
func ClusterSpeeds(dir string) ([]ClusterSpeedRow, error) {
	return table.ReadAll(dir, ClusterSpeedFile, clusterSpeedColumns)
}
