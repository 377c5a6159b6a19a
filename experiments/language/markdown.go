package language

import (
	"fmt"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
)

// Markdown returns the reference of the language, docs/language.md.
func Markdown() []byte {
	var b strings.Builder
	file := File()
	b.WriteString(strings.Replace(preface, "%HARDWARE%", engine.Kinds()[0].Example, 1))
	b.WriteString("\n## Blocks\n\n")
	for _, block := range file.Blocks {
		fmt.Fprintf(&b, "- [`%s`](#%s)%s\n", block.Name, block.Name, often(block))
	}
	for _, block := range file.Blocks {
		fmt.Fprintf(&b, "\n### %s\n", block.Name)
		blockText(&b, block, "####", "")
	}
	b.WriteString(values)
	b.WriteString("\n## Facts of the host\n\n| name | type | meaning |\n|---|---|---|\n")
	for _, f := range Facts {
		fmt.Fprintf(&b, "| `host.%s` | %s | %s |\n", f.Name, f.Type, f.Doc)
	}
	b.WriteString("\n## Functions\n\nFunctions are pure: none reads a file, the clock or the environment.\n\n| call | result |\n|---|---|\n")
	for _, f := range Functions {
		fmt.Fprintf(&b, "| `%s` | %s |\n", f.Signature, f.Doc)
	}
	return []byte(b.String())
}

// often says how often a block may stand in its parent.
func often(b *schema.Block) string {
	switch {
	case b.Single && b.Required:
		return ", exactly one"
	case b.Single:
		return ", at most one"
	case b.Required:
		return ", at least one"
	}
	return ""
}

// blockText writes what one block takes, then the blocks in it under headings
// of that level.
func blockText(w *strings.Builder, b *schema.Block, heading, parent string) {
	path := strings.TrimSpace(parent + " " + b.Name)
	if b.Label != "" {
		fmt.Fprintf(w, "\n`%s \"…\" { … }`: the label is the %s.\n", path, b.Label)
	}
	fmt.Fprintf(w, "\n%s\n", b.Doc)
	if b.Example != "" {
		fmt.Fprintf(w, "\n```hcl\n%s\n```\n", b.Example)
	}
	args := b.Args
	if b.Free != nil {
		args = append(args[:len(args):len(args)], *b.Free)
	}
	table(w, args)
	for _, v := range b.Variants {
		fmt.Fprintf(w, "\n`%s \"%s\"`: %s\n", b.Name, v.Label, v.Doc)
		table(w, v.Args)
	}
	for _, a := range args {
		if len(a.Keys) > 0 {
			fmt.Fprintf(w, "\nThe keys of `%s` as an object:\n", a.Name)
			table(w, a.Keys)
		}
	}
	for _, inner := range b.Blocks {
		fmt.Fprintf(w, "\n%s %s: %s%s\n", heading, path, inner.Name, often(inner))
		blockText(w, inner, heading, path)
	}
}

func table(w *strings.Builder, args []schema.Arg) {
	if len(args) == 0 {
		return
	}
	w.WriteString("\n| argument | type | default | meaning | example |\n|---|---|---|---|---|\n")
	for _, a := range args {
		standard := a.DefaultDoc
		switch {
		case a.Required:
			standard = "**required**"
		case standard == "" && a.Default != "":
			standard = "`" + a.Default + "`"
		case standard == "":
			standard = "–"
		}
		doc := a.Doc
		if len(a.Allowed) > 0 && a.Type != schema.Estimates {
			doc += " One of `" + strings.Join(a.Allowed, "`, `") + "`."
		}
		if limits := limitsOf(&a); limits != "" {
			doc += " " + limits
		}
		example := a.Example
		if example != "" {
			example = "`" + strings.ReplaceAll(example, "|", "\\|") + "`"
		}
		fmt.Fprintf(w, "| `%s` | %s | %s | %s | %s |\n", a.Name, a.Type, standard, doc, example)
	}
}

// limitsOf says what values are allowed.
func limitsOf(a *schema.Arg) string {
	switch {
	case a.Positive:
		return "Above zero."
	case a.Min != nil && *a.Min > 0 && a.Type == schema.Integer:
		return fmt.Sprintf("At least %v.", *a.Min)
	}
	return ""
}

// preface has a place for a hardware block, which is that of the first engine.
const preface = `<!-- Generated from the tables in experiments/language: make docs -->

# The language

An experiment is one file: ` + "`*.hcl`" + ` in [HCL](https://github.com/hashicorp/hcl)'s native syntax, or
` + "`*.hcl.json`" + ` in its JSON syntax. It names jobs, the workloads that submit them, the hardware they run
on and the policies that schedule them; the matrix says which of them meet. Each combination is a
cell, and each cell is repeated.

` + "```hcl" + `
experiment "fcfs_vs_rr" {
  description = "Short jobs stuck behind long ones: FCFS against round robin"
  seed        = 7
}

job "long" {
  builtin "mlp" { hidden = [64, 32] }
  epochs  = 60
  threads = 1
}

job "short" {
  builtin "softmax" {}
  epochs  = 20
}

workload "mixed" {
  submit {
    job   = job.long
    count = 2
  }
  submit {
    job          = job.short
    count        = 6
    interarrival = exponential("400ms")
  }
}

%HARDWARE%

policy "fcfs" { order = "fcfs" }

policy "rr" {
  order   = "round_robin"
  quantum = each.quantum
}

matrix {
  policy  = [policy.fcfs, policy.rr]
  quantum = ["500ms", "1s"]
}

compare "mean_jct" { baseline = policy.fcfs }
` + "```" + `

Every unknown block, argument, key or reference is an error, shown with its line and, where there is a
near one, the name that was probably meant. So is an argument that nothing would read. The order of
blocks does not matter to what they mean; it is the order of the results.
`

const values = `
## Values

**Units.** Durations are strings with a unit: ` + "`\"1.5s\"`, `\"200ms\"`, `\"1h30m\"`" + `; the units are ` + "`h`, `m`, `s`, `ms`, `us`, `ns`" + `.
Sizes are strings with a unit: ` + "`\"4GiB\"`, `\"512MB\"`" + `; the units are ` + "`B`, `KiB`, `MiB`, `GiB`, `TiB`" + ` (powers of 1024) and
` + "`kB`, `MB`, `GB`, `TB`" + ` (powers of 1000). A number without a unit is an error, and so is a negative one.

**References.** ` + "`var.<name>`, `local.<name>`, `host.<name>`" + ` are values. ` + "`job.<name>`, `workload.<name>`, `hardware.<name>`,\n`policy.<name>`" + ` refer to blocks; their only attribute is ` + "`name`" + `. They can stand in lists, locals and axes.
` + "`each.<axis>`" + ` is the value of an axis of the matrix; job, workload, hardware and policy blocks can read it.

**null** is the same as an argument that is not set: ` + "`quantum = each.order == \"round_robin\" ? \"1s\" : null`" + `.

**Variables** take their values from ` + "`-var name=value`" + `, then from ` + "`-var-file`" + `, then from their default. A file of variables
has an argument a line, or is a JSON object. ` + "`-var`" + ` takes text, durations and sizes as they are; other types are written
as in the file: ` + "`-var 'sizes=[1, 2]'`" + `.

## The rules of the matrix

1. Every argument of the matrix is an axis. All axes are crossed; the first in the file varies slowest. Lists in a
   ` + "`zip`" + ` block advance together, and count as one axis in the cross.
2. ` + "`workload`, `hardware` and `policy`" + ` take all blocks of their kind where the matrix is silent, and then vary slowest of all.
3. ` + "`exclude`" + ` removes points of the cross; ` + "`include`" + ` adds points after it, which no exclude removes.
4. An axis that a cell's blocks do not read does not multiply that cell: first come, first served has no
   quantum, so it runs once however many quanta there are. "Its blocks" are the cell's workload with the jobs
   that it submits, its hardware and its policy.
5. An axis that no cell reads is an error.
6. Without a matrix block every workload meets every hardware and every policy.
`
