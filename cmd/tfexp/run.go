package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/live"
	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
)

// runOptions are the flags that run and resume share.
type runOptions struct {
	pipeline.Options
	json, quiet bool
	extensions  []command.RunExtension
}

func (a *app) runOptions() *runOptions { return &runOptions{extensions: a.RunExtensions()} }

func (o *runOptions) flags(fs *pflag.FlagSet) {
	fs.IntVar(&o.Parallel, "parallel", 0, "number of simulated cells that run side by side; 0 means one for each core")
	fs.BoolVar(&o.json, "json", false, "print the summary as JSON")
	fs.BoolVar(&o.Share, "share", false, "let all users of this machine read the results (else: only you)")
	fs.BoolVar(&o.quiet, "quiet", false, "show no progress")
	for _, e := range o.extensions {
		if e.Flags != nil {
			e.Flags(fs)
		}
	}
}

// about returns the features' paragraphs of the help of run, each followed by an empty line.
func (o *runOptions) about() (text string) {
	for _, e := range o.extensions {
		if e.About != "" {
			text += e.About + "\n\n"
		}
	}
	return text
}

// prepare checks the flags and lets features change the options.
func (o *runOptions) prepare() error {
	if o.Parallel < 0 {
		return command.Usagef("", "--parallel is %d: it must not be negative", o.Parallel)
	}
	for _, e := range o.extensions {
		if e.Prepare == nil {
			continue
		}
		if err := e.Prepare(&o.Options); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) runCommand() *cobra.Command {
	var vars command.Variables
	o := a.runOptions()
	cmd := &cobra.Command{
		Use:   "run FILE [--out DIR] [-var name=value] [-var-file FILE] [--lenient] [--fresh]",
		Short: "Run an experiment",
		Long:  help("run", "{features}\n\n", o.about()),
		Example: `  tfexp run experiment.hcl
  tfexp run experiment.hcl -var quantum=500ms --out /tmp/results
  tfexp run experiment.hcl --json | jq .variants`,
		Args:              command.NeedFile,
		ValidArgsFunction: command.CompleteFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := o.prepare(); err != nil {
				return err
			}
			spec, err := a.Load(args[0], &vars, o.Place == nil || !o.Place.Away(), o.json)
			if err != nil {
				return err
			}
			return a.carryOut(o, func(opts pipeline.Options) (*pipeline.Plan, error) {
				return pipeline.New(spec, opts)
			})
		},
	}
	vars.Flags(cmd.Flags())
	o.flags(cmd.Flags())
	cmd.Flags().StringVar(&o.Out, "out", command.DefaultOut, "`DIR` of the results")
	cmd.Flags().BoolVar(&o.Fresh, "fresh", false, "run everything again, including finished work")
	return cmd
}

// carryOut plans a run, runs it, shows its progress and prints a summary.
func (a *app) carryOut(o *runOptions, planFor func(pipeline.Options) (*pipeline.Plan, error)) (failure error) {
	view := live.NewRunProgress(a.Screen, a.ErrColor)
	if o.quiet {
		view = live.QuietProgress(a.Screen)
	}
	defer view.Close()
	opts := o.Options
	opts.Fetch = true
	opts.Version, opts.Command, opts.Observe = command.ThisBuild().Version, a.Args, view.Observe
	load := hardware.NewLoadSampler()
	said := a.SayIfSlow("planning …")
	plan, err := planFor(opts)
	said()
	if err != nil {
		return err
	}
	if holder, held := store.Holder(plan.Dir); held { // the headline would describe the other run's cells
		return &store.InUseError{Dir: plan.Dir, Holder: holder}
	}
	if !o.quiet {
		view.Say(show.Headline(plan))
		if text := loadWarning(plan, load); text != "" {
			view.Say(text)
		}
	}
	ctx, stop := interruptible(view)
	began := time.Now()
	outcome, err := plan.Run(ctx)
	stop()
	view.Close()
	if left := (*pipeline.Detached)(nil); errors.As(err, &left) {
		_, err = fmt.Fprintln(a.Out, left.Text)
		return err
	}
	defer func() {
		for _, e := range o.extensions {
			if e.Ended != nil {
				e.Ended(plan.Dir, time.Since(began), failure)
			}
		}
	}()
	if errors.Is(err, pipeline.ErrInterrupted) {
		return &command.Error{Code: command.ExitInterrupted, Err: err, Hint: "resume with: tfexp resume " + plan.Dir}
	}
	if err != nil {
		return err
	}
	if err := a.Printer().Summary(plan, outcome, o.json); err != nil {
		return err
	}
	if outcome.Failed > 0 {
		return &command.Error{
			Code: command.ExitCellsFailed,
			Err:  fmt.Errorf("%s failed", show.Count(outcome.Failed, "cell", "cells")),
			Hint: "\"tfexp status " + plan.Dir + "\" shows what went wrong",
		}
	}
	return missed(plan.Dir)
}

// loadWarning returns a warning if other programs use CPU time while cells run on this machine; empty if they do not.
func loadWarning(plan *pipeline.Plan, load *hardware.LoadSampler) string {
	here := false
	for i, w := range plan.Work {
		kind := engine.Find(plan.Cells[i].Engine)
		here = here || !w.Reuse && kind != nil && kind.Here
	}
	if !here {
		return ""
	}
	time.Sleep(300 * time.Millisecond) // the system counts CPU time in ticks of 10 ms
	others := load.Others()
	if others <= hardware.BusyCores {
		return ""
	}
	return fmt.Sprintf("other programs use %.1f CPU cores: jobs take longer, and cells that are slowed down are marked as disturbed", others)
}

// missed returns an error if the results miss a threshold of the experiment.
func missed(dir string) error {
	e, err := record.Open(dir)
	if err != nil {
		return err
	}
	n := 0
	verdicts, err := analysis.Thresholds(e)
	if err != nil {
		return err
	}
	for _, v := range verdicts {
		if !v.Met {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return &command.Error{Code: command.ExitMissed, Err: fmt.Errorf("%s missed",
		show.Count(n, "threshold was", "thresholds were"))}
}
