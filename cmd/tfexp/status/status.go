// Package status is the command "tfexp status", which shows how far experiments are.
package status

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/cmd/tfexp/states"
)

// statusEvery is the shortest time between two updates of status --watch.
const statusEvery = 500 * time.Millisecond

//go:embed help
var helpTexts embed.FS

func init() { command.RegisterAt(command.GroupLook, 10, statusCommand) }

func statusCommand(a *command.App) *cobra.Command {
	var asJSON, watching bool
	cmd := &cobra.Command{
		Use:   "status [DIR] [--watch] [--json]",
		Short: "Show the progress of experiments, and what failed",
		Long:  command.Help(helpTexts, "status"),
		Example: `  tfexp status
  tfexp status --watch
  tfexp status results/fcfs_vs_rr --json`,
		Args:              command.Between(0, 1, ""),
		ValidArgsFunction: command.CompleteDir,
		RunE: func(_ *cobra.Command, args []string) error {
			if watching && asJSON {
				return command.Usagef("\"tfexp serve\" serves the changing values as JSON", "--watch and --json exclude each other")
			}
			dir := command.DirArgument(args)
			if watching {
				ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
				defer stop()
				return watchStatus(ctx, a, dir)
			}
			all, err := statusOf(dir, states.Followers(dir))
			if len(all) == 0 {
				return err
			}
			if asJSON {
				return errors.Join(a.PrintJSON(all), err)
			}
			printStatus(a.Printer(), all)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVarP(&watching, "watch", "w", false, "repeat the output until no run is in progress")
	return cmd
}

// statusOf reads the states of the experiments in dir. It returns the states of the others if some cannot be read.
func statusOf(dir string, followers []states.Follower) ([]states.State, error) {
	dirs, err := command.ExperimentsIn(dir)
	if err != nil {
		return nil, err
	}
	all := make([]states.State, 0, len(dirs))
	var unreadable []error
	for _, dir := range dirs {
		s, err := states.Of(dir)
		if err != nil {
			unreadable = append(unreadable, fmt.Errorf("%s: %w", dir, err))
			continue
		}
		all = append(all, s)
	}
	for _, complete := range followers {
		if err := complete(all); err != nil && len(all) > 0 {
			return nil, err
		}
	}
	states.RunningFirst(all)
	return all, errors.Join(unreadable...)
}

func printStatus(p *show.Printer, all []states.State) {
	for i, s := range all {
		if i > 0 {
			fmt.Fprintln(p.Out)
		}
		s.Print(p)
	}
}

// watchStatus prints the status until no run is active or ctx is done. It redraws a terminal in place; elsewhere it
// prints again after each change.
func watchStatus(ctx context.Context, a *command.App, dir string) error {
	followers := states.Followers(dir)
	screen := states.NewDrawing(a.RawOut())
	if screen != nil {
		defer screen.Close()
	}
	last := ""
	for {
		began := time.Now()
		all, err := statusOf(dir, followers)
		if len(all) == 0 {
			return err
		}
		var out bytes.Buffer
		printStatus(&show.Printer{Out: &out, Err: &out}, all)
		text := strings.TrimRight(out.String(), "\n")
		switch {
		case screen != nil:
			screen.Draw(text)
		case text != last:
			fmt.Fprintln(a.Out, text)
		}
		last = text
		going := false
		for _, s := range all {
			going = going || s.Holder != ""
		}
		if !going {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(max(statusEvery, 4*time.Since(began))): // reading many cells takes time: use at most a fifth of it
		}
	}
}
