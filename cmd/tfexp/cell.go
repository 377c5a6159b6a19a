package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/execute"
)

// cellCommand runs one cell that another tfexp has written down.
func (a *app) cellCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "cell FILE",
		Hidden: true,
		Short:  "Run one cell that another tfexp has written down",
		Long: `Run the cell that another tfexp process has written to FILE, into its folder of
results. The next "tfexp run" of the experiment finds it there.

Exit status: 0; 1 when the file cannot be read or the records cannot be written; 4
when the cell failed.`,
		Args: between(1, 1, "the file of a cell"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cell, err := execute.RunFile(cmd.Context(), args[0], pipeline.PrepareCell)
			if err != nil {
				return err
			}
			if cell.State != record.CellFinished {
				return &exitError{code: exitCellsFailed, err: fmt.Errorf("cell %s failed", cell.Cell)}
			}
			return nil
		},
	}
}
