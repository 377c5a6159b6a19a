// Package check is the command "tfexp check".
package check

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/check"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
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
			all, differ := []*check.Report{}, false
			for _, dir := range dirs {
				r, err := check.Folder(dir)
				if err == nil {
					err = copies(dir, r)
				}
				if err != nil {
					return fmt.Errorf("check %s: %w", dir, err)
				}
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

// copies compares the cells that have a folder with their copies in the cache.
func copies(dir string, r *check.Report) error {
	var plan record.Plan
	if err := record.ReadPlan(dir, &plan); err != nil {
		return err
	}
	cache := store.OpenReadOnly(dir, record.CacheFile)
	if cache == nil {
		return nil
	}
	defer cache.Close()
	var errs []error
	cache.View(func(v store.View) {
		for _, c := range plan.Cells {
			var now record.Cell
			packed, ok := v.Output(c.Key)
			if !ok || record.ReadCellFile(path.Join(dir, record.CellsDir, c.Cell), &now) != nil || now.Key != c.Key {
				continue
			}
			err := store.EachPacked(packed, func(name string, kept []byte) error {
				if path.Dir(name) == record.TwinDir { // made again whenever estimates change
					return nil
				}
				has, err := folder.ReadFile(dir, record.CellsDir, c.Cell, name)
				if err == nil || errors.Is(err, fs.ErrNotExist) {
					r.Copy(path.Join(record.CellsDir, c.Cell, name), has, kept)
					return nil
				}
				return err
			})
			errs = append(errs, err)
		}
	})
	return errors.Join(errs...)
}

func printCheck(a *command.App, r *check.Report) {
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
	for _, u := range r.Unchecked {
		fmt.Fprintf(a.Out, "  not recomputed: %s\n", u)
	}
}
