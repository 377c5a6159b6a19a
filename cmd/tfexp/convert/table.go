package convert

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/cli"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
)

// tables are the names of the tables that a folder of results may have.
var tables = []string{"jobs", "metrics", "timings", "samples", "estimates", "accuracy", "profiling", "comparisons",
	"fidelity", "fidelity_jobs", "ranking", "decisions", "sequences", "objectives", "training", "trials", "tunings",
	"remaining"}

func exportTableCommand(a *cli.App) *cobra.Command {
	var dir, out string
	cmd := &cobra.Command{
		Use:   "table NAME [--dir DIR] [-o FILE]",
		Short: "Write a table of results as JSON lines",
		Long: `Write a table of an experiment's results as JSON lines: an object for each row,
with the columns of the CSV file as keys, in their order. Unknown values are null.
The tables are ` + strings.Join(tables, ", ") + `.

Exit status: 0; 2 when there is no such table, or DIR does not hold the results
of one experiment.`,
		Example: `  tfexp export table metrics
  tfexp export table jobs --dir results/fcfs_vs_rr -o jobs.jsonl`,
		Args: cobra.MatchAll(cli.Between(1, 1, "NAME"), func(_ *cobra.Command, args []string) error {
			if !slices.Contains(tables, args[0]) {
				return cli.Usagef(cli.DidYouMean(args[0], tables, "the tables are "+strings.Join(tables, ", ")),
					"there is no table %q", args[0])
			}
			return nil
		}),
		ValidArgs: tables,
		RunE: func(_ *cobra.Command, args []string) error {
			found, err := cli.ExperimentsIn(filepath.Clean(dir))
			if err != nil {
				return err
			}
			if len(found) > 1 {
				return cli.Usagef("the experiments are "+strings.Join(found, ", "),
					"there are %d experiments in %s: name one with --dir", len(found), dir)
			}
			f, err := folder.Open(found[0], args[0]+".csv")
			if errors.Is(err, fs.ErrNotExist) {
				return cli.Usagef("a run writes each table when its stage is done", "there is no %s", filepath.Join(found[0], args[0]+".csv"))
			}
			if err != nil {
				return fmt.Errorf("export %s: %w", args[0], err)
			}
			defer f.Close()
			return a.WriteTo(out, func(to io.Writer) error { return record.JSONLines(to, f) })
		},
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().StringVar(&dir, "dir", cli.DefaultOut, "`DIR` of the results, or one experiment's folder in it")
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to a `FILE` instead of standard output")
	return cmd
}
