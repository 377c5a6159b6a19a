// Package commands has the command that runs a built-in training program.
package commands

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/stages/builtin/train"
)

func init() { command.RegisterAt(command.GroupMachine, 50, trainCommand) }

// trainCommand returns the command that runs a built-in training program. Experiments start their jobs with it.
func trainCommand(a *command.App) *cobra.Command {
	return &cobra.Command{
		Use:    train.Command + " " + strings.Join(train.Names(), "|") + " [flags]",
		Short:  "Run a built-in training program by itself",
		Hidden: true,
		// Each program parses its own flags, including --help.
		DisableFlagParsing: true,
		ValidArgs:          train.Names(),
		RunE: func(_ *cobra.Command, args []string) error {
			return command.Silently(train.Main(train.Began(), args, a.Out, a.Err))
		},
	}
}
