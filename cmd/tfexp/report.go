package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/report"
)

func (a *app) reportCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "report [DIR] [--json]",
		Short:             "Write the report again",
		Long:              help("report", "{report}", record.ReportFile),
		Example:           "  tfexp report results/fcfs_vs_rr",
		Args:              command.Between(0, 1, ""),
		ValidArgsFunction: command.CompleteDir,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.Redraw(context.Background(), "report", args, asJSON,
				func(ctx context.Context, dir string) ([]string, error) {
					path, err := report.Rewrite(ctx, dir)
					return []string{path}, err
				})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
