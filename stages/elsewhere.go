package stages

import (
	"errors"
	"strings"
)

// Elsewhere says how the cells of a run are tasks of a batch system.
type Elsewhere struct {
	// On is the name of the engine with the batch system; empty: where an earlier run has begun to run them.
	On string
	// Command runs a task: the experiment's folder and the number of the task are added. All nodes must find it.
	Command []string
	// Batch is the number of simulated cells in a task; 0 leaves it to tfexp. AtOnce bounds the tasks that run at the
	// same time; 0: not.
	Batch, AtOnce int
	// Args are further arguments of the batch system, as of sbatch.
	Args map[string]string
	// Detach leaves the tasks to the batch system: the run ends with ErrDetached, and another one collects the cells.
	Detach bool
}

// ErrDetached is returned when cells were left to a batch system.
var ErrDetached = errors.New("cells are left to the batch system")

// BatchArgument reads an argument of the batch system, "name=value" or "name" for a flag, with or without dashes.
func BatchArgument(text string) (name, value string, ok bool) {
	name, value, _ = strings.Cut(strings.TrimLeft(text, "-"), "=")
	return name, value, name != "" && !strings.ContainsAny(name, " \t")
}
