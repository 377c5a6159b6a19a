// Package start writes the first experiment of a user: it finds out from the source of a training program how tfexp can
// run it, or from the log of a cluster how tfexp can replay it.
package start

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
)

// TrainingProgram describes a training program.
type TrainingProgram struct {
	// File is the path of the program, as the experiment names it.
	File string
	// Command starts the program. Work is its number of epochs or steps, with the option that sets it; the option is
	// empty if none does.
	Command []string
	Work    int
	Steps   bool
	Option  string
	// Variable is the environment variable with the number of epochs or steps; empty if the program reads none.
	Variable string
	// First reports whether the first argument is the number of epochs or steps. Arguments are the other required
	// arguments.
	First     bool
	Arguments []string
	// FromTfexp reports whether the program reads TFEXP_EPOCHS. Reports says whether it prints progress in tfexp's own
	// format.
	FromTfexp, Reports bool
	// Lines is the pattern of the lines in which the program prints its progress; empty if no style was recognized.
	Lines string
	// Note says what is not read of the lines; empty if there is nothing to say.
	Note string
	// Fixed is the variable with the number of epochs or steps; empty if none was found.
	Fixed string
	// Detached is a command in the program that starts another program and does not wait for it; empty if the program
	// has no such command.
	Detached string
	// Wrapped is the program that it starts, if it is a script; empty if there is no such program.
	Wrapped string
	// Settings are the options of the program that a search can vary.
	Settings []Setting

	source []byte
	// Frameworks lists the frameworks that the program imports: "TensorFlow", "PyTorch".
	Frameworks []string
}

// The number of epochs, and of steps, of a program that contains no number.
const (
	defaultEpochs = 10
	defaultSteps  = 1000
)

// The names of the numbers of epochs and steps: epochs, num_epochs, max_epochs, num_train_epochs, max_iters.
const (
	epochs = `(?:(?:num|max|n|total)[-_](?:train[-_])?)?epochs?|num_boost_round|n_estimators`
	steps  = `(?:(?:num|max|n|total|train)[-_](?:train[-_])?)(?:(?:time)?steps|iters|iterations)`
)

// unitPatterns find a number of epochs or steps in a source.
type unitPatterns struct {
	option, preset, setting, passed *regexp.Regexp
	// An environment variable in Python and in a shell, an option by absl, the value of an option in a shell, and the
	// name alone.
	variable, flag, given, name *regexp.Regexp
	// As the first argument, in Python and in a shell, where it may have a default.
	first *regexp.Regexp
}

func patternsOf(names, short string) unitPatterns {
	return unitPatterns{
		option:  regexp.MustCompile(`["'](--(?:` + names + `)` + short + `)["']`),
		preset:  regexp.MustCompile(`["']--(?:` + names + `)["'][^()]*?default\s*=\s*(\d+)`),
		setting: regexp.MustCompile(`(?mi)^\s*(` + names + `)(?:\s*:\s*int)?\s*=\s*([1-9][\d_]*)`),
		variable: regexp.MustCompile(`(?i)(?:environ(?:\.get\(|\[)|getenv\()\s*["'](` + names +
			`)["'](?:\s*,\s*["']?(\d+))?|\$\{(` + names + `):?[-=](\d+)\}`),
		flag:   regexp.MustCompile(`\bDEFINE_integer\(\s*["'](` + names + `)["']\s*,\s*(\d+)?`),
		name:   regexp.MustCompile(`^(?:` + names + `)$`),
		given:  regexp.MustCompile(`\s--(?:` + names + `)[ =](\d+)\b`),
		passed: regexp.MustCompile(`\b(?:` + names + `)(?:\s*:\s*int)?\s*=\s*([1-9][\d_]*)`),
		first: regexp.MustCompile(`(?mi)(?:` + names + `)\s*=\s*int\(\s*sys\.argv\[1\]|` +
			`(?:` + names + `)["']?[ =]+["']?\$(?:\{1(?::-(\d+))?\}|1\b)`),
	}
}

var (
	inEpochs          = patternsOf(epochs, `|-e`)
	inSteps           = patternsOf(steps, ``)
	trainingArguments = regexp.MustCompile(`\b(?:HfArgument|Trl)Parser\([^)]*\b(?:Seq2Seq)?TrainingArguments\b`)
	byNumber          = regexp.MustCompile(`(?m)^[^#\n]*\bsys\.argv\[([1-9])\]`)
	looped            = regexp.MustCompile(`\bfor\s+\w*ep\w*\s+in\s+(?:tqdm\()?t?range\((\d+)\)`)
	argument          = regexp.MustCompile(`\.add_argument\(\s*(?:["']-\w["']\s*,\s*)?["']([\w-]+)["']([^()]*)`)
	optional          = regexp.MustCompile(`nargs\s*=\s*["'][?*]|default\s*=`)
	required          = regexp.MustCompile(`required\s*=\s*True`)
	reports           = regexp.MustCompile(`tfexp_job|"tfexp"|'tfexp'|TIME_WRITTER_OUTPUT|TIME_WRITER_OUTPUT`)
)

// eventFiles matches programs that write TensorBoard's event files, or send values to a tracker that can.
var eventFiles = regexp.MustCompile(`\bSummaryWriter\(|\bTensorBoard` +
	`(?:Logger)?\(|\bwandb\.log\(|\bcreate_file_writer\(`)

// batchLine matches a line of a script for a batch system.
var batchLine = regexp.MustCompile(`(?m)^#(?:SBATCH|PBS|BSUB|COBALT|OAR|\$)\s+(-.*?)\s*$`)

// batchLines returns the options in the lines of a script for a batch system; empty without such lines.
func batchLines(source []byte) string {
	options := schema.Each(batchLine.FindAllSubmatch(source, 12), func(m [][]byte) string { return string(m[1]) })
	return strings.Join(options, ", ")
}

// wrappedProgram matches the name of a Python program that a script starts.
var wrappedProgram = regexp.MustCompile(`(?m)^[^#\n]*?(?:^|[\s="'])([\w./-]+\.py)\b`)

// Wrap reads the program that a script starts, and takes its way to print progress as that of the script. read returns
// the content of a file that the script names.
func (p *TrainingProgram) Wrap(read func(name string) ([]byte, error)) {
	if p.Lines != "" || p.Reports || !isShell(p.File, p.source) {
		return
	}
	for _, m := range wrappedProgram.FindAllSubmatch(p.source, -1) {
		raw, err := read(string(m[1]))
		if err != nil {
			continue
		}
		inner := InspectProgram(string(m[1]), raw)
		if !p.unknownWork() && inner.Steps != p.Steps {
			continue
		}
		if p.unknownWork() && (inner.Steps != p.Steps || !bytes.Contains(p.source, []byte("--"))) {
			p.Work = inner.Work
			if given := inSteps.given.FindSubmatch(p.source); inner.Steps && given != nil {
				p.Work = cmp.Or(workOf(string(given[1])), inner.Work)
			}
		}
		p.Lines, p.Note, p.Reports, p.Steps = inner.Lines, inner.Note, inner.Reports, inner.Steps
		p.Wrapped = filepath.ToSlash(filepath.Join(filepath.Dir(p.File), string(m[1])))
		return
	}
}

// workOf reads a number of epochs or steps in the source of a program; 0 if it is no such number.
func workOf(text string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(text, "_", ""))
	if err != nil || n > schema.MaxEpochs {
		return 0
	}
	return max(n, 0)
}

// frameworks are found by their imports.
var frameworks = []struct {
	name string
	by   *regexp.Regexp
}{
	{"TensorFlow", regexp.MustCompile(imported("tensorflow", "keras"))},
	{"PyTorch", regexp.MustCompile(imported("torch"))},
	{"JAX", regexp.MustCompile(imported("jax"))},
}

// InspectProgram finds out from the source of a program how to run it. The experiment calls the file shown.
func InspectProgram(shown string, raw []byte) TrainingProgram {
	p := TrainingProgram{File: filepath.ToSlash(shown), source: raw}
	p.FromTfexp = fromTfexp.Match(raw)
	p.Reports = reports.Match(raw)
	p.Steps = bytes.Contains(raw, []byte("TFEXP_STEPS")) && !bytes.Contains(raw, []byte("TFEXP_EPOCHS"))
	var style progressStyle
	if !p.Reports {
		style = findStyle(raw)
		p.Lines, p.Note, p.Steps = style.lines, style.note, p.Steps || style.steps
	}
	unit, standard := inEpochs, defaultEpochs
	if p.Steps {
		unit, standard = inSteps, defaultSteps
	}
	if style.work != "" {
		unit = patternsOf(strings.ReplaceAll(style.work, "_", "[-_]"), ``)
	}
	if m := unit.option.FindSubmatch(raw); m != nil {
		p.Option = string(m[1])
	}
	preset := "" // the number in a parameter of the program
	switch m := unit.variable.FindSubmatch(raw); {
	case p.Option != "":
	case unit.flag.Match(raw):
		p.Option = "--" + string(unit.flag.FindSubmatch(raw)[1])
	case slices.ContainsFunc(parameters(raw), func(o parameter) bool { return unit.name.MatchString(o.name) }):
		for _, o := range parameters(raw) {
			if unit.name.MatchString(o.name) {
				p.Option, preset = o.option, o.value
			}
		}
	case !p.Steps && trainingArguments.Match(raw):
		p.Option = "--num_train_epochs"
	case m != nil:
		p.Variable = string(m[1]) + string(m[3])
	}
	p.First = p.Option == "" && p.Variable == "" && unit.first.Match(raw)
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
	if m := byNumber.FindSubmatch(raw); m != nil && !p.First && !bytes.Contains(raw, []byte("len(sys.argv)")) {
		p.Arguments = append(p.Arguments, "sys.argv["+string(m[1])+"]")
	}
	if m := unit.setting.FindSubmatch(raw); m != nil {
		p.Fixed = string(m[1])
	}
	p.Work = standard
	for _, from := range []*regexp.Regexp{unit.preset, unit.flag, unit.variable, unit.setting, unit.first,
		unit.passed, unit.given, looped} {
		if m := from.FindSubmatch(raw); m != nil {
			text := m[len(m)-1]
			if from == unit.variable && len(text) == 0 { // in Python, not in a shell
				text = m[2]
			}
			if n := workOf(string(text)); n > 0 {
				p.Work = n
				break
			}
		}
	}
	if n := workOf(preset); n > 0 {
		p.Work = n
	}
	p.Detached = detached(shown, raw)
	p.Settings = settingsOf(raw, p.Option)
	for _, f := range frameworks {
		if f.by.Match(raw) {
			p.Frameworks = append(p.Frameworks, f.name)
		}
	}
	p.Command = p.command(raw)
	return p
}

// fromTfexp matches programs that read the number of their epochs, or steps, from the environment.
var fromTfexp = regexp.MustCompile(`TFEXP_EPOCHS|TFEXP_STEPS|tfexp_job`)

// Unit is the unit of its work.
func (p TrainingProgram) Unit() string {
	if p.Steps {
		return "steps"
	}
	return "epochs"
}

// interpreters are the programs that run a source without an executable bit and a first line that names one.
var interpreters = []struct{ ending, command string }{{".sh", "sh"}, {".bash", "bash"}, {".r", "Rscript"}, {".jl", "julia"},
	{".pl", "perl"}, {".lua", "lua"}, {".js", "node"}}

// command returns the command line of the program.
func (p TrainingProgram) command(raw []byte) []string {
	start := []string{"./" + strings.TrimPrefix(p.File, "./")}
	if filepath.IsAbs(p.File) {
		start = []string{p.File}
	}
	first, _, _ := bytes.Cut(raw, []byte("\n"))
	ending := strings.ToLower(filepath.Ext(p.File))
	switch {
	case ending == ".py", ending == "" && !bytes.HasPrefix(first, []byte("#!")) && isPython(raw):
		if start = []string{"python3", p.File}; p.Lines != "" {
			start = []string{"python3", "-u", p.File} // -u: lines are not buffered
		}
	case !bytes.HasPrefix(first, []byte("#!")):
		for _, in := range interpreters {
			if in.ending == ending {
				start = []string{in.command, p.File}
			}
		}
	}
	if p.unknownWork() || p.FromTfexp {
		return start
	}
	start[len(start)-1] = quoted(start[len(start)-1])
	number := "$TFEXP_" + strings.ToUpper(p.Unit())
	switch {
	case p.Variable != "":
		start = append([]string{"env", p.Variable + "=" + number}, start...)
	case strings.HasSuffix(p.Option, "="):
		start = append(start, p.Option+number)
	case p.Option != "":
		start = append(start, p.Option, number)
	default:
		start = append(start, number)
	}
	return []string{"sh", "-c", "exec " + strings.Join(start, " ")}
}

// unknownWork reports whether nothing sets the number of epochs or steps of the program.
func (p TrainingProgram) unknownWork() bool {
	return !p.FromTfexp && p.Option == "" && p.Variable == "" && !p.First
}

// plain matches file names that a shell reads as one word, without quotes.
var plain = regexp.MustCompile(`^[\w./@%+=:,-]+$`)

// quoted writes a file name as one word of a shell.
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
	if p.unknownWork() {
		name, variable := cmp.Or(p.Fixed, p.Unit()), "TFEXP_"+strings.ToUpper(p.Unit())
		example := fmt.Sprintf("%s = int(os.environ.get(%q, %d))", name, variable, p.Work)
		if isShell(p.File, p.source) {
			example = fmt.Sprintf("python3 train.py --%s ${%s:-%d}", name, variable, p.Work)
		}
		out = append(out, fmt.Sprintf("It does not say how to set its number of %s, so that its short samples take as "+
			"long as the whole training: have it read %s, as in  %s", p.Unit(), variable, example))
	}
	if asked := batchLines(p.source); asked != "" {
		out = append(out, fmt.Sprintf("What it asks of a batch system is not read: %s. The job has the threads, GPUs "+
			"and limit that its block gives.", asked))
	}
	if p.Detached != "" {
		out = append(out, fmt.Sprintf("It starts a program that goes on after it, by %s: when its own process ends, the job ends, "+
			"and tfexp ends what it has started. Let it wait for the program, or start the program itself.", p.Detached))
	}
	if p.Lines != "" {
		out = append(out, "Its progress is read from the lines that it prints. A run warns if the pattern of lines matches none of them.")
	} else if !p.Reports && eventFiles.Match(p.source) {
		out = append(out, "Its progress is in the event files that it writes for TensorBoard, or in a tracker: let it "+
			"write event files below $TFEXP_CHECKPOINT_DIR, and name the scalar of its loss:  progress { tensorboard = "+
			"\"logs\", loss = "+
			"\"train/loss\" }  (write the arguments in lines of their own)")
	} else if !p.Reports {
		out = append(out, "It does not report its progress: a line of JSON after each epoch makes its loss and its pace "+
			"known (jobs/README.md); or print lines such as \"Epoch 3/30 - loss: 0.41\", and name their pattern in a "+
			"progress block (Keras prints such lines with verbose=2).")
	}
	if p.Note != "" {
		out = append(out, p.Note)
	}
	return out
}

// Experiment returns the source of an experiment that runs the program. It errs if no experiment can contain the
// program's path.
func (p TrainingProgram) Experiment(name string) ([]byte, error) {
	return p.write("program.hcl.tmpl", name, map[string]any{"Short": min(max(2, p.Work/5), p.Work)})
}

// Threads returns the source of an experiment that runs the program with several numbers of threads.
func (p TrainingProgram) Threads(name string, cores int) ([]byte, error) {
	threads := []int{1, 2}
	for n := 4; n <= cores; n *= 2 {
		threads = append(threads, n)
	}
	return p.write("threads.hcl.tmpl", name, map[string]any{"Threads": threads})
}

// accuracyName is the name of an accuracy in a program.
var accuracyName = regexp.MustCompile(`(?i)(?:^|[^a-z])acc(?:uracy)?(?:[^a-z]|$)`)

// someLoss is the target of a search until the user sets the true one.
const someLoss = 0.1

// Search returns the source of an experiment that searches the settings of the program: for the best result or, with
// toLoss, for the shortest time to a loss.
func (p TrainingProgram) Search(name string, toLoss bool) ([]byte, error) {
	objective, target := "loss", 0.0
	if toLoss {
		objective, target = "time_to_loss", someLoss
	} else if (p.Reports || strings.Contains(p.Lines, "accuracy")) && accuracyName.Match(p.source) {
		objective = "accuracy"
	}
	command := schema.Each(p.Command, eval.Literal)
	if p.Command[0] == "sh" && len(p.Command) == 3 && p.Command[1] == "-c" { // arguments after the script become arguments of the program
		command[2] = eval.Literal(p.Command[2] + ` "$@"`)
		command = append(command, eval.Literal(filepath.Base(p.File)))
	}
	for _, s := range p.Settings {
		if option, joined := strings.CutSuffix(s.Option, "="); joined {
			command = append(command, fmt.Sprintf(`"%s=${each.%s}"`, option, s.Name))
			continue
		}
		command = append(command, eval.Literal(s.Option), "each."+s.Name)
	}
	question := "Which settings of my program give the best " + objective + "?"
	if toLoss {
		question = "With which settings does my program reach its loss soonest?"
	}
	return p.write("tune.hcl.tmpl", name, map[string]any{"Objective": objective, "Words": command, "Target": target,
		"Question": question, "Trials": min(max(12, 6*len(p.Settings)), 60)})
}

// write fills a template.
func (p TrainingProgram) write(template, name string, more map[string]any) ([]byte, error) {
	if !printable(p.File) || strings.TrimSpace(p.File) == "" {
		return nil, fmt.Errorf("the name %q has a character that an experiment cannot hold: rename the program", p.File)
	}
	files := []string{p.File}
	if p.Wrapped != "" {
		files = append(files, p.Wrapped)
	}
	more["Program"], more["Name"], more["Files"] = p, name, files
	more["Unit"], more["OpenQuestions"] = fmt.Sprintf("%-7s", p.Unit()), wrapped(p.OpenQuestions())
	var b bytes.Buffer
	err := forms.ExecuteTemplate(&b, template, more)
	return b.Bytes(), err
}
