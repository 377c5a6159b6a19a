package engine

import "context"

// Array is work for a batch system: tasks that run the same command, each with a number of its own, in any order.
type Array struct {
	// Dir is a folder that all nodes see, absolute, in which tasks work and leave their output. Name is for people.
	Dir, Name string
	// Command is what a task runs; its number is added as the last argument.
	Command []string
	// Tasks are the numbers, ascending, from 0.
	Tasks []int
	// Threads are the cores of each task; with Whole it has a node to itself.
	Threads int
	Whole   bool
	// AtOnce bounds the tasks that run at the same time; 0: not.
	AtOnce int
	// Args are further arguments of the batch system.
	Args map[string]string
}

// MaxTasks is how many tasks an array has at most.
const MaxTasks = 1000

// Batch is a batch system as those see it that have cells run elsewhere. Errors are an *Unavailable with a hint when it
// cannot do what is asked.
type Batch interface {
	// Check finds out whether an array could run, before anything is submitted.
	Check(context.Context, Array) error
	// Submit submits an array and returns its number.
	Submit(context.Context, Array) (job string, err error)
	// Alive returns the tasks of arrays that wait or run, by the array's number. It asks once; the error is no reason to
	// give up: the system may answer later.
	Alive(ctx context.Context, jobs []string) (map[string][]int, error)
	// Cancel ends what is left of arrays.
	Cancel(ctx context.Context, jobs []string) error
}
