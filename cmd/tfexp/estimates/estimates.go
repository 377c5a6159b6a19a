// Package estimates is the command "tfexp estimate".
package estimates

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/filearg"
	"github.com/tfexp/tfexp/estimator"
)

//go:embed help
var helpTexts embed.FS

func init() {
	command.Register(command.GroupLook, estimateCommand)
}

// estimateOptions are the flags of the command estimate.
type estimateOptions struct {
	logs, history []string
	curves        []string
	model         string
	fraction      float64
	total         int
	level         float64
	tick          time.Duration
	alone         bool
	lenient       bool
	threads       []int
	half          bool
	asJSON        bool
}

func estimateCommand(a *command.App) *cobra.Command {
	var o estimateOptions
	cmd := &cobra.Command{
		Use: `estimate [DIR]
  tfexp estimate --from-log FILE... [--fraction F] [--total STEPS] [--history FILE...] [--model MODEL]
  tfexp estimate --curve FILE... [--threads N,...] [--half]`,
		Short: "Predict run times from logs, or show the estimates of an experiment",
		Long:  command.Help(helpTexts, "estimate"),
		Example: `  tfexp estimate --from-log train_data.csv --fraction 0.0625
  tfexp estimate --from-log train_data.csv --fraction 0.125 --history train_data.csv --json
  tfexp estimate --from-log job.log --total 60 --model linear
  tfexp estimate --curve times.csv --threads 6,12
  tfexp estimate results/fcfs_vs_rr`,
		Args:              command.Between(0, 1, ""),
		ValidArgsFunction: command.CompleteDir,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, args); err != nil {
				return err
			}
			switch {
			case len(o.logs) > 0:
				return estimateLogs(a, o)
			case len(o.curves) > 0:
				return estimateCurves(a, o)
			}
			return showEstimates(a, command.DirArgument(args), o.asJSON)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.logs, "from-log", nil, "predict the runs of a training log `FILE` (may be repeated)")
	f.StringArrayVar(&o.history, "history", nil, "whole runs of the same job, in a log `FILE` (may be repeated)")
	f.StringArrayVar(&o.curves, "curve", nil,
		"fit a curve to the run times by threads in a table `FILE` (may be repeated)")
	f.StringVar(&o.model, "model", "auto", "the run-time `MODEL`: "+strings.Join(modelNames(), ", "))
	f.Float64Var(&o.fraction, "fraction", 0,
		"use only this `PART` of each run (default: 0.0625 of finished runs, all of other runs)")
	f.IntVar(&o.total, "total", 0,
		"the number of `STEPS` in a whole run (default: the last step in the log, rounded down to three digits)")
	f.Float64Var(&o.level, "level", 0.9, "`LEVEL` of the prediction interval, between 0 and 1")
	f.DurationVar(&o.tick, "tick", 0, "the resolution of the log's clock, like `60s` (default: detected from the log)")
	f.BoolVar(&o.alone, "alone", false, "predict each run from its own rows only")
	f.BoolVar(&o.lenient, "lenient", false, "skip malformed lines of logs, with a warning")
	f.IntSliceVar(&o.threads, "threads", nil, "also predict the run time with `N,...` threads")
	f.BoolVar(&o.half, "half", false, "fit every second number of threads, and predict the others")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	return cmd
}

// check returns an error for invalid values, and for flags that would have no effect.
func (o *estimateOptions) check(cmd *cobra.Command, args []string) error {
	logs, curves := len(o.logs) > 0, len(o.curves) > 0
	if logs && curves {
		return command.Usagef("", "--from-log and --curve cannot be used together")
	}
	if (logs || curves) && len(args) > 0 {
		return command.Usagef(fmt.Sprintf("did you mean --from-log %s?", args[0]), "unexpected argument %q", args[0])
	}
	for _, f := range []struct {
		name, needs string
		ok          bool
	}{
		{"history", "--from-log", logs}, {"model", "--from-log", logs}, {"fraction", "--from-log", logs},
		{"total", "--from-log", logs}, {"tick", "--from-log", logs}, {"alone", "--from-log", logs},
		{"lenient", "--from-log", logs}, {"threads", "--curve", curves}, {"half", "--curve", curves},
		{"level", "--from-log or --curve", logs || curves},
	} {
		if cmd.Flags().Changed(f.name) && !f.ok {
			return command.Usagef("", "--%s has an effect only with %s", f.name, f.needs)
		}
	}
	if err := knownModel(o.model); err != nil {
		return command.Usagef(command.DidYouMean(o.model, modelNames(), "the models are "+strings.Join(modelNames(), ", ")),
			"unknown model %q", o.model)
	}
	switch {
	case cmd.Flags().Changed("fraction") && !(o.fraction > 0 && o.fraction <= 1):
		return command.Usagef("", "--fraction is %v: it must be above 0 and at most 1", o.fraction)
	case cmd.Flags().Changed("total") && o.total < 1:
		return command.Usagef("", "--total is %d: it must be at least 1", o.total)
	case !(o.level > 0 && o.level < 1):
		return command.Usagef("", "--level is %v: it must be between 0 and 1, like 0.9", o.level)
	case o.tick < 0:
		return command.Usagef("", "--tick is %s: it must not be negative", o.tick)
	}
	for _, n := range o.threads {
		if n < 1 {
			return command.Usagef("", "--threads has %d: numbers of threads must be at least 1", n)
		}
	}
	return nil
}

// oneName returns the element of others that names the same file as path, or path itself. The paths of a log and of its
// history must be equal to be recognized as one file.
func oneName(path string, others []string) string {
	info, err := os.Stat(path)
	for _, o := range others {
		if same, e := os.Stat(o); err == nil && e == nil && os.SameFile(info, same) {
			return o
		}
	}
	return path
}

// readLogs reads the runs in log files, and prints warnings to standard error.
func readLogs(a *command.App, paths []string, lenient bool) ([]LoggedRun, error) {
	var all []LoggedRun
	for _, path := range paths {
		f, err := filearg.Open(path)
		if err != nil {
			return nil, err
		}
		runs, warnings, err := ReadLog(f, filepath.Clean(path), lenient)
		f.Close()
		for _, w := range warnings {
			a.Printer().Warn("%s", w)
		}
		if err != nil {
			return nil, malformed(err)
		}
		all = append(all, runs...)
	}
	return all, nil
}

// malformed returns the error for a file with malformed content.
func malformed(err error) error { return &command.Error{Code: command.ExitInvalid, Err: err} }

func estimateLogs(a *command.App, o estimateOptions) error {
	runs, err := readLogs(a, o.logs, o.lenient)
	if err != nil {
		return err
	}
	for i, path := range o.history {
		o.history[i] = oneName(path, o.logs)
	}
	history, err := readLogs(a, o.history, o.lenient)
	if err != nil {
		return err
	}
	options := LogOptions{
		Total: o.total, Fraction: o.fraction, Model: o.model, Level: o.level, Alone: o.alone, Tick: o.tick.Seconds(),
	}
	predictions, err := PredictLogs(runs, history, options)
	if err != nil {
		return malformed(err)
	}
	summary := SummarizeLogs(predictions)
	if o.asJSON {
		return a.PrintJSON(logsAsJSON(predictions, summary, options.Length(runs), o.fraction, o.level))
	}
	return printer{a.Printer()}.logs(predictions, summary, options.Length(runs), o.level)
}

func estimateCurves(a *command.App, o estimateOptions) error {
	var fits []CurveFit
	for _, path := range o.curves {
		f, err := filearg.Open(path)
		if err != nil {
			return err
		}
		groups, err := ReadTimings(f, filepath.Clean(path))
		f.Close()
		if err != nil {
			return malformed(err)
		}
		for _, g := range groups {
			fit, err := FitCurve(g, o.threads, o.half, o.level)
			if errors.Is(err, estimator.ErrUnfit) {
				a.Printer().Warn("%v", err)
				continue
			} else if err != nil {
				return malformed(err)
			}
			fits = append(fits, fit)
		}
	}
	if len(fits) == 0 {
		return command.Usagef("a curve needs run times with at least two numbers of threads", "nothing to fit")
	}
	if o.asJSON {
		return a.PrintJSON(curvesAsJSON(fits, o.level))
	}
	return printer{a.Printer()}.curves(fits, o.level)
}

// showEstimates prints estimates.csv of all experiments in dir.
func showEstimates(a *command.App, dir string, asJSON bool) error {
	dirs, err := command.ExperimentsIn(dir)
	if err != nil {
		return err
	}
	list, err := estimatesOf(dirs)
	if err != nil {
		return err
	}
	if asJSON {
		return a.PrintJSON(list)
	}
	return printer{a.Printer()}.estimates(list)
}
