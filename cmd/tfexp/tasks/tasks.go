// Package tasks runs the cells of an experiment as tasks of a batch system: the flag --on of run and resume, which submit
// and collect them, and the hidden command by which a node runs a task. A batch system is an engine.Batch of an engine.
package tasks

import (
	"embed"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/states"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline"
)

//go:embed help
var helpTexts embed.FS

func init() {
	command.Register(command.GroupMachine, taskCommand)
	states.RegisterEvent("array_submitted", "array", "submitted")
	states.RegisterEvent("task_lost", "task", "lost")
	command.RegisterRun(func(*command.App) command.RunExtension {
		f := &flags{}
		return command.RunExtension{Flags: f.add, Prepare: f.prepare, About: about}
	})
}

const about = `With --on slurm cells are tasks of an array on a Slurm cluster: simulated ones in
batches, real ones each on a node of its own. The folder of results must be one that
the nodes see. --detach leaves once they are submitted (docs/slurm.md).`

// Place is a batch system that runs cells as tasks. It implements stages.Place.
type Place struct {
	// On is the name of the engine with the batch system, or onHere; empty: where an earlier run has begun to run them.
	On string
	// Command runs a task: the experiment's folder and the number of the task are added. All nodes must find it.
	Command []string
	// Batch is the number of simulated cells in a task; 0 leaves it to tfexp. AtOnce bounds the tasks that run at the
	// same time; 0: not.
	Batch, AtOnce int
	// Args are further arguments of the batch system, as of sbatch.
	Args map[string]string
	// Detach leaves the tasks to the batch system: the run ends with a *stages.Detached, and another one collects the cells.
	Detach bool
}

// onHere is the value of --on for cells that are not tasks of a batch system.
const onHere = "here"

// Away implements stages.Place.
func (p *Place) Away() bool { return p.On != "" && p.On != onHere }

// flags are the flags by which cells run as tasks of a batch system.
type flags struct {
	Place
	args []string
}

func (f *flags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.On, "on", "", "run cells as tasks of the batch system of `ENGINE` (slurm), or \"here\"")
	fs.IntVar(&f.Batch, "batch", 0, "with --on: simulated cells in a task; 0 lets tfexp choose")
	fs.IntVar(&f.AtOnce, "at-once", 0, "with --on: tasks that run at the same time at most; 0 means any number")
	fs.StringArrayVar(&f.args, "sbatch", nil, "with --on: another argument for the batch system, such as partition=gpu")
	fs.BoolVar(&f.Detach, "detach", false, "with --on: exit when the cells are submitted; \"tfexp resume\" collects them")
}

// prepare sets the place where cells run: the one of the flags, or the place of an earlier run.
func (f *flags) prepare(o *pipeline.Options) error {
	switch {
	case f.Batch < 0 || f.AtOnce < 0:
		return command.Usagef("", "--batch and --at-once must not be negative")
	case f.On == "" && (f.Batch > 0 || f.AtOnce > 0 || len(f.args) > 0):
		return command.Usagef("name the batch system: --on slurm", "--batch, --at-once and --sbatch need --on")
	case f.Away():
		batches := engine.Names(func(k *engine.Kind) bool { return k.Batch != nil })
		if k := engine.Find(f.On); k == nil || k.Batch == nil {
			return command.Usagef("", "--on %s: cells run on %s, or %s", f.On, schema.OneOf(batches), onHere)
		}
	}
	for _, arg := range f.args {
		name, value, ok := argument(arg)
		if !ok {
			return command.Usagef("write it as --sbatch partition=gpu", "--sbatch %q is not an argument", arg)
		}
		if f.Args == nil {
			f.Args = map[string]string{}
		}
		f.Args[name] = value
	}
	program, err := hardware.Program()
	if err != nil {
		return fmt.Errorf("find this program for tasks: %w", err)
	}
	f.Command = []string{program, "task"}
	o.Place = &f.Place
	return nil
}

// argument reads an argument of the batch system, "name=value" or "name" for a flag, with or without dashes.
func argument(text string) (name, value string, ok bool) {
	name, value, _ = strings.Cut(strings.TrimLeft(text, "-"), "=")
	return name, value, name != "" && !strings.ContainsAny(name, " \t")
}
