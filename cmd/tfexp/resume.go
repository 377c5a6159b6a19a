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
		Short: "Continue an interrupted run",
		Long: `Continue a run that was interrupted or killed. DIR is an experiment's folder, or a
folder of results (` + DefaultOut + ` by default), whose newest unfinished run is continued.
The experiment and its variables are as they were when the run started, even if
the file has been edited since. Finished cells are reused; an interrupted cell
runs again from its start.

Exit status: that of "tfexp run"; 0 when there is nothing left to do.`,
		Example: `  tfexp resume
  tfexp resume results/fcfs_vs_rr`,
		Args:              Between(0, 1, ""),
		ValidArgsFunction: CompleteDir,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			dir := DirArgument(args)
			if _, err := ExperimentsIn(dir); err != nil {
				return err
			}
			err := a.carryOut(&o, func(opts pipeline.Options) (*pipeline.Plan, error) {
				plan, diags, err := pipeline.Resume(dir, opts, HostFacts())
				if len(diags) > 0 {
					a.Diagnose(diags)
				}
				if diags.HasErrors() {
					return nil, Silently(ExitInvalid)
				}
				return plan, err
			})
			if errors.Is(err, pipeline.ErrNothingToResume) {
				fmt.Fprintf(a.Err, "nothing to resume: every run in %s has finished\n", dir)
				return nil
			}
			return err
		},
	}
	o.flags(cmd.Flags())
	return cmd
}
