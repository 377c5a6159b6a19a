package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/execute"
)

// cellCommand runs one cell that another tfexp has written down.
func (a *app) cellCommand() *cobra.Command {
	task := false
	cmd := &cobra.Command{
		Use:    "cell FILE | --task DIR NUMBER",
		Hidden: true,
		Short:  "Run one cell that another tfexp has written down",
		Long:   help("cell"),
		Args:   command.Between(1, 2, "the file of a cell, or a folder and the number of a task"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if task {
				return runTask(args)
			}
			cell, err := execute.RunFile(cmd.Context(), args[0], pipeline.PrepareCell)
			if err != nil {
				return err
			}
			if cell.State != record.CellFinished {
				return &command.Error{Code: command.ExitCellsFailed, Err: fmt.Errorf("cell %s failed", cell.Cell)}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&task, "task", false, "run the cells of a task")
	return cmd
}

// runTask runs the cells of a task. Failed cells are results: the collector of the cells sees the failure.
func runTask(args []string) error {
	if len(args) != 2 {
		return command.Usagef("", "--task needs the experiment's folder and the number of a task")
	}
	number, err := strconv.Atoi(args[1])
	if err != nil || number < 0 {
		return command.Usagef("", "%q is not the number of a task", args[1])
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = execute.RunTask(ctx, args[0], number, pipeline.PrepareCell, pipeline.CompleteCell)
	if ctx.Err() != nil {
		return &command.Error{Code: command.ExitInterrupted, Err: errors.New("the task was interrupted")}
	}
	return err
}
