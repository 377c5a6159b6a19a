package blocks

import (
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/words"
)

// Job decodes a job block.
func (d *Decoder) Job(n *eval.Node, e *eval.Env) (*experiments.Job, bool) {
	a := d.EvalArgs(n, e)
	j := &experiments.Job{
		Name: n.Label, Range: eval.RangeOf(n.Header), At: a.Ranges(),
		Command: eval.Get[[]string](a, "command"), Env: eval.Get[[]experiments.Setting](a, "env"),
		Flags: eval.Get[bool](a, "flags"), TimeWriter: eval.Get[string](a, "time_writer"),
		Epochs: eval.Get[int](a, "epochs"), Steps: eval.Get[int](a, "steps"),
		TargetLoss: eval.Get[float64](a, "target_loss"),
		Threads:    eval.Get[experiments.Threads](a, "threads"), Malleable: eval.Get[bool](a, "malleable"),
		GPUs: eval.Get[int](a, "gpus"), GPU: eval.Get[string](a, "gpu"),
		Memory: eval.Get[int64](a, "memory"), Nodes: eval.Get[int](a, "nodes"),
		Priority: eval.Get[int](a, "priority"), Limit: eval.Get[time.Duration](a, "limit"),
		Deadline: eval.Get[time.Duration](a, "deadline"), Retries: eval.Get[int](a, "retries"),
	}
	j.Budget = budget(a)
	d.container(a, j)
	if a.Lacks("threads") {
		j.Threads = experiments.Threads{Request: 1, Inter: 1, Intra: 1, Range: eval.RangeOf(n.Header)}
	}
	if rec := n.First("recorded"); rec != nil {
		d.recorded(rec, e, a, j)
		return j, a.OK
	}
	d.program(n, e, a, j)
	d.progress(n, e, a, j)
	d.parts().Roles(n, e, a, j)
	checkWork(n, a)
	checkNodes(a, j)
	if rt := n.First("runtime"); rt != nil {
		var ok bool
		j.Runtime, ok = d.runtime(rt, e, j)
		a.OK = a.OK && ok
		if ok {
			checkLosses(rt, a, j)
		}
	}
	if c := n.First("checkpoint"); c != nil {
		var ok bool
		j.Checkpoint, ok = d.checkpoint(c, e, max(j.Epochs, j.Steps))
		a.OK = a.OK && ok
	}
	d.alternatives(n, e, a, j)
	return j, a.OK
}

// program decodes what a job runs: a built-in program, or a command.
func (d *Decoder) program(n *eval.Node, e *eval.Env, a *eval.Args, j *experiments.Job) {
	builtin := n.First("builtin")
	switch {
	case builtin != nil && a.IsSet("command"):
		a.Fail(builtin.Header, "Both builtin and command", "A job has either a builtin block or a command.")
	case builtin == nil && a.Lacks("command"):
		if !n.Broken {
			a.Fail(n.Header, "Job without a program", "%s needs a builtin block, a command or a recorded block.", n.Title())
		}
	case builtin == nil && len(j.Command) > 0 && j.Command[0] == "":
		a.Fail(a.At("command"), "Job without a program", "The first element of command is the program; it is empty.")
	case builtin != nil:
		for _, name := range []string{"dir", "env", "files", "flags", "time_writer"} {
			if a.IsSet(name) {
				a.Fail(a.At(name), "Argument that nothing reads",
					"%s is for jobs with a command; this one is built in.", name)
			}
		}
		var ok bool
		j.Builtin = builtin.Label
		j.Settings, ok = d.settings(builtin, e)
		a.OK = a.OK && ok
	default:
		contractEnv(a)
		j.Dir = d.Absolute(eval.Get[string](a, "dir"))
		for _, f := range eval.Get[[]string](a, "files") {
			if strings.TrimSpace(f) == "" {
				a.Fail(a.At("files"), "File without a name", "files has an empty name; \".\" is the folder of the experiment file.")
				continue
			}
			j.Files = append(j.Files, d.Absolute(f))
		}
	}
}

// checkWork reports a job without work, or with work given twice.
func checkWork(n *eval.Node, a *eval.Args) {
	switch {
	case a.IsSet("epochs") && a.IsSet("steps"):
		a.Fail(a.At("steps"), "Both epochs and steps", "A job's work is given in epochs or in steps.")
	case a.Lacks("epochs") && a.Lacks("steps") && a.Lacks("budget") && !n.Broken:
		a.Fail(n.Header, "Job without work", "%s needs epochs, steps or a budget.", n.Title())
	case a.Lacks("epochs") && a.Lacks("steps") && n.First("runtime") != nil && !n.Broken:
		a.Fail(n.Header, "Job without work",
			"%s has a run time for each epoch or step, so it needs epochs or steps beside its budget.", n.Title())
	}
}

// budget is how long jobs may train; nil where the block does not say.
func budget(a *eval.Args) *time.Duration {
	if !a.Has("budget") {
		return nil
	}
	b := eval.Get[time.Duration](a, "budget")
	return &b
}

// checkNodes reports a request that cannot be divided over several nodes.
func checkNodes(a *eval.Args, j *experiments.Job) {
	nodes := max(j.Nodes, 1)
	if nodes == 1 || !a.OK {
		return
	}
	switch {
	case j.Threads.Request%nodes != 0:
		a.Fail(a.At("nodes"), "Contradicting arguments", "%s cannot be divided evenly over %d nodes.",
			words.Plural(j.Threads.Request, "thread"), nodes)
	case j.GPUs%nodes != 0:
		a.Fail(a.At("nodes"), "Contradicting arguments", "%s cannot be divided evenly over %d nodes.",
			words.Plural(j.GPUs, "GPU"), nodes)
	case j.Malleable:
		a.Fail(a.At("malleable"), "Contradicting arguments",
			"A job over several nodes keeps its request; it cannot be malleable.")
	}
}

// settings lists all arguments of a built-in program, in the order of its schema.
func (d *Decoder) settings(n *eval.Node, e *eval.Env) ([]experiments.Setting, bool) {
	a := d.EvalArgs(n, e)
	list := make([]experiments.Setting, 0, len(n.Args))
	for _, arg := range n.Args {
		var text string
		switch v := a.Values[arg.Name].(type) {
		case string:
			text = v
		case int:
			text = strconv.Itoa(v)
		case float64:
			text = strconv.FormatFloat(v, 'g', -1, 64)
		case []int:
			parts := make([]string, len(v))
			for i, n := range v {
				parts[i] = strconv.Itoa(n)
			}
			text = strings.Join(parts, ",")
		case nil:
			if arg.Name != "learning_rate" || !a.Lacks(arg.Name) {
				continue // in error
			}
			// The one default that depends on another argument.
			text = "0.001"
			if eval.Get[string](a, "optimizer") == "sgd" {
				text = "0.05"
			}
		}
		list = append(list, experiments.Setting{Name: arg.Name, Value: text})
	}
	return list, a.OK
}
