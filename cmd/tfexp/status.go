package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/cli"
	"github.com/tfexp/tfexp/cmd/tfexp/show"
)

func (a *app) statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status [DIR] [--json]",
		Short: "Show the progress of experiments, and what failed",
		Long: `Show each experiment in DIR (` + cli.DefaultOut + ` by default, or one experiment's folder):
whether it is running, how many cells have finished, failed and are left, and the
last lines of its journal. This only reads files; it does not disturb a run.

Exit status: 0, whatever the state; 2 when there are no results.`,
		Example: `  tfexp status
  tfexp status results/fcfs_vs_rr --json`,
		Args:              cli.Between(0, 1, ""),
		ValidArgsFunction: cli.CompleteDir,
		RunE: func(_ *cobra.Command, args []string) error {
			dirs, err := cli.ExperimentsIn(cli.DirArgument(args))
			if err != nil {
				return err
			}
			all := make([]show.ExperimentStatus, 0, len(dirs))
			for _, dir := range dirs {
				s, err := show.StatusOf(dir)
				if err != nil {
					return fmt.Errorf("%s: %w", dir, err)
				}
				all = append(all, s)
			}
			if asJSON {
				return a.PrintJSON(all)
			}
			for i, s := range all {
				if i > 0 {
					fmt.Fprintln(a.Out)
				}
				a.Printer().Status(s)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
