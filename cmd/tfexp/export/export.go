// Package export is the command "tfexp export", which writes results in the formats of other programs.
package export

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/experiments/schema"
)

// trackers are the experiment trackers for which the Python library tfexp_results can write runs.
var trackers = []string{"mlflow", "tensorboard"}

//go:embed help
var helpTexts embed.FS

func init() { command.RegisterAt(command.GroupLook, 70, exportCommand) }

func exportCommand(a *command.App) *cobra.Command {
	all := a.With("export", map[int]*cobra.Command{20: exportTableCommand(a)})
	kinds := schema.Each(all, (*cobra.Command).Name)
	cmd := &cobra.Command{
		Use:   "export " + strings.Join(kinds, " … | export ") + " …",
		Short: "Write workloads and results in other formats",
		Long:  "Write workloads, results and more in the formats of other programs.",
		Example: `  tfexp export workload experiment.hcl --workload mixed --replicate 2 -o mixed.csv
  tfexp export table metrics --dir results/fcfs_vs_rr`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.Usagef("usage: "+cmd.UseLine(), "name what to export: %s", schema.OneOf(kinds))
			}
			hint := command.DidYouMean(args[0], kinds, "usage: "+cmd.UseLine())
			if slices.Contains(trackers, args[0]) {
				hint = fmt.Sprintf("python3 -m tfexp_results %s DIR writes runs for it (pip install jobs/tfexp_results)", args[0])
			}
			return command.Usagef(hint, "cannot export %q", args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(all...)
	return cmd
}
