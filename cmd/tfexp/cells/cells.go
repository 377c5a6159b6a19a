// Package cells has two commands about one cell: "tfexp logs" and "tfexp explain".
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

// cellPath is a cell in an experiment's folder, and optionally one of its jobs.
type cellPath struct {
	dir  string // the experiment's folder
	cell string
	job  string
}

// logs returns the folder of the cell's logs; for the name "samples", the folder of the samples' logs.
func (p cellPath) logs() string { return filepath.Join(append([]string{p.dir}, p.logParts()...)...) }

// logParts is the path of the logs' folder, relative to the experiment's folder.
func (p cellPath) logParts() []string {
	if p.cell == samples {
		return []string{record.SamplesDir}
	}
	return []string{record.CellsDir, p.cell, record.LogsDir}
}

// samples is the name that "tfexp logs" accepts in place of a cell, for the runs that profile the jobs.
const samples = "samples"

// namesWithLogs lists the cells with logs, and "samples" if samples have logs.
func namesWithLogs(dir string) []string {
	names := cellNames(dir)
	if len(jobNames(cellPath{dir: dir, cell: samples})) > 0 {
		names = append(names, samples)
	}
	return names
}

// splitDir separates DIR from the other arguments. The first argument is DIR if it is a folder and another argument can
// name the cell.
func splitDir(args []string) (dir string, rest []string) {
	if len(args) > 0 && filearg.IsDir(args[0]) {
		return filepath.Clean(args[0]), args[1:]
	}
	return command.DefaultOut, args
}

// findCell finds the cell of this name in the experiments of DIR.
func findCell(dir, cell string) (cellPath, error) {
	dirs, err := command.ExperimentsIn(dir)
	if err != nil {
		return cellPath{}, err
	}
	var found []cellPath
	var names []string
	var damage error // the error of an experiment whose cells cannot be read
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
		return cellPath{}, command.Usagef(command.DidYouMean(cell, append(names, dirs...),
			`"tfexp status" lists the experiments, "tfexp logs" their cells`),
			"no cell %q in %s", cell, dir)
	case len(found) == 1:
		return found[0], nil
	}
	return cellPath{}, command.Usagef("give one of their folders: "+found[0].dir+" or "+found[1].dir,
		"several experiments in %s have a cell %q", dir, cell)
}

// cellNames lists the cells with a folder, sorted by name; numbers in names are sorted by value.
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

// withoutFolder lists the planned cells without a folder: incomplete cells, and cells that recorded only metrics.
func withoutFolder(dir string) ([]string, error) {
	e, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	names := schema.Each(e.Missing, func(c record.CellRef) string { return c.Cell })
	names = append(names, schema.Each(e.Cells, func(c record.Cell) string { return c.Cell })...)
	return names, nil
}

// jobNames lists the jobs of a cell with a log, sorted by name; numbers in names are sorted by value.
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

// byNumber compares names so that "short-2" comes before "short-10".
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

// completeCells completes the arguments [DIR] CELL [JOB] for shells.
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
