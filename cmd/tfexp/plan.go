package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/pipeline"
)

func (a *app) planCommand() *cobra.Command {
	var (
		vars          command.Variables
		opts          pipeline.Options
		asJSON, cells bool
	)
	cmd := &cobra.Command{
		Use:   "plan FILE [--out DIR] [-var name=value] [--lenient] [--cells] [--json]",
		Short: "Show what a run would do, why, and how long it would take",
		Long:  help("plan"),
		Example: `  tfexp plan experiment.hcl
  tfexp plan experiment.hcl -var quantum=500ms --cells`,
		Args:              command.NeedFile,
		ValidArgsFunction: command.CompleteFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := a.Load(args[0], &vars, false, asJSON)
			if err != nil {
				return err
			}
			opts.Version, opts.Command = command.ThisBuild().Version, a.Args
			stop := a.SayIfSlow("planning …")
			defer stop()
			plan, err := pipeline.New(spec, opts)
			if err != nil {
				return err
			}
			expected := plan.Expect(cmd.Context())
			stop()
			if asJSON {
				err = a.PrintJSON(show.PlanJSON(plan, expected))
			} else {
				err = a.Printer().Plan(plan, expected, cells)
			}
			return cmp.Or(err, plan.Ready())
		},
	}
	vars.Flags(cmd.Flags())
	cmd.Flags().StringVar(&opts.Out, "out", command.DefaultOut, "`DIR` of the results")
	cmd.Flags().BoolVar(&opts.Fresh, "fresh", false, "plan as if nothing had run before")
	cmd.Flags().BoolVar(&cells, "cells", false, "list every cell in the order in which they run")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
