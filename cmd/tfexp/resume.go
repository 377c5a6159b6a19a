package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/pipeline"
)

func (a *app) resumeCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "resume [DIR]",
		Short: "Go on with a run that was interrupted",
		Long: `Go on with a run that was interrupted or killed. DIR is an experiment's folder,
or a folder of results (` + defaultOut + ` by default), in which the newest unfinished run
is taken. The experiment is the one that was run, with the values that its
variables had, even if the file has been edited since. Cells that had finished
are reused; one that was interrupted runs again from its start.

Exit status: as of "tfexp run"; 0 when nothing is left to do.`,
		Example: `  tfexp resume
  tfexp resume results/fcfs_vs_rr`,
		Args:              between(0, 1, ""),
		ValidArgsFunction: completeDir,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			dir := dirArgument(args)
			if _, err := experimentsIn(dir); err != nil {
				return err
			}
			err := a.carryOut(&o, func(opts pipeline.Options) (*pipeline.Plan, error) {
				plan, diags, err := pipeline.Resume(dir, opts, hostFacts())
				if len(diags) > 0 {
					diags.Render(a.err, a.errColor)
				}
				if diags.HasErrors() {
					return nil, silently(exitInvalid)
				}
				return plan, err
			})
			if errors.Is(err, pipeline.ErrNothingToResume) {
				fmt.Fprintf(a.err, "nothing to resume: every run in %s has finished\n", dir)
				return nil
			}
			return err
		},
	}
	o.flags(cmd.Flags())
	return cmd
}
