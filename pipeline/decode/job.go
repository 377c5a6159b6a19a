package decode

import (
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/experiments/secret"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

func jobBlock() *schema.Block {
	runtime := runtimeBlock()
	alternative := alternativeBlock()
	alternative.Blocks = []*schema.Block{runtime}
	b := schema.BlockFor[experiment.Job](schema.Block{
		Name: "job", Label: "name, read as `job.<name>`; also the class of its jobs in the results", Unique: true,
		Blocks: []*schema.Block{
			runtime,
			alternative,
		},
	})
	schema.Find(b.Args, "threads").Keys = threadKeys()
	return language.Extended(language.Job, b).ReplaceWords("{contained}", engineList(isContained), "{program}",
		programDoc())
}

// Job decodes a job block.
func (d *Decoder) Job(n *eval.Node, e *eval.Env) (*experiment.Job, bool) {
	j := &experiment.Job{}
	a := d.Decode(n, e, j)
	j.Name, j.Range, j.At = n.Label, eval.RangeOf(n.Header), a.Ranges()
	d.container(a, j)
	if a.Lacks("threads") {
		j.Threads = experiment.Threads{Request: 1, Inter: 1, Intra: 1, Range: eval.RangeOf(n.Header)}
	}
	if d.DecodeInstead(j, language.Job, language.Block{Args: a, Env: e}) {
		return j, a.OK
	}
	d.program(n, e, a, j)
	d.DecodeFirst(j, language.Job, language.Block{Args: a, Env: e})
	checkWork(n, a)
	checkNodes(a, j)
	if rt := n.First("runtime"); rt != nil {
		var ok bool
		j.Runtime, ok = d.runtime(rt, e, j)
		a.OK = a.OK && ok
	}
	d.alternatives(n, e, a, j)
	d.DecodeInto(j, language.Job, language.Block{Args: a, Env: e})
	for _, other := range j.Alternatives {
		other.Parts = j.Parts
	}
	return j, a.OK
}

// program decodes the program of a job: a command, or a block such as builtin.
func (d *Decoder) program(n *eval.Node, e *eval.Env, a *eval.Args, j *experiment.Job) {
	own := language.ProgramIn(n)
	switch {
	case own != nil && a.IsSet("command"):
		name := own.Schema.Name
		a.Fail(own.Header, "Both "+name+" and command", "A job must have either a %s block or a command.", name)
	case own != nil:
		d.DecodeProgram(j, own, language.Block{Args: a, Env: e})
	case a.Lacks("command"):
		if !n.Broken {
			a.Fail(n.Header, "Job without a program", "%s needs %s.", n.Title(), programs())
		}
	case len(j.Command) > 0 && j.Command[0] == "":
		a.Fail(a.At("command"), "Job without a program", "The first element of command is the program; it is empty.")
	case len(j.Command) > 0 && secret.Hides(j.Command[0]):
		a.Fail(a.At("command"), "Sensitive value",
			"The program of a job, which results show, cannot be sensitive; its arguments can.")
	default:
		contractEnv(a, j.Env)
		j.Command = schema.Each(j.Command, d.Copy.Find)
		j.Dir = d.Absolute(j.Dir)
		for i, f := range j.Files {
			if strings.TrimSpace(f) == "" {
				a.Fail(a.At("files"), "File without a name", "files has an empty name; \".\" is the folder of the experiment file.")
			}
			j.Files[i] = d.Absolute(f)
		}
	}
}

// programs lists the ways to set the program of a job, for messages: "a builtin block or a command".
func programs() string {
	blocks := func(names []string) []string {
		return schema.Each(names, func(name string) string { return "a " + name + " block" })
	}
	list := slices.Concat(blocks(language.Programs()), []string{"a command"}, blocks(language.Instead(language.Job)))
	return schema.Listed(list, "or")
}

// programDoc lists the ways to set the program of a job, for the reference: "either a `builtin` block or a
// `command`".
func programDoc() string {
	list := append(schema.Each(language.Programs(), func(name string) string { return "a `" + name + "` block" }), "a `command`")
	if len(list) == 1 {
		return list[0]
	}
	return "either " + strings.Join(list, " or ")
}

// checkWork reports a job without an amount of work, or with two.
func checkWork(n *eval.Node, a *eval.Args) {
	switch {
	case a.IsSet("epochs") && a.IsSet("steps"):
		a.Fail(a.At("steps"), "Both epochs and steps", "Give the job's work in epochs or in steps, not in both.")
	case a.Lacks("epochs") && a.Lacks("steps") && a.Lacks("budget") && !n.Broken:
		a.Fail(n.Header, "Job without work", "%s needs epochs, steps or a budget.", n.Title())
	case a.Lacks("epochs") && a.Lacks("steps") && n.First("runtime") != nil && !n.Broken:
		a.Fail(n.Header, "Job without work",
			"%s has a run time for each epoch or step, so it needs epochs or steps in addition to its budget.", n.Title())
	}
}

// checkNodes reports a request that cannot be divided evenly over the job's nodes.
func checkNodes(a *eval.Args, j *experiment.Job) {
	nodes := max(j.Nodes, 1)
	if nodes == 1 || !a.OK {
		return
	}
	switch {
	case j.Threads.Request%nodes != 0:
		a.Fail(a.At("nodes"), "Contradicting arguments", "%s cannot be divided evenly over %d nodes.",
			schema.Plural(j.Threads.Request, "thread"), nodes)
	case j.GPUs%nodes != 0:
		a.Fail(a.At("nodes"), "Contradicting arguments", "%s cannot be divided evenly over %d nodes.",
			schema.Plural(j.GPUs, "GPU"), nodes)
	case j.Malleable:
		a.Fail(a.At("malleable"), "Contradicting arguments",
			"A job over several nodes keeps its request; it cannot be malleable.")
	}
}
