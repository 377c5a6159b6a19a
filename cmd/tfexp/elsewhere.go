package main

import (
	"fmt"
	"strings"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/hardware"

	"github.com/spf13/pflag"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/execute"
)

// elsewhere are the flags by which cells run as tasks of a batch system.
type elsewhere struct {
	on            string
	batch, atOnce int
	args          []string
	detach        bool
}

func (f *elsewhere) flags(fs *pflag.FlagSet) {
	fs.StringVar(&f.on, "on", "", "run cells as tasks of the batch system of `ENGINE` (slurm), or \"here\"")
	fs.IntVar(&f.batch, "batch", 0, "with --on: simulated cells in a task; 0 lets tfexp choose")
	fs.IntVar(&f.atOnce, "at-once", 0, "with --on: tasks that run at the same time at most; 0 means any number")
	fs.StringArrayVar(&f.args, "sbatch", nil, "with --on: another argument for the batch system, such as partition=gpu")
	fs.BoolVar(&f.detach, "detach", false, "with --on: exit when the cells are submitted; \"tfexp resume\" collects them")
}

// options returns the place that the flags ask for; nil when cells run where an earlier run put them, or on this machine.
func (f *elsewhere) options() (*stages.Elsewhere, error) {
	how := &stages.Elsewhere{On: f.on, Batch: f.batch, AtOnce: f.atOnce, Detach: f.detach}
	switch {
	case f.batch < 0 || f.atOnce < 0:
		return nil, command.Usagef("", "--batch and --at-once must not be negative")
	case f.on == "" && (f.batch > 0 || f.atOnce > 0 || len(f.args) > 0):
		return nil, command.Usagef("name the batch system: --on slurm", "--batch, --at-once and --sbatch need --on")
	case f.on != "" && f.on != execute.Here:
		batches := engine.Names(func(k *engine.Kind) bool { return k.Batch != nil })
		if k := engine.Find(f.on); k == nil || k.Batch == nil {
			return nil, command.Usagef("", "--on %s: cells run on %s, or %s", f.on, schema.OneOf(batches), execute.Here)
		}
	}
	for _, arg := range f.args {
		name, value, ok := stages.BatchArgument(arg)
		if !ok {
			return nil, command.Usagef("write it as --sbatch partition=gpu", "--sbatch %q is not an argument", arg)
		}
		if how.Args == nil {
			how.Args = map[string]string{}
		}
		how.Args[name] = value
	}
	program, err := hardware.Program()
	if err != nil {
		return nil, fmt.Errorf("find this program for tasks: %w", err)
	}
	how.Command = []string{program, "cell", "--task"}
	return how, nil
}

// left reports the cells left to the batch system.
func (a *app) left(plan *pipeline.Plan) error {
	submitted, ok, err := record.ReadArray(plan.Dir)
	if err != nil || !ok {
		return err
	}
	cells, tasks := 0, 0
	var jobs []string
	for _, t := range submitted.Tasks {
		if t.Job == "" {
			continue
		}
		tasks++
		cells += len(t.Cells)
		if len(jobs) == 0 || jobs[len(jobs)-1] != t.Job {
			jobs = append(jobs, t.Job)
		}
	}
	_, err = fmt.Fprintf(a.Out, "%s left to %s as %s (job %s)\n\"tfexp status %s\" shows how far they are, "+
		"\"tfexp resume %s\" collects them\n", schema.Plural(cells, "cell"), submitted.On, schema.Plural(tasks, "task"),
		strings.Join(jobs, ", "), plan.Dir, plan.Dir)
	return err
}
