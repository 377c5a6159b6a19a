package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tfexp/tfexp/cmd/tfexp/live"
)

func (a *app) topCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "top [DIR]",
		Short: "Show runs in the whole terminal while they go on",
		Long: `Show the experiments in DIR (` + DefaultOut + ` by default, or one experiment's folder; it
need not be there yet) in the whole terminal while they run: cells and how long they
will take, and of the cell that runs the schedule as it grows, cores and GPUs in use,
and of each job its epoch, its loss and how that fell, its accuracy, and why it waits.
Start it in a second terminal; it only reads files.

  q, Ctrl-C    quit
  up, down     another experiment
  left, right  another cell, in the order of the plan; Esc follows the run again
  PgUp, PgDn   the jobs above and below

Where standard output is no terminal, the screen is printed once, 80 columns wide.

Exit status: 0; 1 when files cannot be read.`,
		Example: `  tfexp top
  tfexp top results/fcfs_vs_rr`,
		Args:              Between(0, 1, ""),
		ValidArgsFunction: CompleteDir,
		RunE: func(_ *cobra.Command, args []string) error {
			dir := DirArgument(args)
			if len(args) > 0 && Exists(dir) && !IsDir(dir) {
				return NoResults(dir)
			}
			out, ok := a.RawOut().(*os.File)
			if !ok || !term.IsTerminal(int(out.Fd())) {
				const width = 80
				return live.PrintScreen(a.Out, live.NewWatch(dir), width)
			}
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
			defer stop()
			return live.ShowScreen(ctx, out, live.NewWatch(dir), a.OutColor)
		},
	}
}
