package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/cli"
	"github.com/tfexp/tfexp/cmd/tfexp/progress"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/plot"
)

func (a *app) plotCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "plot [DIR]",
		Short: "Draw the pictures of results again",
		Long: `Draw the pictures of all experiments in DIR (` + cli.DefaultOut + ` by default, or one
experiment's folder) from the files in it, as SVG and PNG. This needs no cache, and
works on a copy of the results and while a run is writing them.

Exit status: 0; 1 when files cannot be read or written; 2 when there are no results.`,
		Example:           "  tfexp plot results/fcfs_vs_rr",
		Args:              cli.Between(0, 1, ""),
		ValidArgsFunction: cli.CompleteDir,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.redraw(context.Background(), "plot", args, func(ctx context.Context, dir string) ([]string, error) {
				pictures, err := plot.Redraw(ctx, dir)
				var paths []string
				for _, p := range pictures {
					for _, path := range []string{p.SVG, p.PNG} {
						if path != "" {
							paths = append(paths, path)
						}
					}
				}
				return paths, err
			})
		},
	}
}

// redraw makes views of every experiment in DIR and prints their paths. It goes
// on when one fails.
func (a *app) redraw(ctx context.Context, stage string, args []string,
	draw func(context.Context, string) ([]string, error)) error {
	dirs, err := cli.ExperimentsIn(cli.DirArgument(args))
	if err != nil {
		return err
	}
	var errs []error
	for _, dir := range dirs {
		view := progress.New(a.Screen, a.ErrColor)
		began := time.Now()
		view.Observe(pipeline.Progress{Kind: stages.StageStart, Stage: stage})
		paths, err := draw(ctx, dir)
		view.Observe(pipeline.Progress{Kind: stages.StageEnd, Stage: stage, Elapsed: time.Since(began), Err: err})
		view.Close()
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", dir, err))
			continue
		}
		for _, p := range paths {
			fmt.Fprintln(a.Out, p)
		}
	}
	return errors.Join(errs...)
}
