// Package folders is the command "tfexp results", which lists and removes folders of results.
package folders

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/cmd/tfexp/states"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

//go:embed help
var helpTexts embed.FS

func init() {
	command.Register(command.GroupLook, resultsCommand)
	command.ResultsNear = resultsNear
}

// resultsNear lists the folders with results in the folder of dir, and one level below it.
func resultsNear(dir string) (near []string) {
	parent := filepath.Dir(dir)
	for !command.Exists(parent) {
		parent = filepath.Dir(parent)
	}
	for _, depth := range []string{"*", "*/*"} {
		plans, _ := filepath.Glob(filepath.Join(parent, depth, record.PlanFile))
		near = append(near, schema.Each(plans, filepath.Dir)...)
	}
	return near
}

// kept describes a folder of results.
type kept struct {
	Experiment string `json:"experiment"`
	Dir        string `json:"dir"`
	State      string `json:"state"`
	Bytes      int64  `json:"bytes"`
	Changed    string `json:"changed"` // when the last run began or ended, in RFC 3339
	Verdict    string `json:"verdict"` // the first sentence of the report
}

func resultsCommand(a *command.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "results [DIR] [--json]",
		Short: "List folders of results, or remove some",
		Long:  command.Help(helpTexts, "results"),
		Example: `  tfexp results
  tfexp results rm results/fcfs_vs_rr`,
		Args:              command.Between(0, 1, ""),
		ValidArgsFunction: command.CompleteDir,
		RunE: func(_ *cobra.Command, args []string) error {
			dirs, err := command.ExperimentsIn(command.DirArgument(args))
			if err != nil {
				return err
			}
			list := []kept{}
			var errs []error
			for _, dir := range dirs {
				k, err := keptIn(dir)
				if err != nil {
					errs = append(errs, fmt.Errorf("%s: %w", dir, err))
					continue
				}
				list = append(list, k)
			}
			switch {
			case asJSON:
				errs = append(errs, a.PrintJSON(list))
			case len(list) > 0:
				errs = append(errs, printKept(a, list))
			}
			return errors.Join(errs...)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(&cobra.Command{
		Use:                   "rm DIR...",
		Short:                 "Remove folders of results",
		Long:                  command.Help(helpTexts, "results"),
		Args:                  command.Between(1, -1, "the folder of an experiment"),
		DisableFlagsInUseLine: true,
		ValidArgsFunction:     command.CompleteDir,
		RunE: func(_ *cobra.Command, args []string) error {
			for _, dir := range args {
				if err := removeResults(a, dir); err != nil {
					return err
				}
			}
			return nil
		},
	})
	return cmd
}

// keptIn returns the description of the results in an experiment's folder.
func keptIn(dir string) (kept, error) {
	s, err := states.Of(dir)
	if err != nil {
		return kept{}, err
	}
	k := kept{Experiment: s.Experiment, Dir: dir, State: s.State, Changed: s.Started}
	if s.Ended != "" {
		k.Changed = s.Ended
	}
	if k.Bytes, err = sizeOf(dir); err != nil {
		return k, err
	}
	if s.Finished == 0 {
		return k, nil
	}
	e, err := record.Open(dir)
	if err != nil {
		return k, err
	}
	headline, err := states.Headline(e)
	k.Verdict = headline.Sentence
	return k, err
}

// sizeOf returns the total size of the files in a folder, in bytes.
func sizeOf(dir string) (bytes int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return bytes, err
}

func printKept(a *command.App, list []kept) error {
	t := table.New(2, "experiment", "state", "size", "age")
	for _, k := range list {
		age := "–"
		if at, err := time.Parse(time.RFC3339, k.Changed); err == nil {
			age = table.WithUnit(max(0, time.Since(at).Truncate(time.Second).Seconds()), "s")
		}
		t.Add(k.Dir, k.State, table.WithUnit(float64(k.Bytes), "B"), age)
	}
	out := show.Fold(a.Out)
	if err := t.Write(out, "", a.OutColor); err != nil {
		return fmt.Errorf("print results: %w", err)
	}
	for _, k := range list {
		if k.Verdict != "" {
			fmt.Fprintf(out, "\n%s: %s\n", k.Experiment, k.Verdict)
		}
	}
	return nil
}

// removeResults removes the results of one experiment. It returns an error if a run uses the folder.
func removeResults(a *command.App, dir string) error {
	dirs, err := command.ExperimentsIn(dir)
	switch {
	case err != nil:
		return err
	case len(dirs) > 1 || filepath.Clean(dirs[0]) != filepath.Clean(dir):
		return command.Usagef("give the folder of one of them: "+strings.Join(dirs, ", "), "%s holds folders of experiments", dir)
	}
	bytes, err := sizeOf(dir)
	if err != nil {
		return err
	}
	lock, err := store.LockFolder(dir, a.Args)
	if err != nil {
		return err
	}
	err = folder.RemoveAll(dir)
	lock.Release()
	if err != nil {
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	fmt.Fprintf(a.Out, "removed %s (%s)\n", dir, table.WithUnit(float64(bytes), "B"))
	return nil
}
