// Package completion is the command "tfexp completion".
package completion

import (
	"embed"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
)

//go:embed help
var helpTexts embed.FS

func init() {
	command.RegisterAt(command.GroupMachine, 20, completionCommand)
}

func completionCommand(a *command.App) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:       "completion bash|zsh|fish|powershell",
		Short:     "Print a script that completes commands, files, cells and jobs",
		Long:      command.Help(helpTexts, "completion"),
		Args:      command.Between(1, 1, "the shell"),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			var err error
			switch args[0] {
			case "bash":
				err = root.GenBashCompletionV2(a.Raw, true)
			case "zsh":
				err = root.GenZshCompletion(a.Raw)
			case "fish":
				err = root.GenFishCompletion(a.Raw, true)
			case "powershell":
				err = root.GenPowerShellCompletionWithDesc(a.Raw)
			default:
				return command.Usagef(command.DidYouMean(args[0], shells, "the shells are bash, zsh, fish and powershell"),
					"unknown shell %q", args[0])
			}
			if err != nil {
				return fmt.Errorf("write completion: %w", err)
			}
			return nil
		},
	}
}
