// Package cells is the commands about one cell: "tfexp logs" and "tfexp explain".
package cells

import (
	"cmp"
	"embed"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/filearg"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
)

//go:embed help
var helpTexts embed.FS

func init() {
	command.RegisterAt(command.GroupLook, 20, logsCommand)
	command.RegisterAt(command.GroupLook, 30, explainCommand)
}

// cellPath is a cell, and perhaps a job, in an experiment's folder.
type cellPath struct {
	dir  string // the experiment's folder
	cell string
	job  string
}

// logs is the folder with the logs of a cell or, for the name of the samples, with the logs of the samples.
func (p cellPath) logs() string { return filepath.Join(append([]string{p.dir}, p.logParts()...)...) }

// logParts is the same below the experiment's folder.
func (p cellPath) logParts() []string {
	if p.cell == samples {
		return []string{record.SamplesDir}
	}
	return []string{record.CellsDir, p.cell, record.LogsDir}
}

// samples is the name in "tfexp logs" for the runs that profile the jobs.
const samples = "samples"

// namesWithLogs lists the names that have logs: the cells, and the samples if there are some.
func namesWithLogs(dir string) []string {
	names := cellNames(dir)
	if len(jobNames(cellPath{dir: dir, cell: samples})) > 0 {
		names = append(names, samples)
	}
	return names
}

// splitDir takes DIR off the arguments: the first one, if it is a folder and
// not the only place for a cell's name.
func splitDir(args []string) (dir string, rest []string) {
	if len(args) > 0 && filearg.IsDir(args[0]) {
		return filepath.Clean(args[0]), args[1:]
	}
	return command.DefaultOut, args
}

// findCell looks for a cell in the experiments of DIR.
func findCell(dir, cell string) (cellPath, error) {
	dirs, err := command.ExperimentsIn(dir)
	if err != nil {
		return cellPath{}, err
	}
	var found []cellPath
	var names []string
	var damage error // of an experiment whose cells are not known
	folders := func(d string) ([]string, error) { return namesWithLogs(d), nil }
	for _, list := range []func(string) ([]string, error){folders, withoutFolder} {
		for _, d := range dirs {
			listed, err := list(d)
			if err != nil && damage == nil {
				damage = err
			}
			for _, name := range listed {
				names = append(names, name)
				if name == cell {
					found = append(found, cellPath{dir: d, cell: name})
				}
			}
		}
		if len(found) > 0 {
			break
		}
	}
	switch {
	case len(found) == 0 && damage != nil:
		return cellPath{}, fmt.Errorf("find cell %q: %w", cell, damage)
	case len(found) == 0:
		return cellPath{}, command.Usagef(command.DidYouMean(cell, names,
			`"tfexp status" lists the experiments, "tfexp logs" their cells`),
			"no cell %q in %s", cell, dir)
	case len(found) == 1:
		return found[0], nil
	}
	return cellPath{}, command.Usagef("give one of their folders: "+found[0].dir+" or "+found[1].dir,
		"several experiments in %s have a cell %q", dir, cell)
}

// cellNames lists the cells that have a folder, by name, with numbers in
// numerical order.
func cellNames(dir string) []string {
	entries, err := folder.ReadDir(filepath.Join(dir, record.CellsDir))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, byNumber)
	return names
}

// withoutFolder lists the cells of the plan that have no folder: cells that are not complete, and cells that
// recorded metrics alone.
func withoutFolder(dir string) ([]string, error) {
	e, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	names := schema.Each(e.Missing, func(c record.CellRef) string { return c.Cell })
	names = append(names, schema.Each(e.Cells, func(c record.Cell) string { return c.Cell })...)
	return names, nil
}

// jobNames lists the jobs of a cell that have a log, by name, with numbers in
// numerical order.
func jobNames(p cellPath) []string {
	entries, err := folder.ReadDir(p.logs())
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".log"); ok {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, byNumber)
	return names
}

// byNumber orders names, with "short-2" before "short-10".
func byNumber(a, b string) int {
	stemA, numberA := splitNumber(a)
	stemB, numberB := splitNumber(b)
	return cmp.Or(cmp.Compare(stemA, stemB), cmp.Compare(numberA, numberB), cmp.Compare(a, b))
}

func splitNumber(s string) (stem string, number int) {
	stem = strings.TrimRight(s, "0123456789")
	number, err := strconv.Atoi(s[len(stem):])
	if err != nil {
		return s, 0
	}
	return stem, number
}

// completeCells completes [DIR] CELL [JOB].
func completeCells(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	dir, rest := splitDir(args)
	dirs, _ := pipeline.Experiments(dir)
	var names []string
	switch len(rest) {
	case 0:
		for _, d := range dirs {
			names = append(names, namesWithLogs(d)...)
		}
		if len(args) == 0 {
			return append(names, dirs...), cobra.ShellCompDirectiveDefault
		}
	case 1:
		for _, d := range dirs {
			names = append(names, jobNames(cellPath{dir: d, cell: rest[0]})...)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
