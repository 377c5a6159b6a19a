// Package tables is the stage that writes the tables of an experiment from the
// records of its cells.
package tables

import (
	"context"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

var _ = stages.Register(&stages.Stage{
	Name:   "tables",
	Reads:  []stages.Artifact{stages.Cells, stages.Twins, stages.Estimates, stages.RunSummary},
	Writes: []stages.Artifact{stages.Tables},
	Files: []string{
		record.Jobs.File, record.Metrics.File, record.Servers.File, record.Comparisons.File,
		record.Fidelity.File, record.FidelityJobs.File, record.FidelityDecisions.File,
		record.Accuracy.File, record.Profiling.File,
	},
	More: analysis.AddedTables,
	Key: func(*stages.Run) ([]stages.KeyLine, error) {
		return []stages.KeyLine{{Label: "tables", Value: version}}, nil
	},
	Always: true,
	Run: func(_ context.Context, r *stages.Run) error {
		e, err := r.Results()
		if err != nil {
			return err
		}
		return analysis.WriteTablesOf(e)
	},
})

// version is part of the key: increase it when the tables change.
const version = "2"
