// Package statistics is the command "tfexp export statistics".
package statistics

import (
	"embed"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/filearg"
	"github.com/tfexp/tfexp/results/record"
)

//go:embed help
var helpTexts embed.FS

func init() {
	command.Register("export", exportStatisticsCommand)
}

func exportStatisticsCommand(a *command.App) *cobra.Command {
	var dir, out, cell string
	counts := map[string]*int{}
	cmd := &cobra.Command{
		Use:   "statistics [--dir DIR] [--cell CELL] [-o FILE]",
		Short: "Write the epochs of real jobs as SelfTF's statistics",
		Long:  command.Help(helpTexts, "export_statistics", "{columns}", strings.Join(columns, ", ")),
		Example: `  tfexp export statistics --dir results/tuning_real -o job_statistic.csv
  tfexp export statistics --dir results/digits --n-ps 0 --n-worker 1`,
		Args: command.Between(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := command.ExperimentsIn(filepath.Clean(dir))
			if err != nil {
				return err
			}
			if len(found) > 1 {
				return command.Usagef("the experiments are "+strings.Join(found, ", "),
					"there are %d experiments in %s: name one with --dir", len(found), dir)
			}
			e, err := record.Open(found[0])
			if err != nil {
				return err
			}
			if err := knownCell(e, cell); err != nil {
				return err
			}
			given := map[string]string{}
			for column, n := range counts {
				if cmd.Flags().Changed(flagOf(column)) {
					given[column] = strconv.Itoa(*n)
				}
			}
			var text strings.Builder
			n, err := write(&text, e, cell, given)
			if err != nil {
				return err
			}
			if n == 0 {
				return command.Usagef("only real jobs report epochs", "no job of %s reported an epoch", found[0])
			}
			return filearg.WriteTo(a, out, func(to io.Writer) error {
				_, err := io.WriteString(to, text.String())
				return err
			})
		},
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().StringVar(&dir, "dir", command.DefaultOut, "`DIR` of the results, or one experiment's folder in it")
	cmd.Flags().StringVar(&cell, "cell", "", "write the epochs of one `CELL` only")
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to a `FILE` instead of standard output")
	for _, column := range columns[1:5] {
		counts[column] = cmd.Flags().Int(flagOf(column), 0, "`NUMBER` in the column "+column+", where no setting has it")
	}
	return cmd
}

// flagOf returns the name of the flag that sets a column.
func flagOf(column string) string { return strings.ReplaceAll(column, "_", "-") }

// knownCell returns an error if the experiment lacks the cell.
func knownCell(e *record.Experiment, cell string) error {
	if cell == "" {
		return nil
	}
	var names []string
	for _, c := range slices.Concat(e.Cells, e.Beyond) {
		if c.Cell == cell {
			return nil
		}
		names = append(names, c.Cell)
	}
	return command.Usagef(command.DidYouMean(cell, names, "tfexp plan lists the cells"), "there is no cell %q", cell)
}
