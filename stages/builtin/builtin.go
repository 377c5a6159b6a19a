// Package builtin lets a job run a training program that is part of tfexp, so that an experiment needs no other
// software. Package train has the programs; package commands has the command that runs one.
package builtin

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/builtin/train"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// name is the name of the block.
const name = "builtin"

func init() {
	language.Extend(name, language.Job, language.Extension[experiment.Job]{
		Blocks:        func() []*schema.Block { return []*schema.Block{block()} },
		Before:        "runtime",
		Program:       name,
		DecodeProgram: decode,
	})
}

// program is the part of a job that runs a program of tfexp. It is a stages.OwnProgram.
type program struct {
	// Name is the name of the program.
	Name string
	// Settings are all arguments of the program, also those with default values, in the order of its schema.
	Settings []schema.Setting
}

// decode decodes the builtin block of a job.
func decode(d *language.Decoder, a language.Block, j *experiment.Job) {
	n := a.Node.First(name)
	a.Unread("{} is for jobs with a command, but this job runs a built-in program: remove it.",
		"dir", "env", "files", "flags", "time_writer")
	settings, ok := settingsOf(d, n, a.Env)
	a.OK = a.OK && ok
	j.Parts = append(j.Parts, &program{n.Label, settings})
}

// settingsOf returns the values of all arguments of a built-in program, in the order of its schema. It returns false if
// one has a mistake.
func settingsOf(d *language.Decoder, n *eval.Node, e *eval.Env) ([]schema.Setting, bool) {
	a := d.EvalArgs(n, e)
	list := make([]schema.Setting, 0, len(n.Args))
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
			text = strings.Join(schema.Each(v, strconv.Itoa), ",")
		case nil:
			if arg.Name != "learning_rate" || !a.Lacks(arg.Name) {
				continue // the mistake has been reported
			}
			// The default learning rate depends on the optimizer.
			text = "0.001"
			if eval.Get[string](a, "optimizer") == "sgd" {
				text = "0.05"
			}
		}
		list = append(list, schema.Setting{Name: arg.Name, Value: text})
	}
	return list, a.OK
}

// setting returns the value of an argument; "" if it has none.
func (p *program) setting(name string) string {
	for _, s := range p.Settings {
		if s.Name == name {
			return s.Value
		}
	}
	return ""
}

// Program implements stages.ProgramPart.
func (p *program) Program() string { return p.Name }

// ProgramLines implements stages.ProgramPart.
func (p *program) ProgramLines(prefix string) []stages.KeyLine {
	lines := []stages.KeyLine{{Label: prefix + name, Value: fmt.Sprintf("%s version %d", p.Name, train.Version)}}
	for _, s := range p.Settings {
		lines = append(lines, stages.KeyLine{Label: prefix + s.Name, Value: s.Value})
	}
	return lines
}

// Arguments implements stages.OwnProgram.
func (p *program) Arguments() []string {
	args := []string{train.Command, p.Name}
	for _, s := range p.Settings {
		args = append(args, "--"+strings.ReplaceAll(s.Name, "_", "-"), s.Value)
	}
	return args
}

// Changeable implements stages.OwnProgram.
func (p *program) Changeable() []string { return train.Changeable() }

// Deepens implements stages.OwnProgram.
func (p *program) Deepens() (blocks int, problem string) {
	layers := func(name string) int { return strings.Count(p.setting(name), ",") + 1 }
	switch p.Name {
	case "mlp":
		blocks = layers("hidden")
	case "cnn":
		blocks = layers("filters") + 1
	default:
		return 0, fmt.Sprintf("the built-in program %q has no block to deepen; use mlp or cnn", p.Name)
	}
	if p.setting("activation") == "tanh" {
		problem = "its activation is tanh, but an added layer keeps the output unchanged only with relu"
	}
	return blocks, problem
}
