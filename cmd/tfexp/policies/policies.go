// Package policies is the command "tfexp policies". It also generates docs/policies.md.
package policies

import (
	"cmp"
	"context"
	"embed"

	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

//go:embed help
var helpTexts embed.FS

func init() {
	command.Register(command.GroupWrite, policiesCommand)
}

func policiesCommand(a *command.App) *cobra.Command {
	return &cobra.Command{
		Use:   "policies [NAME]",
		Short: "List the scheduling policies, or explain one",
		Long:  command.Help(helpTexts, "policies"),
		Example: `  tfexp policies
  tfexp policies srtf`,
		Args: command.Between(0, 1, ""),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				out := show.Fold(a.Out)
				for i, q := range policy.Questions {
					if i > 0 {
						fmt.Fprintln(out)
					}
					fmt.Fprintf(out, "%s\n", q)
					for _, c := range q.Choices() {
						fmt.Fprintf(out, "  %-22s %s\n", c.Name, strings.TrimSuffix(schema.FirstSentence(about(q, c)), "."))
					}
				}
				return nil
			}
			var names []string
			for _, q := range policy.Questions {
				for _, c := range q.Choices() {
					if names = append(names, c.Name); c.Name == args[0] {
						fmt.Fprintf(show.Fold(a.Out), "%s\n\n%s", c.Title, fences.ReplaceAllString(entry(q, c), ""))
						return nil
					}
				}
			}
			return command.Usagef(command.DidYouMean(args[0], names, "\"tfexp policies\" lists them"), "no policy %q", args[0])
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
			for _, q := range policy.Questions {
				for _, c := range q.Choices() {
					names = append(names, c.Name+"\t"+c.Doc)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

//go:embed help/policies.md
var paragraphs string

// about returns the paragraph about a policy choice and its source. For a choice without a source it returns the
// language's documentation.
func about(q policy.Question, c *policy.Choice) string {
	if text, ok := paragraph(q, c); ok {
		return strings.Replace(strings.TrimSpace(text), "\nSource: ", "\n\nSource: ", 1) + "\n"
	}
	return strings.ToUpper(c.Doc[:1]) + c.Doc[1:] + ".\n"
}

func paragraph(q policy.Question, c *policy.Choice) (text string, ok bool) {
	for _, name := range []string{c.Name, string(q) + " " + c.Name} {
		if _, text, ok = strings.Cut(paragraphs, "## "+name+"\n"); ok {
			text, _, _ = strings.Cut(text, "\n## ")
			break
		}
	}
	return text, ok
}

// fences matches the lines that begin or end a code block in Markdown.
var fences = regexp.MustCompile("(?m)^```.*\n")

// entry describes a policy choice in Markdown.
func entry(q policy.Question, c *policy.Choice) string {
	var b strings.Builder
	b.WriteString(about(q, c))
	var needs []string
	if c.Estimates {
		needs = append(needs, "predicted run times")
	}
	needs = append(needs, c.Needs...)
	for _, w := range c.Wants {
		needs = append(needs, fmt.Sprintf("`%s = %q`", w.Of, w.Name))
	}
	fmt.Fprintf(&b, "\nNeeds: %s.\n", cmp.Or(strings.Join(needs, ", "), "nothing beyond the file"))
	block := example(q, c)
	fmt.Fprintf(&b, "\n```hcl\n%s```\n", block)
	if experiment := experimentFor(q, c, block); experiment != "" {
		chart, err := schedule(experiment)
		if err != nil {
			chart = fmt.Sprintln("no schedule:", err)
		}
		fmt.Fprintf(&b, "\n```\n%s```\n", chart)
	}
	for i, s := range c.Settings {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "- `%s`, %s: %s\n", s.Name, defaultOf(s), s.Doc)
	}
	return b.String()
}

func defaultOf(s schema.Arg) string {
	switch {
	case s.Required:
		return "required"
	case s.DefaultDoc != "":
		return "by default " + s.DefaultDoc
	}
	return "by default `" + s.Default + "`"
}

// atTheirScale has values of settings that suit jobs of a few seconds.
var atTheirScale = map[string]string{
	"rounds": `"1s"`, "restart_delay": `"500ms"`, "quanta": `["2s", "4s"]`, "backfill_interval": `"1s"`,
}

// example returns the smallest policy block with a choice for a question.
func example(q policy.Question, c *policy.Choice) string {
	lines := [][2]string{{string(q), fmt.Sprintf("%q", c.Name)}}
	if q != policy.OrderOf {
		order := "fcfs"
		if q == policy.VictimsOf || c.Name == "pause" {
			order = "priority"
		}
		lines = slices.Insert(lines, 0, [2]string{"order", fmt.Sprintf("%q", order)})
	}
	if q == policy.VictimsOf {
		lines = append(lines, [2]string{"preemption", `"pause"`})
	}
	for _, s := range c.Settings {
		if value, ok := atTheirScale[s.Name]; ok || s.Required {
			lines = append(lines, [2]string{s.Name, cmp.Or(value, s.Example)})
		}
	}
	width := 0
	for _, l := range lines {
		width = max(width, len(l[0]))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "policy %q {\n", c.Name)
	for _, l := range lines {
		fmt.Fprintf(&b, "  %-*s = %s\n", width, l[0], l[1])
	}
	b.WriteString("}\n")
	return b.String()
}

// fiveJobs is an experiment with five jobs, to show the effect of a policy.
//
//go:embed help/five_jobs.hcl
var fiveJobs string

// Patterns and texts that change fiveJobs for policies with other needs.
var (
	gpusLine  = regexp.MustCompile(`(?m)^  gpus     = .*$`)
	nodeBlock = regexp.MustCompile(`(?s)hardware "node" \{.*\}\n`)
)

const (
	malleable   = "  malleable = true"
	fourCores   = "hardware \"node\" {\n  engine  = \"simulated\"\n  threads = 4\n}\n"
	alternative = "\n  alternative \"cpu\" {\n    runtime { epoch = \"1500ms\" }\n  }\n"
	checkpoint  = "  deadline = \"40s\"\n  checkpoint { every = \"500ms\" }\n"
	markets     = `hardware "node" {
  engine = "simulated"
  node "spot" {
    threads  = 4
    market   = "spot"
    price    = 1
    acquire  = "on_request"
    lifetime = exponential("6s")
    count    = 5
  }
  node "on_demand" {
    threads = 4
    market  = "on_demand"
    price   = 3
    acquire = "on_request"
    count   = 5
  }
}
`
)

// experimentFor returns the experiment with the five jobs under a policy. It is empty if a schedule of these jobs would
// show nothing about the policy.
func experimentFor(q policy.Question, c *policy.Choice, block string) string {
	file := fiveJobs
	switch {
	case c.Program != nil || q == policy.NodesOf:
		return ""
	case q == policy.AllocationOf || c.SetsCores:
		file = nodeBlock.ReplaceAllString(gpusLine.ReplaceAllString(file, malleable), fourCores)
	case q == policy.PlacementOf || c.Weighs:
		file = strings.ReplaceAll(file, "  runtime { epoch = \"500ms\" }\n", "  runtime { epoch = \"500ms\" }\n"+alternative)
	case c.Extend != nil && c.Name != q.Default():
		file = regexp.MustCompile(`(?m)^  deadline = .*\n`).ReplaceAllString(gpusLine.ReplaceAllString(file, ""), "")
		file = nodeBlock.ReplaceAllString(strings.ReplaceAll(file, "  runtime", checkpoint+"  runtime"), markets)
	}
	return file + block
}

// schedule simulates the experiment and draws which job held how many cores.
func schedule(experiment string) (string, error) {
	dir, err := folder.MkdirTemp("", "tfexp-policies-")
	if err != nil {
		return "", err
	}
	defer folder.RemoveAll(dir)
	file := filepath.Join(dir, "five.hcl")
	if err := folder.WriteFile(file, []byte(experiment), 0o644); err != nil {
		return "", err
	}
	spec, diags := decode.File(file, decode.Options{})
	if diags.HasErrors() {
		return "", fmt.Errorf("%s: %s", diags[0].Summary, diags[0].Detail)
	}
	p, err := pipeline.New(spec, pipeline.Options{Out: dir})
	if err != nil {
		return "", err
	}
	if _, err := p.Run(context.Background()); err != nil {
		return "", err
	}
	e, err := record.Open(p.Dir)
	if err != nil {
		return "", err
	}
	var names []string
	rows, now, until := map[string][]byte{}, map[string]byte{}, map[string]int{}
	to := func(at float64) {
		n := int(2*at + 0.001)
		for _, job := range names {
			for len(rows[job]) < n {
				rows[job] = append(rows[job], now[job])
			}
		}
	}
	for ev, err := range e.Events(e.Plan.Cells[0]) {
		if err != nil {
			return "", err
		}
		if ev.Job == "" {
			continue
		}
		to(ev.At)
		switch ev.Event {
		case scheduler.Arrive:
			names = append(names, ev.Job)
			rows[ev.Job] = slices.Repeat([]byte{' '}, int(2*ev.At+0.001))
			now[ev.Job] = '.'
		case scheduler.Start, scheduler.Resume, scheduler.ResizeJob:
			now[ev.Job] = byte('0' + ev.Cores.Count())
		case scheduler.Pause:
			now[ev.Job] = '.'
		case scheduler.Finish, scheduler.Fail, scheduler.Stop:
			now[ev.Job], until[ev.Job] = ' ', len(rows[ev.Job])
		}
	}
	var b strings.Builder
	for _, job := range names {
		fmt.Fprintf(&b, "%s %s\n", job[:1], rows[job][:until[job]])
	}
	return b.String(), nil
}
