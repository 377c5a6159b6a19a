package cells

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/flags"
	"github.com/tfexp/tfexp/cmd/tfexp/live"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/pipeline/history"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

func explainCommand(a *command.App) *cobra.Command {
	var (
		job    string
		asJSON bool
		others []*flags.Given[momentFlag]
	)
	cmd := &cobra.Command{
		Use:   "explain [DIR] CELL [--job JOB] [--json]",
		Short: "Explain why a cell ran, and what was decided about a job",
		Long:  command.Help(helpTexts, "explain"),
		Example: `  tfexp explain mixed-this_machine-rr-r1
  tfexp explain mixed-this_machine-rr-r1 --job short-3`,
		Args:              command.Between(1, 2, "CELL"),
		ValidArgsFunction: completeCells,
		RunE: func(_ *cobra.Command, args []string) error {
			dir, rest := splitDir(args)
			switch len(rest) {
			case 0:
				return command.Usagef("\"tfexp logs "+dir+"\" lists the cells", "CELL is missing")
			case 2:
				return command.NoResults(args[0])
			}
			at, err := findCell(dir, rest[0])
			if err != nil {
				return err
			}
			if job != "" {
				at.job = job
				return explainJob(a, at, others, asJSON)
			}
			for _, f := range others {
				if f.Value != "" {
					return command.Usagef("", "--%s has an effect only with --job", f.Name)
				}
			}
			return explainCell(a, at, asJSON)
		},
	}
	cmd.Flags().StringVar(&job, "job", "", "explain the decisions about this `JOB`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	others = flags.Add[momentFlag](cmd)
	return cmd
}

// momentFlag is the function of a flag that a feature adds (flags.Flag): it returns a moment to add to a job's history.
// file is the flag's value.
type momentFlag = func(a *command.App, file, job string) (flags.Moment, error)

func explainJob(a *command.App, at cellPath, others []*flags.Given[momentFlag], asJSON bool) error {
	e, err := record.Open(at.dir)
	if err != nil {
		return err
	}
	ref := record.CellRef{Cell: at.cell}
	if i := slices.IndexFunc(e.Plan.Cells, func(c record.CellRef) bool { return c.Cell == at.cell }); i >= 0 {
		ref = e.Plan.Cells[i]
	}
	story, jobs, err := jobHistory(e, ref, at.job)
	if errors.Is(err, fs.ErrNotExist) {
		return command.Usagef(`decisions are not recorded when the experiment has records = "metrics"`,
			"cell %s has no record of its decisions", at.cell)
	}
	if err != nil {
		return err
	}
	if !slices.Contains(jobs, at.job) {
		some := ""
		if len(jobs) > 0 {
			some = fmt.Sprintf("the cell has %s; the first is %q", schema.Plural(len(jobs), "job"), jobs[0])
		}
		return command.Usagef(command.DidYouMean(at.job, jobs, some), "no job %q in %s", at.job, at.cell)
	}
	for _, f := range others {
		if f.Value == "" {
			continue
		}
		m, err := f.Do(a, f.Value, at.job)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(story, func(x historyEntry) bool { return x.At > m.At })
		if i < 0 {
			i = len(story)
		}
		story = slices.Insert(story, i, historyEntry{At: m.At, What: m.What, Why: m.Why})
	}
	if asJSON {
		return a.PrintJSON(struct {
			Cell  string         `json:"cell"`
			Job   string         `json:"job"`
			Story []historyEntry `json:"story"`
		}{at.cell, at.job, story})
	}
	fmt.Fprintf(a.Out, "%s in %s\n", a.Printer().Paint(table.Bold, at.job), at.cell)
	from := clock(0)
	if i := slices.IndexFunc(e.Plan.Workloads, func(w record.Named) bool { return w.Name == ref.Workload }); i >= 0 {
		from = clock(e.Plan.Workloads[i].Origin)
	}
	printHistory(a.Printer(), story, from)
	return nil
}

func explainCell(a *command.App, at cellPath, asJSON bool) error {
	x, err := history.Explain(at.dir, at.cell)
	if err != nil {
		return err
	}
	if asJSON {
		return a.PrintJSON(x)
	}
	fmt.Fprintf(a.Out, "%s in %s: %s\n", a.Printer().Paint(table.Bold, x.Cell), at.dir, x.State)
	if !x.Ran.IsZero() {
		fmt.Fprintf(a.Out, "ran %s", x.Ran.Local().Format("2006-01-02 15:04:05"))
		if x.Seconds > 0 {
			fmt.Fprintf(a.Out, " for %s", live.Duration(time.Duration(x.Seconds*float64(time.Second))))
		}
		fmt.Fprintf(a.Out, ": %s\n", x.Reason)
		a.Printer().Changes(x.Changes)
	}
	if x.Error != "" {
		fmt.Fprintln(a.Out, x.Error)
	}
	if len(x.Failures) > 0 {
		fmt.Fprintln(a.Out, "\njobs that failed:")
		a.Printer().FailedJobs(x.Failures, x.More)
		fmt.Fprintf(a.Out, "  what a job printed: tfexp logs %s %s %s\n", at.dir, x.Cell, x.Failures[0].Job)
	}
	if len(x.Lines) > 0 {
		fmt.Fprintf(a.Out, "\nits results depend on this (key %.12s…):\n", x.Key)
		for _, l := range x.Lines {
			fmt.Fprintf(a.Out, "    %s\n", l)
		}
	}
	return nil
}
