package plot

import (
	"context"
	"fmt"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

var _ = stages.Register(&stages.Stage{
	Name:   "plot",
	Reads:  []stages.Artifact{stages.Tables, stages.Cells, stages.ExtraTables},
	Writes: []stages.Artifact{stages.Pictures},
	Files:  []string{record.PlotsDir},
	Key: func(*stages.Run) ([]stages.KeyLine, error) {
		return []stages.KeyLine{{Label: "plot", Value: version}}, nil
	},
	Always: true,
	Run: func(ctx context.Context, r *stages.Run) error {
		e, err := r.Results()
		if err != nil {
			return err
		}
		pictures, err := redraw(ctx, e)
		r.Made(len(pictures))
		return err
	},
})

// version is part of the stage's key. It must be raised when pictures change, so that they are drawn again.
const version = "4"

// Redraw draws the pictures of an experiment from the files in its folder.
func Redraw(ctx context.Context, dir string) ([]Picture, error) {
	e, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	return redraw(ctx, e)
}

func redraw(ctx context.Context, e *record.Experiment) ([]Picture, error) {
	plots, err := folder.Make(e.Dir, record.PlotsDir)
	if err != nil {
		return nil, fmt.Errorf("draw pictures: %w", err)
	}
	return Draw(ctx, e, plots, Options{})
}
