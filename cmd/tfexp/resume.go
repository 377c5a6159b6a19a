package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/pipeline"
)

func (a *app) resumeCommand() *cobra.Command {
	var vars command.Variables
	o := a.runOptions()
	cmd := &cobra.Command{
		Use:   "resume [DIR] [-var name=value] [-var-file FILE]",
		Short: "Continue an interrupted run",
		Long:  help("resume"),
		Example: `  tfexp resume
  tfexp resume results/fcfs_vs_rr`,
		Args:              command.Between(0, 1, ""),
		ValidArgsFunction: command.CompleteDir,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := o.prepare(); err != nil {
				return err
			}
			dir := command.DirArgument(args)
			if _, err := command.ExperimentsIn(dir); err != nil {
				return err
			}
			err := a.carryOut(o, func(opts pipeline.Options) (*pipeline.Plan, error) {
				opts.Vars, opts.VarFiles = vars.Given()
				plan, diags, err := pipeline.Resume(dir, opts, command.HostFacts())
				if len(diags) > 0 {
					a.Diagnose(diags)
				}
				if diags.HasErrors() {
					return nil, command.Silently(command.ExitInvalid)
				}
				return plan, err
			})
			if errors.Is(err, pipeline.ErrNothingToResume) {
				fmt.Fprintf(a.Err, "nothing to resume: every run in %s has finished; name a run to restore its cells\n", dir)
				return nil
			}
			return err
		},
	}
	vars.ValueFlags(cmd.Flags())
	o.flags(cmd.Flags())
	return cmd
}
