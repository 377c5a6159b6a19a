package tasks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"github.com/klauspost/compress/s2"
	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/results/folder"
)

// taskCommand returns the hidden command that runs the cells of a task on a node.
func taskCommand(a *command.App) *cobra.Command {
	return &cobra.Command{
		Use:    "task DIR NUMBER [INDEX]",
		Hidden: true,
		Short:  "Run the cells of a task that another tfexp has submitted",
		Long:   command.Help(helpTexts, "task"),
		Args:   command.Between(2, 3, "a folder or the number of a task"),
		RunE:   func(_ *cobra.Command, args []string) error { return runIndexed(a, args[0], args[1], args[2:]) },
	}
}

// runIndexed runs a task. With an index, its number is at that index of a list.
func runIndexed(a *command.App, dir, list string, index []string) error {
	numbers := strings.Split(list, ",")
	if len(index) == 0 {
		return runTask(dir, list)
	}
	if index[0] == lookOnly {
		return lookAt(dir, numbers[0])
	}
	i, err := strconv.Atoi(index[0])
	if err != nil || i < 0 || i >= len(numbers) {
		return command.Usagef("", "%q is not the index of one of %s", index[0], schema.Plural(len(numbers), "task"))
	}
	if err := keepOutput(a, dir, numbers[i]); err != nil {
		return err
	}
	return runTask(dir, numbers[i])
}

// keepOutput adds the output of this process to the output file of a task, because pods keep theirs only for a while.
// Slurm itself writes such files.
func keepOutput(a *command.App, dir, task string) error {
	number, err := strconv.Atoi(task)
	if err != nil {
		return nil // runTask returns an error
	}
	out, err := folder.OpenFile(taskFile(dir, number, ".out"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("open the output file of a task: %w", err)
	}
	a.Out, a.Err = io.MultiWriter(a.Out, out), io.MultiWriter(a.Err, out)
	return debug.SetCrashOutput(out.File, debug.CrashOptions{})
}

// lookOnly, in the place of an index, looks whether tasks could run here.
const lookOnly = "look"

// lookAt reads the first cell of a task, and writes a file into the folder of tasks.
func lookAt(dir, task string) error {
	number, err := strconv.Atoi(task)
	if err != nil {
		return command.Usagef("", "%q is not the number of a task", task)
	}
	path := taskFile(dir, number, cellsEnding)
	f, err := folder.Open(filepath.Split(path))
	if err != nil {
		return fmt.Errorf("read the cells of a task: %w", err)
	}
	defer f.Close()
	if _, _, err := nextCell(s2.NewReader(f)); err != nil {
		return err
	}
	probe := path + ".look"
	if err := folder.WriteFile(probe, nil, 0o644); err != nil {
		return fmt.Errorf("write into the folder of tasks: %w", err)
	}
	return folder.Remove(probe)
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
