package watch

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/filearg"
)

func topCommand(a *command.App) *cobra.Command {
	return &cobra.Command{
		Use:   "top [DIR]",
		Short: "Show runs in the whole terminal while they go on",
		Long:  command.Help(helpTexts, "top"),
		Example: `  tfexp top
  tfexp top results/fcfs_vs_rr`,
		Args:              command.Between(0, 1, ""),
		ValidArgsFunction: command.CompleteDir,
		RunE: func(_ *cobra.Command, args []string) error {
			dir := command.DirArgument(args)
			if len(args) > 0 && command.Exists(dir) && !filearg.IsDir(dir) {
				return command.NoResults(dir)
			}
			out, ok := a.RawOut().(*os.File)
			if !ok || !term.IsTerminal(int(out.Fd())) {
				const width = 80
				return PrintScreen(a.Out, NewFolder(dir), width)
			}
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
			defer stop()
			return ShowScreen(ctx, out, NewFolder(dir), a.OutColor)
		},
	}
}
