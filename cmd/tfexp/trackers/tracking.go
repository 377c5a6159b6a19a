package trackers

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/tracking"
)

// exportedRuns are the runs of an experiment that were written.
type exportedRuns struct {
	Experiment string `json:"experiment"`
	Runs       int    `json:"runs"`
	Folder     string `json:"folder"`
	Open       string `json:"open"` // the command that shows them
}

// exportRunsCommand returns the subcommand that writes runs as a tracker of experiments reads them.
func exportRunsCommand(a *command.App, f tracking.Format) *cobra.Command {
	var out string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   f.Name + " [DIR] [-o FOLDER] [--json]",
		Short: "Write the cells of results as runs of " + f.Title,
		Long: command.Help(helpTexts, "export_runs", "{title}", f.Title, "{folder}", f.Folder, "{doc}", f.Doc,
			"{open}", fmt.Sprintf(f.Open, f.Folder)),
		Example:           "  tfexp export " + f.Name + " results/fcfs_vs_rr",
		Args:              command.Between(0, 1, ""),
		ValidArgsFunction: command.CompleteDir,
		RunE: func(_ *cobra.Command, args []string) error {
			dir := command.DefaultOut
			if len(args) > 0 {
				dir = args[0]
			}
			dirs, err := command.ExperimentsIn(filepath.Clean(dir))
			if err != nil {
				return err
			}
			written := []exportedRuns{}
			for _, dir := range dirs {
				e, err := record.Open(dir)
				if err != nil {
					return err
				}
				n, err := f.Write(e, out)
				if err != nil {
					return fmt.Errorf("export %s: %w", e.Plan.Experiment, err)
				}
				fmt.Fprintf(a.Err, "%s: %s in %s\n", e.Plan.Experiment, schema.Plural(n, "run"), out)
				written = append(written, exportedRuns{e.Plan.Experiment, n, out, fmt.Sprintf(f.Open, out)})
			}
			if asJSON {
				return a.PrintJSON(written)
			}
			fmt.Fprintf(a.Err, "to look at it: %s\n", fmt.Sprintf(f.Open, out))
			return nil
		},
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().StringVarP(&out, "output", "o", f.Folder, "write below this `FOLDER`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was written as JSON")
	return cmd
}
