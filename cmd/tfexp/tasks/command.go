package tasks

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/pipeline"
)

// taskCommand returns the hidden command that runs the cells of a task on a node.
func taskCommand(*command.App) *cobra.Command {
	return &cobra.Command{
		Use:    "task DIR NUMBER",
		Hidden: true,
		Short:  "Run the cells of a task that another tfexp has submitted",
		Long:   command.Help(helpTexts, "task"),
		Args:   command.Between(2, 2, "a folder or the number of a task"),
		RunE:   func(_ *cobra.Command, args []string) error { return runTask(args[0], args[1]) },
	}
}

// runTask runs the cells of a task. A failed cell is not an error here: the process that collects the cells handles it.
func runTask(dir, task string) error {
	number, err := strconv.Atoi(task)
	if err != nil || number < 0 {
		return command.Usagef("", "%q is not the number of a task", task)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = work(ctx, dir, number, pipeline.EmptyCellFolder, pipeline.CompleteCell)
	if ctx.Err() != nil {
		return &command.Error{Code: command.ExitInterrupted, Err: errors.New("the task was interrupted")}
	}
	return err
}
