// Package compare is the command "tfexp compare".
package compare

import (
	"embed"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

//go:embed help
var helpTexts embed.FS

func init() {
	command.RegisterAt(command.GroupLook, 40, compareCommand)
}

// compareOptions are the options of a comparison of two folders.
type compareOptions struct {
	metrics []string
	by      string
	level   float64
	json    bool
}

func compareCommand(a *command.App) *cobra.Command {
	o := compareOptions{level: analysis.DefaultLevel}
	cmd := &cobra.Command{
		Use:   "compare DIR_A DIR_B [--metric NAME]... [--by class|user|size] [--json]",
		Short: "Compare two folders of results",
		Long:  command.Help(helpTexts, "compare"),
		Example: `  tfexp compare before/fcfs_vs_rr after/fcfs_vs_rr
  tfexp compare old new --metric mean_waiting --metric makespan --by class`,
		Args:              command.Between(2, 2, "a second folder"),
		ValidArgsFunction: command.CompleteDir,
		RunE: func(_ *cobra.Command, args []string) error {
			var both [2]*record.Experiment
			for i, dir := range args {
				dirs, err := command.ExperimentsIn(dir)
				if err != nil {
					return err
				}
				if len(dirs) > 1 {
					return command.Usagef("give the folder of one of them: "+strings.Join(dirs, ", "), "%s has several experiments", dir)
				}
				if both[i], err = record.Open(dirs[0]); err != nil {
					return err
				}
			}
			return compareFolders(a, both[0], both[1], &o)
		},
	}
	cmd.Flags().StringArrayVar(&o.metrics, "metric", nil, "`NAME` of a metric; may be repeated")
	cmd.Flags().StringVar(&o.by, "by", "", "compare within each class, user or size of jobs")
	cmd.Flags().Float64Var(&o.level, "level", o.level, "level of the confidence intervals")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func compareFolders(a *command.App, before, after *record.Experiment, o *compareOptions) error {
	metrics, err := o.chosen(after.Plan)
	if err != nil {
		return err
	}
	rows := across(before, after, metrics, o.by, o.level)
	if len(rows) == 0 {
		return command.Usagef("variants are the same when policy, axes, workload and hardware have the same names",
			"%s and %s have no common variant with results", before.Dir, after.Dir)
	}
	if o.json {
		return a.PrintJSON(rows)
	}
	was, is := distinct(before.Dir, after.Dir)
	t := table.New(2, "variant", "metric", was, is, "change", "verdict")
	for _, r := range rows {
		m, _ := measure.MetricByName(r.Metric)
		variant := analysis.VariantOf(after.Plan, r)
		if r.By != "" {
			variant += ", " + r.By + " " + analysis.GroupName(r.By, r.Group)
		}
		unit, change := table.UnitFor(m.Unit, r.BaselineMean, r.CandidateMean), analysis.ChangeOf(&r)
		t.Add(variant, unit.Label(m.Title), unit.Number(r.BaselineMean), unit.Number(r.CandidateMean),
			percent(r.Ratio-1), change.Word())
	}
	out := a.Printer().Out
	if columns, ok := show.Columns(a.Out); ok && t.Width() > columns { // paths can be too wide for the terminal
		t.Columns[2].Name, t.Columns[3].Name = "A", "B"
		fmt.Fprintf(out, "A is %s, B is %s.\n\n", was, is)
		if t.Width() > columns { // the sentences below state the verdicts
			t = t.Without(func(c table.Column) bool { return c.Name == "verdict" })
		}
	}
	if err := t.Write(a.Out, "", a.OutColor); err != nil {
		return err
	}
	fmt.Fprintln(out)
	same := 0 // rows without any difference, for which the table is enough
	for _, r := range rows {
		if c := analysis.ChangeOf(&r); c.Same() {
			same++
		} else {
			fmt.Fprintln(out, said(after.Plan, &r))
		}
	}
	switch {
	case same == len(rows):
		fmt.Fprintln(out, "Nothing has changed: all means are the same in both folders.")
	case same == 1:
		fmt.Fprintln(out, "In the other row the mean is the same.")
	case same > 1:
		fmt.Fprintf(out, "In the other %d rows the means are the same.\n", same)
	}
	unshared(out, was, unsharedBy(after, before))
	unshared(out, is, unsharedBy(before, after))
	return nil
}

// mostUnshared is the largest number of uncompared variants that are named.
const mostUnshared = 6

// unshared prints variants that are not compared, because only the folder dir has them.
func unshared(w io.Writer, dir string, variants []analysis.Variant) {
	if len(variants) == 0 {
		return
	}
	var names []string
	for _, v := range variants[:min(len(variants), mostUnshared)] {
		names = append(names, v.Label)
	}
	more := ""
	if n := len(variants) - len(names); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	fmt.Fprintf(w, "Only in %s, and not compared: %s%s.\n", dir, strings.Join(names, ", "), more)
}

// chosen returns the metrics to compare.
func (o *compareOptions) chosen(p record.Plan) ([]measure.Metric, error) {
	if !(o.level > 0 && o.level < 1) {
		return nil, command.Usagef("", "--level is %v: it must be between 0 and 1", o.level)
	}
	names := o.metrics
	if len(names) == 0 {
		names = append(names, schema.Each(p.Compares, func(c record.Compare) string { return c.Metric })...)
	}
	if len(names) == 0 {
		names = []string{measure.MeanJCT.Name, measure.MeanWaiting.Name, measure.Makespan.Name}
	}
	if o.by != "" && measure.GroupOf(o.by, "x", "x", 1, 0) == "" {
		return nil, command.Usagef("it is class, user or size", "there is no grouping %q", o.by)
	}
	var list []measure.Metric
	seen := map[string]bool{}
	for _, name := range names {
		m, ok := measure.MetricByName(name)
		if !ok {
			return nil, command.Usagef("\"tfexp help run\" and docs/results.md list the metrics", "there is no metric %q", name)
		}
		if o.by != "" && !m.Grouped {
			if len(o.metrics) > 0 {
				return nil, command.Usagef("", "%s is not available by %s", m.Name, o.by)
			}
			continue
		}
		if !seen[m.Name] {
			seen[m.Name] = true
			list = append(list, m)
		}
	}
	return list, nil
}

// distinct returns short names of two folders: their paths without the common beginning and the common end.
func distinct(a, b string) (string, string) {
	parts := func(dir string) []string {
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
		return strings.Split(filepath.ToSlash(dir), "/")
	}
	p, q := parts(a), parts(b)
	for len(p) > 1 && len(q) > 1 && p[0] == q[0] {
		p, q = p[1:], q[1:]
	}
	for len(p) > 1 && len(q) > 1 && p[len(p)-1] == q[len(q)-1] {
		p, q = p[:len(p)-1], q[:len(q)-1]
	}
	return strings.Join(p, "/"), strings.Join(q, "/")
}

// percent writes a change: "+12%", "−0.8%"; "–" when it is not known.
func percent(change float64) string {
	if !stats.Finite(change) {
		return "–"
	}
	return table.Signed(change)
}
