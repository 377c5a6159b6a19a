package report

import (
	"context"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

var _ = stages.Register(&stages.Stage{
	Name:   "report",
	Reads:  []stages.Artifact{stages.Tables, stages.Pictures, stages.ExtraTables, stages.Sections},
	Writes: []stages.Artifact{stages.Report},
	Files:  []string{record.ReportFile},
	Key: func(*stages.Run) ([]stages.KeyLine, error) {
		return []stages.KeyLine{{Label: "report", Value: version}}, nil
	},
	Always: true,
	Run: func(ctx context.Context, r *stages.Run) error {
		e, err := r.Results()
		if err == nil {
			_, err = Write(ctx, e, r.Dir)
		}
		return err
	},
})

// version is part of the cache key of the report: raise it when the report is written differently.
const version = "3"

// Rewrite writes report.html of an experiment's folder from its plain files, and
// returns its path.
func Rewrite(ctx context.Context, dir string) (string, error) {
	e, err := record.Open(dir)
	if err != nil {
		return "", err
	}
	return Write(ctx, e, dir)
}
