// Package check is the command "tfexp check".
package check

import (
	"embed"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/check/recompute"
	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/experiments/schema"
)

//go:embed help
var helpTexts embed.FS

func init() {
	command.Register(command.GroupLook, checkCommand)
}

func checkCommand(a *command.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [DIR] [--json]",
		Short: "Recompute results from their events, and compare",
		Long:  command.Help(helpTexts, "check"),
		Example: `  tfexp check
  tfexp check results/fcfs_vs_rr --json`,
		Args:              command.Between(0, 1, ""),
		ValidArgsFunction: command.CompleteDir,
		RunE: func(_ *cobra.Command, args []string) error {
			dirs, err := command.ExperimentsIn(command.DirArgument(args))
			if err != nil {
				return err
			}
			all, differ := []*recompute.Report{}, false
			for _, dir := range dirs {
				r := recompute.Folder(dir)
				all = append(all, r)
				if differ = differ || r.Count > 0; !asJSON {
					printCheck(a, r)
				}
			}
			if asJSON {
				err = a.PrintJSON(all)
			}
			if err == nil && differ {
				err = command.Silently(command.ExitCellsFailed)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printCheck(a *command.App, r *recompute.Report) {
	for _, d := range r.Differences {
		fmt.Fprintf(a.Out, "%s/%s\n", r.Dir, d)
	}
	if more := r.Count - len(r.Differences); more > 0 {
		fmt.Fprintf(a.Out, "%s: %d more\n", r.Dir, more)
	}
	found := "nothing differs"
	if r.Count > 0 {
		found = schema.Plural(r.Count, "difference")
	}
	fmt.Fprintf(a.Out, "%s: %s (%s recomputed, %s compared, %s with their sums)\n", r.Dir, found,
		schema.Plural(r.Cells, "cell"), schema.Plural(r.Values, "value"), schema.Plural(r.Files, "file"))
	if r.Count > 0 {
		fmt.Fprintln(a.Out, "  to repair: remove these files; \"tfexp run FILE\" with the same experiment writes them again, all but "+
			"logs and timings")
	}
	for _, u := range r.Unchecked {
		fmt.Fprintf(a.Out, "  not recomputed: %s\n", u)
	}
}
