package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/live"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/stages"
)

// redrawn lists the files written for one experiment.
type redrawn struct {
	Experiment string   `json:"experiment"`
	Files      []string `json:"files"`
}

// Redraw writes the pictures or the report of every experiment in DIR again, and prints the paths. After an error it
// continues with the next experiment.
func (a *App) Redraw(ctx context.Context, stage string, args []string, asJSON bool,
	draw func(context.Context, string) ([]string, error)) error {
	dirs, err := ExperimentsIn(DirArgument(args))
	if err != nil {
		return err
	}
	var errs []error
	made := []redrawn{}
	for _, dir := range dirs {
		view := live.NewRunProgress(a.Screen, a.ErrColor)
		began := time.Now()
		view.Observe(pipeline.Progress{Kind: stages.StageStart, Stage: stage})
		paths, err := Summed(dir, func() ([]string, error) { return draw(ctx, dir) })
		view.Observe(pipeline.Progress{Kind: stages.StageEnd, Stage: stage, Elapsed: time.Since(began), Err: err})
		view.Close()
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", dir, err))
			continue
		}
		made = append(made, redrawn{dir, paths})
		for _, p := range paths {
			if !asJSON {
				fmt.Fprintln(a.Out, p)
			}
		}
	}
	if asJSON {
		errs = append(errs, a.PrintJSON(made))
	}
	return errors.Join(errs...)
}
