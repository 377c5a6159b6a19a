package main

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

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/formats"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/prose"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// summary is the name of the table that is no file: the means of each variant, with their intervals.
const summary = "summary"

// tables are the names of the tables that a folder of results may have.
var tables = []string{summary, "jobs", "metrics", "timings", "samples", "estimates", "accuracy", "profiling",
	"comparisons",
	"fidelity", "fidelity_jobs", "ranking", "decisions", "sequences", "objectives", "training", "trials", "tunings",
	"remaining"}

// exportTable are the arguments and flags of export table.
type exportTable struct {
	name, dir, out, format string
	metrics                []string
}

func exportTableCommand(a *App) *cobra.Command {
	var o exportTable
	var docs []string
	for _, f := range formats.All() {
		docs = append(docs, fmt.Sprintf("  %-9s %s", f.Name, f.Doc))
	}
	cmd := &cobra.Command{
		Use:   "table NAME [--format FORMAT] [--metric NAME]... [--dir DIR] [-o FILE]",
		Short: "Write a table of results as JSON, LaTeX, Markdown, Parquet or CSV",
		Long: `Write a table of an experiment's results in another format. The columns are those
of the CSV file, in their order. The tables are ` + strings.Join(tables, ", ") + `;
summary has the means of each policy with their 95% intervals. The formats are

` + strings.Join(docs, "\n") + `

The tables for people, latex and markdown, show summary and comparisons as the
report does: with units and intervals.

Exit status: 0; 2 when there is no such table or format, or DIR does not hold the
results of one experiment.`,
		Example: `  tfexp export table metrics
  tfexp export table summary --format latex --metric mean_jct --metric makespan -o summary.tex
  tfexp export table jobs --dir results/fcfs_vs_rr --format parquet -o jobs.parquet`,
		Args: cobra.MatchAll(Between(1, 1, "NAME"), func(_ *cobra.Command, args []string) error {
			if !slices.Contains(tables, args[0]) {
				return Usagef(DidYouMean(args[0], tables, "the tables are "+strings.Join(tables, ", ")),
					"there is no table %q", args[0])
			}
			return nil
		}),
		ValidArgs: tables,
		RunE: func(_ *cobra.Command, args []string) error {
			o.name = args[0]
			return o.write(a)
		},
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().StringVar(&o.format, "format", formats.Lines.Name, "the `FORMAT`: "+strings.Join(formats.Names(), ", "))
	cmd.Flags().StringVar(&o.dir, "dir", DefaultOut, "`DIR` of the results, or one experiment's folder in it")
	cmd.Flags().StringVarP(&o.out, "output", "o", "", "write to a `FILE` instead of standard output")
	cmd.Flags().StringArrayVar(&o.metrics, "metric", nil, "leave only the metric `NAME` in the summary (repeatable)")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats.Names(),
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// oneExperiment finds the only experiment in a folder.
func oneExperiment(dir string) (string, error) {
	found, err := ExperimentsIn(filepath.Clean(dir))
	if err != nil {
		return "", err
	}
	if len(found) > 1 {
		return "", Usagef("the experiments are "+strings.Join(found, ", "),
			"there are %d experiments in %s: name one with --dir", len(found), dir)
	}
	return found[0], nil
}

func (o *exportTable) write(a *App) error {
	format, ok := formats.ByName(o.format)
	if !ok {
		return Usagef(DidYouMean(o.format, formats.Names(), "the formats are "+strings.Join(formats.Names(), ", ")),
			"unknown format %q", o.format)
	}
	dir, err := oneExperiment(o.dir)
	if err != nil {
		return err
	}
	if o.name == summary {
		e, err := record.Open(dir)
		if err != nil {
			return err
		}
		t := summaryOf(e)
		if err := o.keep(t); err != nil {
			return err
		}
		return a.WriteTo(o.out, func(to io.Writer) error { return format.Write(to, t) })
	}
	if len(o.metrics) > 0 {
		return Usagef("it chooses the metrics of the table summary", "--metric does not go with the table %s", o.name)
	}
	f, err := folder.Open(dir, o.name+".csv")
	if errors.Is(err, fs.ErrNotExist) {
		return Usagef("a run writes each table when its stage is done", "there is no %s",
			filepath.Join(dir, o.name+".csv"))
	}
	if err != nil {
		return fmt.Errorf("export %s: %w", o.name, err)
	}
	defer f.Close()
	if format.Name == formats.Lines.Name { // a row at a time: there may be millions
		return a.WriteTo(o.out, func(to io.Writer) error {
			if err := record.JSONLines(to, f); err != nil {
				return fmt.Errorf("export %s: %w", f.Name(), err)
			}
			return nil
		})
	}
	t, err := formats.Read(o.name, f, record.TextColumn)
	if err != nil {
		return fmt.Errorf("export %s: %w", f.Name(), err)
	}
	if o.name == "comparisons" {
		e, err := record.Open(dir)
		if err != nil {
			return err
		}
		rows, err := analysis.Comparisons(e)
		if err != nil {
			return err
		}
		people := prose.Comparisons(e.Plan, rows)
		t.People = &people
	}
	return a.WriteTo(o.out, func(to io.Writer) error { return format.Write(to, t) })
}

// summaryOf is the table of means: a row for each variant and metric.
func summaryOf(e *record.Experiment) *formats.Table {
	people := prose.Summary(e)
	t := &formats.Table{
		Name: summary, People: &people,
		Header: slices.Concat([]string{"workload", "hardware", "policy", "variant"}, e.Plan.Axes,
			[]string{"metric", "unit", "cells", "mean", "ci_low", "ci_high"}),
	}
	t.Text = func(column string) bool {
		return slices.Contains([]string{"workload", "hardware", "policy", "variant", "metric", "unit"}, column)
	}
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
			t.Rows = append(t.Rows, append(row, m.Metric, metric.Unit, strconv.Itoa(r.Complete), convertNumber(m.Interval.Mean),
				convertNumber(m.Interval.Low), convertNumber(m.Interval.High)))
		}
	}
	return t
}

// keep leaves in the summary the metrics that were asked for; without any, all.
func (o *exportTable) keep(t *formats.Table) error {
	if len(o.metrics) == 0 {
		return nil
	}
	at := slices.Index(t.Header, "metric")
	var kept, all []string
	for _, row := range t.Rows {
		if !slices.Contains(all, row[at]) {
			all = append(all, row[at])
		}
	}
	for _, name := range o.metrics {
		m, ok := measure.MetricByName(name)
		if !ok || !slices.Contains(all, m.Name) {
			return Usagef(DidYouMean(name, all, "it has "+strings.Join(all, ", ")), "the summary has no metric %q", name)
		}
		kept = append(kept, m.Name)
	}
	t.Rows = slices.DeleteFunc(t.Rows, func(row []string) bool { return !slices.Contains(kept, row[at]) })
	people := *t.People
	for _, name := range t.People.Metrics {
		if !slices.Contains(kept, name) {
			people = people.Without(name)
		}
	}
	t.People = &people
	return nil
}

// number writes a number with all its digits; empty for one that is not known.
func convertNumber(v float64) string {
	if !stats.Finite(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
