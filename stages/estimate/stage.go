package estimate

import (
	"context"
	"fmt"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

func init() {
	stages.Register(&stages.Stage{
		Name:   "estimate",
		Reads:  []stages.Artifact{stages.Samples},
		Writes: []stages.Artifact{stages.Estimates},
		Left: func(r *stages.Run) ([]stages.Line, error) {
			var lines []stages.Line
			rows, _ := r.Estimates()
			for _, row := range rows {
				lines = append(lines, stages.Line{Label: "estimate." + row.Job, Value: fmt.Sprintf("%+v", row)})
			}
			return lines, nil
		},
		Recall: recall,
		Run:    run,
	})
}

// run fits the samples and writes estimates.csv and samples.csv.
func run(_ context.Context, r *stages.Run) error {
	rows, warnings := r.Estimates()
	for _, w := range warnings {
		r.Warn(w.Code, "", w.Text)
	}
	if samples := r.SampleRows(); len(samples) > 0 {
		if err := record.WriteSamples(r.Dir, samples); err != nil {
			return err
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return record.WriteEstimates(r.Dir, rows)
}
