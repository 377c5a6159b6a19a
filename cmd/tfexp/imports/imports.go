// Package imports is the command "tfexp import", which turns recorded training runs into results.
package imports

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/imports/study"
	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler/workload/runs"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/report"
)

//go:embed help
var helpTexts embed.FS

func init() {
	command.Register(command.GroupLook, Import)
}

// Import returns the subcommand import.
func Import(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import runs DIR",
		Short: "Turn recorded training runs into results",
		Long:  "Turn recordings of other tools into results that report, plot, compare and export can read.",
		Example: `  tfexp import runs measurements --steps 64000
  tfexp report results/measurements`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.Usagef("usage: "+cmd.UseLine(), "name what to import: runs")
			}
			return command.Usagef(command.DidYouMean(args[0], []string{"runs"}, "usage: "+cmd.UseLine()), "cannot import %q", args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(importRunsCommand(a))
	return cmd
}

// importRuns has the flags of import runs. A value may apply to all configurations (VALUE) or to one
// (CONFIGURATION=VALUE).
type importRuns struct {
	out, name, baseline                    string
	steps                                  int
	columns, revoked, settings             []string
	workers, servers, workerUSD, serverUSD []string
}

func importRunsCommand(a *command.App) *cobra.Command {
	var o importRuns
	var facts strings.Builder
	for _, f := range runs.Facts {
		fmt.Fprintf(&facts, "  %-9s %s\n", f.Name, f.Doc)
	}
	cmd := &cobra.Command{
		Use:   "runs DIR [--steps N] [--worker-price USD] [--out DIR]",
		Short: "Turn tables of recorded training runs into results",
		Long:  command.Help(helpTexts, "import_runs", "{facts}", facts.String()),
		Example: `  tfexp import runs measurements --steps 64000 --parameter-servers 1 --worker-price 0.2556
  tfexp import runs measurements --column time=when --column step=iteration
  tfexp import runs measurements --workers 4-demand=4 --worker-price 4-demand=0.723`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return command.Usagef("usage: "+cmd.UseLine(), "name the folder of the tables")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return writeRuns(a, filepath.Clean(args[0]), &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.out, "out", command.DefaultOut, "the `DIR` in which the folder of results is made")
	f.StringVar(&o.name, "name", "", "the `NAME` of the results; by default the name of the folder")
	f.StringVar(&o.baseline, "baseline", "", "the `CONFIGURATION` that the others are compared with; by default the first")
	f.StringSliceVar(&o.settings, "settings", nil, "the `NAMES` of the settings, as workers,gpu; folder names contain their values")
	f.IntVar(&o.steps, "steps", 0, "the last step of a whole run, `N`; by default runs end with their last row")
	f.StringArrayVar(&o.columns, "column", nil, "the name of a column in the tables, as `fact=name` (may be repeated)")
	f.StringArrayVar(&o.revoked, "revoked", nil, "a `VALUE` that marks a revoked server (may be repeated)")
	f.StringArrayVar(&o.workers, "workers", nil, "workers of a run, `[CONFIGURATION=]N`; by default its servers")
	f.StringArrayVar(&o.servers, "parameter-servers", nil, "parameter servers of a run, `[CONFIGURATION=]N`")
	f.StringArrayVar(&o.workerUSD, "worker-price", nil, "dollars an hour of a worker, `[CONFIGURATION=|TYPE=]USD`")
	f.StringArrayVar(&o.serverUSD, "parameter-server-price", nil,
		"dollars an hour of a parameter server, `[CONFIGURATION=]USD`")
	return cmd
}

// writeRuns reads the tables in a folder and writes the results.
func writeRuns(a *command.App, dir string, o *importRuns) error {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	s := study.Study{
		Name: o.name, Source: dir, Baseline: o.baseline, Version: command.ThisBuild().Version, Command: a.Args,
	}
	if s.Name == "" {
		s.Name = filepath.Base(absolute)
	}
	if strings.ContainsAny(s.Name, `/\`) {
		return command.Usagef("", "--name %q: it must be the name of a folder in --out", s.Name)
	}
	names, err := o.read(dir, filepath.Base(absolute), &s)
	if err != nil {
		return err
	}
	if s.Baseline == "" {
		s.Baseline = s.Configurations[0].Name
	} else if !slices.Contains(names, s.Baseline) {
		return command.Usagef(command.DidYouMean(s.Baseline, names, "the configurations are "+strings.Join(names, ", ")),
			"there is no configuration %q", s.Baseline)
	}
	if err := s.NameSettings(o.settings); err != nil {
		return command.Usagef("--settings names the parts of the folders' names, as workers,gpu for 4-k80", "%v", err)
	}
	out := filepath.Join(o.out, s.Name)
	if err := study.Write(out, s); err != nil {
		if errors.Is(err, study.ErrOther) {
			return command.Usagef("choose another --name or --out", "%v", err)
		}
		return err
	}
	ctx := context.Background()
	_, err = command.Summed(out, func() ([]string, error) {
		if _, err := plot.Redraw(ctx, out); err != nil {
			return nil, err
		}
		path, err := report.Rewrite(ctx, out)
		return []string{path}, err
	})
	if err != nil {
		return err
	}
	return printSummary(a.Printer(), out)
}

// read reads the runs of each configuration, and returns the names of the configurations.
func (o *importRuns) read(dir, base string, s *study.Study) ([]string, error) {
	folders := []string{dir}
	names := []string{base}
	entries, err := folder.ReadDir(dir)
	if err != nil {
		return nil, command.Usagef("", "read recorded runs: %v", err)
	}
	for _, e := range entries {
		if e.IsDir() {
			folders, names = append(folders, filepath.Join(dir, e.Name())), append(names, e.Name())
		}
	}
	var none error
	var found, skipped []string
	for i, folder := range folders {
		opts, err := o.options(names[i])
		if err != nil {
			return nil, err
		}
		opts.TypePrices = o.types(names)
		s.Warnings = append(s.Warnings, databases(folder)...)
		list, warnings, err := runs.Read(folder, opts)
		if errors.Is(err, runs.ErrNoTables) {
			if none == nil {
				none = err
			}
			if i > 0 {
				skipped = append(skipped, names[i])
			}
			continue
		}
		if err != nil {
			return nil, command.Usagef("", "%v", err)
		}
		for _, w := range warnings {
			s.Warnings = append(s.Warnings, names[i]+": "+w)
		}
		found = append(found, names[i])
		s.Configurations = append(s.Configurations, configuration(names[i], &opts, list))
	}
	if len(found) == 0 {
		if only := databases(dir); len(only) > 0 {
			return nil, command.Usagef("", "%s", only[0])
		}
		return nil, command.Usagef("DIR must have tables, or subfolders with tables", "%v", none)
	}
	if len(skipped) > 0 {
		s.Warnings = append(s.Warnings, "folders without tables of checkpoints were skipped: "+strings.Join(skipped, ", "))
	}
	return found, o.known(names, s.Configurations)
}

// types returns the prices of worker types. They are the values of --worker-price whose name is not a configuration.
// The method options has checked the numbers.
func (o *importRuns) types(configurations []string) (list []runs.TypePrice) {
	for _, v := range o.workerUSD {
		if name, text, ok := cutLast(v); ok && !slices.Contains(configurations, name) {
			usd, _ := strconv.ParseFloat(text, 64)
			list = append(list, runs.TypePrice{Type: name, Price: usd})
		}
	}
	return list
}

// configuration describes the runs in one folder.
func configuration(name string, o *runs.Options, list []runs.Run) study.Configuration {
	c := study.Configuration{Name: name, Workers: o.Workers, Runs: list}
	for i := range list {
		if c.Workers == 0 {
			c.Workers = max(c.Workers, len(list[i].Servers))
		}
	}
	parts := []string{show.Count(len(list), "run", "runs")}
	if c.Workers > 0 {
		parts = append(parts, show.Count(c.Workers, "worker", "workers"))
	}
	if o.ParameterServers > 0 {
		parts = append(parts, show.Count(o.ParameterServers, "parameter server", "parameter servers"))
	}
	if o.WorkerPrice > 0 {
		parts = append(parts, fmt.Sprintf("$%.4g per worker-hour", o.WorkerPrice))
	}
	c.Summary = strings.Join(parts, ", ")
	return c
}

// options returns the options for reading the runs of one configuration.
func (o *importRuns) options(name string) (runs.Options, error) {
	out := runs.Options{Steps: o.steps, Revoked: o.revoked, Columns: map[string]string{}}
	for _, c := range o.columns {
		fact, column, ok := strings.Cut(c, "=")
		if !ok {
			return out, command.Usagef("", "--column %q: write FACT=NAME", c)
		}
		out.Columns[fact] = column
	}
	if err := out.CheckColumns(); err != nil {
		return out, command.Usagef("", "--column: %v", err)
	}
	if o.steps < 0 {
		return out, command.Usagef("", "--steps is %d: it cannot be negative", o.steps)
	}
	for _, f := range []struct {
		flag   string
		values []string
		set    func(float64)
		whole  bool
	}{
		{"workers", o.workers, func(v float64) { out.Workers = int(v) }, true},
		{"parameter-servers", o.servers, func(v float64) { out.ParameterServers = int(v) }, true},
		{"worker-price", o.workerUSD, func(v float64) { out.WorkerPrice = v }, false},
		{"parameter-server-price", o.serverUSD, func(v float64) { out.ParameterServerPrice = v }, false},
	} {
		if err := choose(f.flag, f.values, name, f.whole, f.set); err != nil {
			return out, err
		}
	}
	return out, nil
}

// choose calls set with the value of a flag for a configuration. A value for this configuration takes precedence over a
// value for all.
func choose(flag string, values []string, name string, whole bool, set func(float64)) error {
	own := false
	for _, v := range values {
		which, text, ok := cutLast(v)
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || n < 0 || whole && n != float64(int(n)) {
			kind := "number"
			if whole {
				kind = "whole number"
			}
			return command.Usagef("", "--%s %q: %q is no %s of at least 0", flag, v, text, kind)
		}
		if ok && which == name {
			own = true
			set(n)
		} else if !ok && !own {
			set(n)
		}
	}
	return nil
}

// cutLast cuts CONFIGURATION=VALUE at its last equals sign.
func cutLast(v string) (name, value string, ok bool) {
	i := strings.LastIndexByte(v, '=')
	if i < 0 {
		return "", v, false
	}
	return v[:i], v[i+1:], true
}

// known returns an error if a flag names a configuration or worker type that does not exist.
func (o *importRuns) known(names []string, configurations []study.Configuration) error {
	for _, t := range o.types(names) {
		for _, c := range configurations {
			for _, run := range c.Runs {
				if slices.ContainsFunc(run.Servers, func(s runs.Server) bool { return t.Has(s.Name) }) {
					names = append(names, t.Type)
				}
			}
		}
	}
	for _, v := range slices.Concat(o.workers, o.servers, o.workerUSD, o.serverUSD) {
		if name, _, ok := cutLast(v); ok && !slices.Contains(names, name) {
			return command.Usagef(command.DidYouMean(name, names, "the configurations are "+strings.Join(names, ", ")),
				"there is no configuration %q, and no server has it in its name", name)
		}
	}
	return nil
}

// printSummary prints a summary of imported results.
func printSummary(p *show.Printer, dir string) error {
	e, err := record.Open(dir)
	if err != nil {
		return err
	}
	comparisons, err := analysis.Comparisons(e)
	if err != nil {
		return err
	}
	headline, err := analysis.HeadlineOf(e, comparisons, nil)
	if err != nil {
		return err
	}
	if err := p.Headline(e.Plan.Description, headline); err != nil {
		return err
	}
	if doubts := analysis.Doubts(analysis.Unsaid(e, comparisons), show.NamedCells); len(doubts) > 0 {
		fmt.Fprintln(p.Out)
		p.Doubts(doubts)
	}
	fmt.Fprintf(p.Out, "\n%s\nreport: %s\n", show.Count(len(e.Cells), "recorded run", "recorded runs"),
		filepath.Join(dir, record.ReportFile))
	return nil
}
