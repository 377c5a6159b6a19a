package policy

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/tfexp/tfexp/experiments/schema"
)

// QuestionText is the text about a question in the language reference.
type QuestionText struct {
	// Before and After are the texts before and after the list of choices. Example is an answer, in HCL.
	Before, After, Example string
	// Summary is the format of a choice in the summary of a policy, such as "%s servers". The default choice is not
	// in summaries.
	Summary string
}

// asked has the text about each question, by question.
var asked = map[Question]QuestionText{
	OrderOf:      {Example: `"round_robin"`},
	BackfillOf:   {Before: "Whether later jobs may start before a job that cannot start:", Example: `"easy"`},
	AllocationOf: {Before: "How many cores a job gets:", Example: `"max_prop"`},
	PreemptionOf: {
		Before: "Whether running jobs are paused for a waiting job that is earlier in the order:", Example: `"pause"`,
	},
	VictimsOf: {
		Before: "Which running jobs are paused first:", After: "Only with preemption.", Example: `"smallest_request"`,
	},
	PlacementOf: {
		Before: "Which of its alternatives a job starts with:",
		After: "The orders `sjf` and `srtf` have `pairs` for jobs with " +
			"alternatives, unless the file says otherwise.",
		Example: `"earliest_finish"`,
	},
	NodesOf: {
		Before: "On which nodes a job without `nodes` runs:",
		After: "A divided job asks for units: GPUs, each with its threads, or threads. Jobs with roles, and malleable jobs, stay " +
			"on one node each.",
		Example: `"consolidated"`,
	},
}

// Arguments returns the arguments of a policy block that choices define: one for each question, followed by the
// settings of its choices.
func Arguments() []schema.Arg {
	var args []schema.Arg
	for _, q := range Questions {
		args = append(args, q.argument())
		for _, s := range OwnSettings() {
			if s.Of == q {
				args = append(args, s.argument())
			}
		}
	}
	return args
}

// argument returns the description of the argument that answers a question.
func (q Question) argument() schema.Arg {
	text := asked[q]
	a := schema.Arg{Name: string(q), Type: schema.String, Allowed: q.Names(), Example: text.Example}
	a.Doc = text.Before
	for _, c := range q.Choices() {
		a.Doc += fmt.Sprintf("\n- `%s`: %s", c.Name, c.Doc)
	}
	if text.After != "" {
		a.Doc += "\n\n" + text.After
	}
	if q == OrderOf {
		a.Meanings = a.Doc
		a.Doc = "Which job is next. docs/policies.md, and `tfexp policies NAME`, explain each order with an example."
		a.Required = true
		return a
	}
	a.Default = strconv.Quote(q.Default())
	for _, name := range q.Names() {
		if by := implying(q, name); len(by) > 0 && name != q.Default() {
			a.DefaultDoc = fmt.Sprintf("`%q`; `%q` under %s", q.Default(), name, inCode(by))
		}
	}
	return a
}

// implying returns the names of the choices that imply an answer to a question.
func implying(q Question, name string) []string {
	var names []string
	for _, other := range Questions {
		for _, c := range other.Choices() {
			if slices.ContainsFunc(c.Wants, func(w Want) bool { return w.Of == q && w.Name == name && w.Implied }) {
				names = append(names, c.Name)
			}
		}
	}
	return names
}

// OwnSetting is an argument that only some choices read.
type OwnSetting struct {
	schema.Arg
	// Of is the question that these choices answer, and By has their names.
	Of Question
	By []string
}

// OwnSettings returns the settings of all choices. A setting of several choices occurs once.
func OwnSettings() []OwnSetting {
	settings.Lock()
	defer settings.Unlock()
	if settings.own != nil {
		return settings.own
	}
	for _, q := range Questions {
		for _, c := range q.Choices() {
			for _, a := range c.Settings {
				i := slices.IndexFunc(settings.own, func(s OwnSetting) bool { return s.Name == a.Name })
				if i < 0 {
					i = len(settings.own)
					settings.own = append(settings.own, OwnSetting{Arg: a, Of: q})
				}
				settings.own[i].By = append(settings.own[i].By, c.Name)
			}
		}
	}
	return settings.own
}

// settings caches the result of OwnSettings until another choice is registered.
var settings struct {
	sync.Mutex
	own []OwnSetting
}

// argument returns the setting as an optional argument of every policy block. Whether a policy may set it depends on
// its choices, and is checked later.
func (s OwnSetting) argument() schema.Arg {
	a := s.Arg
	if a.Required {
		a.Required = false
		a.DefaultDoc = "required by " + inCode(s.By) + ", an error on others"
		return a
	}
	only := "Only under the " + string(s.Of)
	if len(s.By) > 1 {
		only += "s"
	}
	a.Doc += " " + only + " " + inCode(s.By) + "."
	return a
}

// Readers returns a phrase that names the choices that read the setting: the orders "las" or "fair".
func (s OwnSetting) Readers() string { return readers(s.Of, s.By) }

func readers(q Question, names []string) string {
	many := ""
	if len(names) > 1 {
		many = "s"
	}
	return fmt.Sprintf("the %s%s %s", q, many, schema.OneOf(names))
}

// EstimateReaders returns a phrase that names the choices that read predicted run times, by question.
func EstimateReaders() string {
	var parts []string
	for _, q := range Questions {
		if names := estimating(q); len(names) > 0 {
			parts = append(parts, readers(q, names))
		}
		for _, name := range answers[q].Names(func(c *Choice) bool { return c.PairEstimates }) {
			parts = append(parts, readers(q, []string{name})+fmt.Sprintf(" with placement = %q", Pairs))
		}
	}
	return schema.Listed(parts, "and")
}

// EstimatingBackfills returns a phrase that names the backfills that read predicted run times.
func EstimatingBackfills() string { return schema.OneOf(estimating(BackfillOf)) }

// EstimatingOrders returns a phrase that names the orders that read predicted run times and can be combined with
// preemption.
func EstimatingOrders() string {
	names := slices.DeleteFunc(estimating(OrderOf), func(name string) bool {
		return slices.ContainsFunc(orders.find(name).Wants, func(w Want) bool {
			return w.Of == PreemptionOf && !preemptions.find(w.Name).Pauses
		})
	})
	return schema.OneOf(names)
}

func estimating(q Question) []string {
	return answers[q].Names(func(c *Choice) bool { return c.Estimates })
}

// WholeAllocations returns a phrase that names the allocations that grant whole requests only.
func WholeAllocations() string {
	whole := func(c *Choice) bool { return !allocations.find(c.Name).Partial }
	return schema.OneOf(answers[AllocationOf].Names(whole))
}

func inCode(names []string) string {
	return schema.Listed(schema.Each(names, func(s string) string { return "`" + s + "`" }), "and")
}
