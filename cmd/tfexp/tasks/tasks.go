// Package tasks runs the cells of an experiment as tasks of a batch system. It adds the flag --on to run and resume,
// and a hidden command that runs a task on a node. The batch system is the engine.Batch of an engine.
package tasks

import (
	"embed"
	"fmt"
	"slices"
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
batches, real ones each on a node of its own. With --on kubernetes simulated cells are
tasks of an indexed Job (docs/kubernetes.md). The folder of results must be one that
the nodes see. --detach leaves once they are submitted (docs/slurm.md).`

// Place runs cells as tasks of a batch system. It implements stages.Place.
type Place struct {
	// On is the name of an engine with a batch system, or onHere. Empty means the engine of an earlier run, if that run
	// has open tasks.
	On string
	// Command is the command that runs a task. The experiment's folder and the number of the task are appended. Its
	// program must exist on all nodes.
	Command []string
	// Batch is the number of simulated cells in a task; 0 means the default. AtOnce is the largest number of tasks that
	// run at once; 0 means no limit.
	Batch, AtOnce int
	// Args are further arguments of the batch system, such as options of sbatch, by name.
	Args map[string]string
	// Detach ends the run with a *stages.Detached after tasks are submitted. A later run collects their cells.
	Detach bool
}

// onHere is the value of --on for running cells on this machine.
const onHere = "here"

// Away implements stages.Place.
func (p *Place) Away() bool { return p.On != "" && p.On != onHere }

// flags has the flags about tasks.
type flags struct {
	Place
	args, with []string
}

func (f *flags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.On, "on", "", "run cells as tasks of the batch system of `ENGINE` (slurm, kubernetes), or \"here\"")
	fs.IntVar(&f.Batch, "batch", 0, "with --on: simulated cells in a task; 0 lets tfexp choose")
	fs.IntVar(&f.AtOnce, "at-once", 0, "with --on: tasks that run at the same time at most; 0 means any number")
	fs.StringArrayVar(&f.args, "sbatch", nil, "with --on slurm: another argument of sbatch, such as partition=gpu")
	fs.StringArrayVar(&f.with, "with", nil, "with --on kubernetes: an argument of the pods, such as image=tfexp:1")
	fs.BoolVar(&f.Detach, "detach", false, "with --on: exit when the cells are submitted; \"tfexp resume\" collects them")
}

// prepare sets the place where cells run, according to the flags or to an earlier run.
func (f *flags) prepare(o *pipeline.Options) error {
	switch {
	case f.Batch < 0 || f.AtOnce < 0:
		return command.Usagef("", "--batch and --at-once must not be negative")
	case f.On == "" && (f.Batch > 0 || f.AtOnce > 0 || len(f.args)+len(f.with) > 0):
		return command.Usagef("name the batch system: --on slurm", "--batch, --at-once, --sbatch and --with need --on")
	case f.On == onHere && (f.Batch > 0 || f.AtOnce > 0 || len(f.args)+len(f.with) > 0 || f.Detach):
		return command.Usagef("leave them out, or name a batch system: --on slurm",
			"--on %s runs cells on this machine, where --batch, --at-once, --sbatch, --with and --detach mean nothing",
			onHere)
	case f.Away():
		batches := engine.Names(func(k *engine.Kind) bool { return k.Batch != nil })
		if k := engine.Find(f.On); k == nil || k.Batch == nil {
			return command.Usagef("", "--on %s: cells run on %s, or %s", f.On, schema.OneOf(batches), onHere)
		}
	}
	for _, arg := range slices.Concat(f.args, f.with) {
		name, value, ok := argument(arg)
		if !ok {
			return command.Usagef("write it as --sbatch partition=gpu, or --with image=tfexp:1", "%q is not an argument", arg)
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

// argument parses an argument of the batch system: "name=value", or "name" for a switch. Leading dashes are removed.
func argument(text string) (name, value string, ok bool) {
	name, value, _ = strings.Cut(strings.TrimLeft(text, "-"), "=")
	return name, value, name != "" && !strings.ContainsAny(name, " \t")
}
