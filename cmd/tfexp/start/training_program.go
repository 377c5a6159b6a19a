// Package start writes the first experiment of a user: it finds out from the source of a training program how tfexp can
// run it, or from the log of a cluster how tfexp can replay it.
package start

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
)

// TrainingProgram describes a training program.
type TrainingProgram struct {
	// File is its path, as in the experiment.
	File string
	// Command starts it; Epochs is its work, with the option that sets it, empty where it has none.
	Command []string
	Epochs  int
	Option  string
	// First reports whether its first argument is its epochs; Arguments are its other required arguments.
	First     bool
	Arguments []string
	// FromTfexp reports whether it reads TFEXP_EPOCHS; Reports, whether it prints lines that tfexp follows.
	FromTfexp, Reports bool
	// Lines is the pattern of other lines by which it prints its progress; empty where none was recognized.
	Lines string
	// Fixed is the name of the variable with its epochs; empty where none was found.
	Fixed string
	// Frameworks are the frameworks that it imports: "TensorFlow", "PyTorch".
	Frameworks []string
}

// defaultEpochs is the work of a program that does not state it.
const defaultEpochs = 10

// epochs matches the names of the number of epochs: epochs, num_epochs, max_epochs, num_train_epochs.
const epochs = `(?:(?:num|max|n|total)[-_](?:train[-_])?)?epochs?`

var (
	option  = regexp.MustCompile(`["'](--` + epochs + `|-e)["']`)
	preset  = regexp.MustCompile(`["']--` + epochs + `["'][^()]*?default\s*=\s*(\d+)`)
	setting = regexp.MustCompile(`(?mi)^\s*(` + epochs + `)\s*=\s*([1-9]\d*)`)
	passed  = regexp.MustCompile(`\b` + epochs + `\s*=\s*([1-9]\d*)`)
	// As the first argument, in Python and in a shell, where it may have a default.
	first = regexp.MustCompile(`(?mi)epochs?\s*=\s*int\(\s*sys\.argv\[1\]|` +
		`epochs?["']?[ =]+["']?\$(?:\{1(?::-(\d+))?\}|1\b)`)
	argument = regexp.MustCompile(`\.add_argument\(\s*["']([\w-]+)["']([^()]*)`)
	optional = regexp.MustCompile(`nargs\s*=\s*["'][?*]|default\s*=`)
	required = regexp.MustCompile(`required\s*=\s*True`)
	reports  = regexp.MustCompile(`tfexp_job|"tfexp"|'tfexp'|TIME_WRITTER_OUTPUT|TIME_WRITER_OUTPUT`)
)

// frameworks are found by their imports.
var frameworks = []struct {
	name string
	by   *regexp.Regexp
}{
	{"TensorFlow", regexp.MustCompile(`(?m)^\s*(?:import|from)\s+(?:tensorflow|keras)\b`)},
	{"PyTorch", regexp.MustCompile(`(?m)^\s*(?:import|from)\s+torch\b`)},
	{"JAX", regexp.MustCompile(`(?m)^\s*(?:import|from)\s+jax\b`)},
}

// InspectProgram looks into the source of a program; the experiment will call its file shown.
func InspectProgram(shown string, raw []byte) TrainingProgram {
	p := TrainingProgram{File: filepath.ToSlash(shown), Epochs: defaultEpochs}
	p.FromTfexp = bytes.Contains(raw, []byte("TFEXP_EPOCHS")) || bytes.Contains(raw, []byte("tfexp_job"))
	p.Reports = reports.Match(raw)
	if !p.Reports {
		p.Lines = progressPattern(raw)
	}
	if m := option.FindSubmatch(raw); m != nil {
		p.Option = string(m[1])
	}
	p.First = p.Option == "" && first.Match(raw)
	for _, m := range argument.FindAllSubmatch(raw, -1) {
		name, said := string(m[1]), m[2]
		needed := required.Match(said) && name != p.Option
		if !strings.HasPrefix(name, "-") {
			needed = !optional.Match(said)
		}
		if needed {
			p.Arguments = append(p.Arguments, name)
		}
	}
	if m := setting.FindSubmatch(raw); m != nil {
		p.Fixed = string(m[1])
	}
	for _, from := range []*regexp.Regexp{preset, setting, first, passed} {
		if m := from.FindSubmatch(raw); m != nil {
			if n, err := strconv.Atoi(string(m[len(m)-1])); err == nil && n > 0 && n <= schema.MaxEpochs {
				p.Epochs = n
				break
			}
		}
	}
	for _, f := range frameworks {
		if f.by.Match(raw) {
			p.Frameworks = append(p.Frameworks, f.name)
		}
	}
	p.Command = p.command(raw)
	return p
}

// command returns the command line of the program.
func (p TrainingProgram) command(raw []byte) []string {
	start := []string{"./" + strings.TrimPrefix(p.File, "./")}
	if filepath.IsAbs(p.File) {
		start = []string{p.File}
	}
	first, _, _ := bytes.Cut(raw, []byte("\n"))
	switch {
	case filepath.Ext(p.File) == ".py":
		if start = []string{"python3", p.File}; p.Lines != "" {
			start = []string{"python3", "-u", p.File} // its lines come as it prints them
		}
	case filepath.Ext(p.File) == ".sh" && !bytes.HasPrefix(first, []byte("#!")):
		start = []string{"sh", p.File}
	}
	if p.FromTfexp || p.Option == "" && !p.First {
		return start
	}
	start[len(start)-1] = quoted(start[len(start)-1])
	if p.Option != "" {
		start = append(start, p.Option)
	}
	return []string{"sh", "-c", "exec " + strings.Join(start, " ") + " $TFEXP_EPOCHS"}
}

// plain are the names of files that mean themselves to a shell.
var plain = regexp.MustCompile(`^[\w./@%+=:,-]+$`)

// quoted makes the name of a file one word of a shell.
func quoted(file string) string {
	if plain.MatchString(file) {
		return file
	}
	return "'" + strings.ReplaceAll(file, "'", `'\''`) + "'"
}

// OpenQuestions returns the facts that could not be found out, in sentences.
func (p TrainingProgram) OpenQuestions() []string {
	var out []string
	if len(p.Arguments) > 0 {
		out = append(out, fmt.Sprintf("It needs more arguments: add %s to command.", strings.Join(p.Arguments, ", ")))
	}
	if !p.FromTfexp && p.Option == "" && !p.First {
		name := cmp.Or(p.Fixed, "epochs")
		out = append(out, fmt.Sprintf("It does not say how to set its number of epochs, so that its short samples take as "+
			"long as the whole training: have it read TFEXP_EPOCHS, as in  %s = int(os.environ.get(\"TFEXP_EPOCHS\", %d))", name,
			p.Epochs))
	}
	if p.Lines != "" {
		out = append(out, "Its progress is read from the lines that it prints: check that the pattern of lines matches them.")
	} else if !p.Reports {
		out = append(out, "It does not report its progress: a line of JSON after each epoch makes its loss and its pace "+
			"known (jobs/README.md); or print lines such as \"Epoch 3/30 - loss: 0.41\", and name their pattern in a progress "+
			"block (Keras prints such lines with verbose=2).")
	}
	return out
}

// Experiment writes an experiment of that name with the program. It errs for a program whose path no experiment can name.
func (p TrainingProgram) Experiment(name string) ([]byte, error) {
	if !printable(p.File) {
		return nil, fmt.Errorf("the name %q has a character that an experiment cannot hold: rename the program", p.File)
	}
	var b bytes.Buffer
	err := forms.ExecuteTemplate(&b, "program.hcl.tmpl", map[string]any{
		"Program": p, "Name": name, "Files": []string{p.File}, "Short": max(2, p.Epochs/5),
		"OpenQuestions": wrapped(p.OpenQuestions()),
	})
	return b.Bytes(), err
}
