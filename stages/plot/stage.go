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
	Reads:  []stages.Artifact{stages.Tables, stages.Cells, stages.Findings},
	Writes: []stages.Artifact{stages.Pictures},
	Files:  []string{record.PlotsDir},
	Key:    func(*stages.Run) ([]stages.Line, error) { return []stages.Line{{Label: "plot", Value: version}}, nil },
	Always: true,
	Run: func(ctx context.Context, r *stages.Run) error {
		pictures, err := Redraw(ctx, r.Dir)
		r.Made(len(pictures))
		return err
	},
})

// version is part of the key: raise it when pictures are drawn differently.
const version = "4"

// Redraw draws the pictures of an experiment's folder from its plain files.
func Redraw(ctx context.Context, dir string) ([]Picture, error) {
	e, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	plots, err := folder.Make(dir, record.PlotsDir)
	if err != nil {
		return nil, fmt.Errorf("draw pictures: %w", err)
	}
	return Draw(ctx, e, plots, Options{})
}
