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
		Long:  help("top"),
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
