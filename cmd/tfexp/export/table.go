package export

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/filearg"
	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
	formats "github.com/tfexp/tfexp/results/table/format"
)

// summary is the name of a table that is computed, not a file: the means of each variant, with intervals.
const summary = "summary"

// tables returns the names of the tables of an experiment, and of the tables of single cells.
func tables() (ofExperiment, ofCells []string) {
	ofExperiment = []string{summary}
	for _, t := range table.Tables() {
		ofExperiment = append(ofExperiment, t.Name())
	}
	for _, t := range table.CellTables() {
		ofCells = append(ofCells, t.Name())
	}
	return ofExperiment, ofCells
}

// exportTable has the arguments and flags of the command.
type exportTable struct {
	name, dir, cell, out, format string
	metrics                      []string
}

func exportTableCommand(a *command.App) *cobra.Command {
	var o exportTable
	var docs []string
	var names []string
	for _, f := range formats.Formats() {
		names = append(names, f.Name)
		docs = append(docs, fmt.Sprintf("  %-9s %s", f.Name, f.Doc))
	}
	ofExperiment, ofCells := tables()
	all := slices.Concat(ofExperiment, ofCells)
	cmd := &cobra.Command{
		Use:   "table NAME [--format FORMAT] [--metric NAME]... [--cell CELL] [--dir DIR] [-o FILE]",
		Short: "Write a table of results in another format",
		Long: command.Help(helpTexts, "export_table", "{tables}", show.Paragraph(ofExperiment), "{of cells}", strings.Join(ofCells, ", "),
			"{formats}", strings.Join(docs, "\n")),
		Example: `  tfexp export table metrics
  tfexp export table summary --format latex --metric mean_jct --metric makespan -o summary.tex
  tfexp export table jobs --dir results/fcfs_vs_rr --format jsonl -o jobs.jsonl`,
		Args: cobra.MatchAll(command.Between(1, 1, "NAME"), func(_ *cobra.Command, args []string) error {
			if !slices.Contains(all, args[0]) {
				return command.Usagef(command.DidYouMean(args[0], all, "the tables are "+strings.Join(all, ", ")),
					"there is no table %q", args[0])
			}
			return nil
		}),
		ValidArgs: all,
		RunE: func(_ *cobra.Command, args []string) error {
			o.name = args[0]
			return o.write(a, names)
		},
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().StringVar(&o.format, "format", formats.Lines.Name, "the `FORMAT`: "+strings.Join(names, ", "))
	cmd.Flags().StringVar(&o.dir, "dir", command.DefaultOut, "`DIR` of the results, or one experiment's folder in it")
	cmd.Flags().StringVar(&o.cell, "cell", "", "the `CELL` whose table it is, where cells have one")
	cmd.Flags().StringVarP(&o.out, "output", "o", "", "write to a `FILE` instead of standard output")
	cmd.Flags().StringArrayVar(&o.metrics, "metric", nil, "include only the metric `NAME` in the summary (may be repeated)")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(names,
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// oneExperiment returns the folder of the only experiment in dir.
func oneExperiment(dir string) (string, error) {
	found, err := command.ExperimentsIn(filepath.Clean(dir))
	if err != nil {
		return "", err
	}
	if len(found) > 1 {
		return "", command.Usagef("the experiments are "+strings.Join(found, ", "),
			"there are %d experiments in %s: name one with --dir", len(found), dir)
	}
	return found[0], nil
}

func (o *exportTable) write(a *command.App, names []string) error {
	at := slices.IndexFunc(formats.Formats(), func(f formats.Format) bool { return f.Name == o.format })
	if at < 0 {
		return command.Usagef(command.DidYouMean(o.format, names, "the formats are "+strings.Join(names, ", ")),
			"unknown format %q", o.format)
	}
	format := formats.Formats()[at]
	if o.name != summary && len(o.metrics) > 0 {
		return command.Usagef("it chooses the metrics of the table summary", "--metric cannot be used with the table %s", o.name)
	}
	dir, err := oneExperiment(o.dir)
	if err != nil {
		return err
	}
	var t *table.Table
	switch {
	case o.name == summary, o.cell == "" && format.ForPeople && analysis.ShownAs(o.name) != nil:
		t, err = o.computed(dir, format.ForPeople)
	default:
		return o.exact(a, dir, format)
	}
	if err != nil {
		return err
	}
	return filearg.WriteTo(a, o.out, func(to io.Writer) error { return format.Write(to, t) })
}

// exact writes a table from its CSV file, with all digits.
func (o *exportTable) exact(a *command.App, dir string, format formats.Format) error {
	path := []string{o.name + ".csv"}
	known := table.Tables()
	if ofExperiment, _ := tables(); o.cell != "" {
		path, known = []string{record.CellsDir, o.cell, path[0]}, append(table.CellTables(), known...)
	} else if !slices.Contains(ofExperiment, o.name) {
		return command.Usagef("name one with --cell: tfexp plan lists them", "%s is a table of a cell", o.name)
	}
	f, err := folder.Open(dir, path...)
	if errors.Is(err, fs.ErrNotExist) {
		return command.Usagef("a run writes each table when its stage is done", "there is no %s",
			filepath.Join(dir, filepath.Join(path...)))
	}
	if err != nil {
		return fmt.Errorf("export %s: %w", o.name, err)
	}
	defer f.Close()
	column := columnsOf(known[slices.IndexFunc(known, func(t table.Registered) bool { return t.Name() == o.name })])
	if format.Name == formats.Lines.Name { // written row by row, since a table may have millions
		columns, rows, err := formats.Rows(f, column)
		if err != nil {
			return fmt.Errorf("export %s: %w", f.Name(), err)
		}
		return filearg.WriteTo(a, o.out, func(to io.Writer) error {
			if err := formats.WriteJSONLines(to, columns, rows); err != nil {
				return fmt.Errorf("export %s: %w", f.Name(), err)
			}
			return nil
		})
	}
	t, err := formats.ReadTable(f, column)
	if err != nil {
		return fmt.Errorf("export %s: %w", f.Name(), err)
	}
	if format.ForPeople {
		t = formats.Rounded(t)
	}
	return filearg.WriteTo(a, o.out, func(to io.Writer) error { return format.Write(to, t) })
}

// computed returns a table that is computed from the results. forPeople rounds numbers.
func (o *exportTable) computed(dir string, forPeople bool) (*table.Table, error) {
	e, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	var t table.Table
	if show := analysis.ShownAs(o.name); show != nil {
		t, err = show(e)
		return &t, err
	}
	exact := summaryOf(e)
	kept, err := o.kept(exact)
	if err != nil {
		return nil, err
	}
	if forPeople {
		t = analysis.SummaryTable(e).Without(func(c table.Column) bool { return c.Metric != "" && !kept(c.Metric) })
		return &t, nil
	}
	at := slices.Index(exact.Header(), "metric")
	exact.Rows = slices.DeleteFunc(exact.Rows, func(row []string) bool { return !kept(row[at]) })
	return exact, nil
}

// summaryOf returns the table of means, with a row for each variant and metric.
func summaryOf(e *record.Experiment) *table.Table {
	t := table.New(4, "workload", "hardware", "policy", "variant")
	for _, axis := range e.Plan.Axes {
		t.Columns = append(t.Columns, table.Column{Name: axis, Kind: table.AsLoose})
	}
	t.Columns = append(t.Columns, table.New(2, "metric", "unit", "cells", "mean", "ci_low", "ci_high").Columns...)
	for _, r := range analysis.Summary(e) {
		for _, m := range r.Metrics {
			if !stats.Finite(m.Interval.Mean) {
				continue
			}
			row := []string{r.Workload, r.Hardware, r.Policy, r.Variant}
			for _, axis := range e.Plan.Axes {
				value := ""
				for _, x := range r.Axes {
					if x.Name == axis {
						value = x.Value
					}
				}
				row = append(row, value)
			}
			metric, _ := measure.MetricByName(m.Metric)
			t.Add(append(row, m.Metric, metric.Unit, strconv.Itoa(r.Complete), convertNumber(m.Interval.Mean),
				convertNumber(m.Interval.Low), convertNumber(m.Interval.High))...)
		}
	}
	return &t
}

// kept returns a function that reports whether a metric was requested. Without --metric, all were.
func (o *exportTable) kept(t *table.Table) (func(metric string) bool, error) {
	at := slices.Index(t.Header(), "metric")
	var kept, all []string
	for _, row := range t.Rows {
		all = schema.AddOnce(all, row[at])
	}
	for _, name := range o.metrics {
		m, ok := measure.MetricByName(name)
		if !ok || !slices.Contains(all, m.Name) {
			return nil, command.Usagef(command.DidYouMean(name, all, "it has "+strings.Join(all, ", ")), "the summary has no metric %q", name)
		}
		kept = append(kept, m.Name)
	}
	return func(metric string) bool { return len(kept) == 0 || slices.Contains(kept, metric) }, nil
}

// convertNumber formats a number with all its digits; empty if it is not finite.
func convertNumber(v float64) string {
	if !stats.Finite(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// columnsOf returns a function that finds a table's columns by name. Names that the table does not define are axes of
// the matrix.
func columnsOf(r table.Registered) func(name string) table.Column {
	columns := r.Columns()
	return func(name string) table.Column {
		for _, c := range columns {
			if c.Name == name {
				return c
			}
		}
		return table.Column{Name: name, Kind: table.AsLoose}
	}
}
