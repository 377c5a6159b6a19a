package start

import (
	"bufio"
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/filearg"
	"github.com/tfexp/tfexp/cmd/tfexp/flags"
	"github.com/tfexp/tfexp/experiments/schema"
	library "github.com/tfexp/tfexp/jobs/tfexp_policy"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
	"github.com/tfexp/tfexp/stages/language"
	"github.com/tfexp/tfexp/stages/language/datafile"
)

//go:embed help
var helpTexts embed.FS

func init() {
	command.RegisterAt(command.GroupWrite, 10, initCommand)
}

// experimentName matches the names that the language accepts.
var experimentName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// initOptions are the options of tfexp init.
type initOptions struct {
	force, asJSON  bool
	template, from string
	sources        []*flags.Given[sourceFlag]
	others         []string // arguments behind NAME, for the source of a feature
	// answers reads the lines that a user types at a terminal, and asked shows the questions; both are nil without a
	// terminal.
	answers *bufio.Reader
	asked   io.Writer
}

// initialized lists the written files, the experiment first, and the facts that tfexp init could not find out.
type initialized struct {
	Files         []string `json:"files"`
	OpenQuestions []string `json:"doubts"`
}

// sourceFlag writes the source of an experiment from the files that a feature's flag names (command.Flag). It also
// returns the facts that it could not find out.
type sourceFlag = func(file string, others []string, name, dir string) (source []byte, doubts []string, err error)

// source returns the feature whose flag is given; nil without such a flag.
func (o *initOptions) source() *flags.Given[sourceFlag] {
	for _, f := range o.sources {
		if f.Value != "" {
			return f
		}
	}
	return nil
}

// withFile lists the templates that need a file of the user: a program, a log, or a program whose settings are
// searched.
var withFile = []string{ownProgram, logReplay, tuneSettings, timeToLoss, threads}

// The names of these templates. The template threads is for programs alone.
const (
	ownProgram   = "own-program"
	logReplay    = "log-replay"
	tuneSettings = "tune"
	timeToLoss   = "time-to-loss"
	threads      = "threads"
)

// mostInspected is the size of the inspected beginning of a program, in bytes.
const mostInspected = 1 << 20

func initCommand(a *command.App) *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init [NAME|FILE] [--template NAME] [--from FILE] [--force] [--json]",
		Short: "Write an experiment to start from",
		Long:  command.Help(helpTexts, "init", "{templates}", templateList()),
		Example: `  tfexp init                          experiment.hcl
  tfexp init spot_training            spot_training.hcl
  tfexp init --template log-replay    experiment.hcl and log.swf
  tfexp init --from train.py          experiment.hcl, which runs train.py
  tfexp init --template tune --from train.py     experiment.hcl, which searches its settings
  tfexp init --template threads --from train.py  experiment.hcl, which compares numbers of threads
  tfexp init what_if --from jobs.csv  what_if.hcl, which replays the jobs of a log`,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.source() != nil {
				return nil
			}
			return command.Between(0, 1, "")(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if o.source() != nil && len(args) > 1 {
				o.others, args = args[1:], args[:1]
			}
			file := "experiment.hcl"
			if len(args) == 1 {
				file = strings.TrimSuffix(args[0], ".hcl") + ".hcl"
			}
			name := strings.TrimSuffix(filepath.Base(file), ".hcl")
			if !experimentName.MatchString(name) {
				return command.Usagef("a name has letters, digits, _ and -, and begins with a letter",
					"%q is not a valid name for an experiment", name)
			}
			if command.IsTerminal(a.Screen) && term.IsTerminal(int(os.Stdin.Fd())) {
				o.answers, o.asked = bufio.NewReader(os.Stdin), a.Err
			}
			files, doubts, err := o.files(file, name)
			if err != nil {
				return err
			}
			if err := writeNew(files, filepath.Dir(file), o.force); err != nil {
				return err
			}
			names := schema.Each(files, func(f templateFile) string { return f.Name })
			if o.asJSON {
				return a.PrintJSON(initialized{names, append([]string{}, doubts...)})
			}
			for _, d := range doubts {
				fmt.Fprintln(a.Err, d)
			}
			again := "tfexp run " + file
			if slices.ContainsFunc(doubts, func(d string) bool { return strings.Contains(d, "--lenient") }) {
				again += " --lenient"
			}
			fmt.Fprintf(a.Out, "wrote %s\nread it, then:  %s\n", strings.Join(names, ", "), again)
			return nil
		},
	}
	cmd.Flags().BoolVar(&o.force, "force", false, "replace the experiment if it exists")
	cmd.Flags().StringVar(&o.template, "template", "", "what to begin with: "+strings.Join(templateNames(), ", "))
	cmd.Flags().StringVar(&o.from, "from", "", "a `FILE` of yours: a training program, or the log of a cluster")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print what was written as JSON")
	o.sources = flags.Add[sourceFlag](cmd)
	for _, f := range o.sources {
		flags.Exclude(cmd, "template", f.Name)
		flags.Exclude(cmd, "from", f.Name)
	}
	allOnce(cmd.Flags())
	return cmd
}

// files returns the files to write, the experiment first, and the facts that could not be found out.
func (o *initOptions) files(file, name string) (files []templateFile, doubts []string, err error) {
	switch {
	case o.template != "" && o.from != "" && !slices.Contains(withFile, o.template):
		return nil, nil, command.Usagef("with --from, the templates are "+strings.Join(withFile, ", "),
			"the template %q does not take a file of yours", o.template)
	case o.template != "" && o.from == "":
		i := slices.Index(templateNames(), strings.TrimSuffix(o.template, ".hcl"))
		if i < 0 {
			return nil, nil, command.Usagef(command.DidYouMean(o.template, templateNames(), "the templates are "+
				strings.Join(templateNames(), ", ")), "there is no template %q", o.template)
		}
		files, err = listTemplates()[i].files(file, name)
		imports := func(f templateFile) bool { return bytes.Contains(f.Source, []byte(" tfexp_policy ")) }
		if slices.ContainsFunc(files, imports) {
			// to run tests without tfexp
			files = append(files, templateFile{Name: library.Policy.Name, Source: library.Policy.Source})
		}
		return files, nil, err
	case o.source() != nil:
		from := o.source()
		source, doubts, err := from.Do(from.Value, o.others, name, filepath.Dir(file))
		return []templateFile{{Name: file, Source: source}}, doubts, err
	case o.from != "":
		return o.fromFile(file, name)
	}
	return []templateFile{{Name: file, Source: starter(name)}}, nil, nil
}

// fromFile writes an experiment from a file of the user: a program, or the log of a cluster.
func (o *initOptions) fromFile(file, name string) (written []templateFile, doubts []string, err error) {
	shown := filearg.Seen(o.from, filepath.Dir(file))
	stem := strings.TrimSuffix(filepath.Base(o.from), ".hcl")
	switch exists := command.Exists(o.from); {
	case !exists && slices.Contains(templateNames(), stem):
		return nil, nil, command.Usagef("for the template:  tfexp init --template "+stem, "there is no file %s", o.from)
	case !exists:
		return nil, nil, command.Usagef("", "there is no file %s", o.from)
	case strings.HasSuffix(o.from, ".hcl"), strings.HasSuffix(o.from, ".hcl.json"):
		return nil, nil, command.Usagef("run it, or copy it and change the copy", "%s is an experiment already", o.from)
	}
	head, err := beginning(o.from)
	if err != nil {
		return nil, nil, command.Usagef("", "%s cannot be read: %v", o.from, err)
	}
	switch kind, other := kindOf(o.from, head, executable(o.from)), otherKind(head); {
	case other != "" && kind != Program:
		return nil, nil, command.Usagef("", "%s is not understood: %s", o.from, other)
	case kind == Log && o.template != "" && o.template != logReplay:
		return nil, nil, command.Usagef("leave out --template, or give it a program", "%s is the log of a cluster, "+
			"and the template %s is for programs",
			o.from, o.template)
	case kind == Log:
		return o.fromLog(file, name, shown, head)
	case kind == Program && o.template == logReplay:
		return nil, nil, command.Usagef("leave out --template, or give it a log", "%s is a program, and the "+
			"template log-replay is for logs", o.from)
	case kind == Unknown && len(bytes.TrimSpace(head)) == 0:
		return nil, nil, command.Usagef("", "%s is empty", o.from)
	case kind == Unknown && noJobs(o.from, head) != "":
		return nil, nil, command.Usagef("", "%s is not understood: %s", o.from, noJobs(o.from, head))
	case kind == Unknown:
		return nil, nil, command.Usagef("a log has a line with the names of its columns, for arrivals and run times "+
			"at least; a program begins with #!, "+
			"or has a name such as train.py", "%s is neither the log of a cluster nor a program", o.from)
	}
	return o.fromProgram(file, name, shown, head)
}

// fromLog writes an experiment that replays the log of a cluster.
func (o *initOptions) fromLog(file, name, shown string, head []byte) ([]templateFile, []string, error) {
	log, err := InspectLog(o.from, shown)
	if other := noJobs(o.from, head); err != nil && other != "" {
		return nil, nil, command.Usagef("", "%s is not understood: %s", o.from, other)
	}
	if err != nil {
		return nil, nil, command.Usagef(tableRemedy(head), "%s is not understood: %v", o.from, err)
	}
	source, err := log.Experiment(name)
	return []templateFile{{Name: file, Source: source}}, log.OpenQuestions(), err
}

// tableRemedy returns the advice for a log that cannot be read as a table. head is the beginning of the log.
func tableRemedy(head []byte) string {
	if text := bytes.TrimSpace(head); len(text) > 0 && (text[0] == '[' || text[0] == '{') {
		return "make a CSV file of it:  jq -r '(.[0] | keys_unsorted), (.[] | [.[]]) | @csv' FILE > jobs.csv"
	}
	return "name its columns submit, start, end (or run_time), cpus, gpus, limit, user, or name them in a trace " +
		"block; for an example:  " +
		"tfexp init example/replay --template log-replay"
}

// fromProgram writes an experiment that runs a program.
func (o *initOptions) fromProgram(file, name, shown string, raw []byte) ([]templateFile, []string, error) {
	if inUTF16(o.from) {
		return nil, nil, command.Usagef("save it in UTF-8", "%s is in UTF-16, in which it cannot be run", o.from)
	}
	p := InspectProgram(shown, raw)
	beside := func(name string) ([]byte, error) { return beginning(filepath.Join(filepath.Dir(o.from), name)) }
	p.Wrap(beside)
	config := HydraConfig(raw)
	if config != "" {
		if text, err := beside(config); err == nil {
			p.configured(text, raw)
		}
	}
	if o.template == "" {
		o.template = o.ask(p)
	}
	one := func(source []byte, err error, more ...string) ([]templateFile, []string, error) {
		return []templateFile{{Name: file, Source: source}}, append(p.OpenQuestions(), more...), err
	}
	switch o.template {
	case ownProgram:
		source, err := p.Experiment(name)
		return one(source, err)
	case threads:
		source, err := p.Threads(name, runtime.NumCPU())
		return one(source, err)
	}
	if config != "" && len(p.Settings) == 0 {
		text, err := beside(config)
		if err != nil {
			return nil, nil, command.Usagef("", "%s reads its settings by Hydra from %s, which cannot be read: %v",
				o.from, config, err)
		}
		p.Settings = SettingsOfYAML(text)
	}
	if len(p.Settings) == 0 {
		return nil, nil, command.Usagef("add some by argparse, click or Hydra, with a default or choices:  "+
			"parser.add_argument(\"--lr\", type=float, "+
			"default=0.1)  or write the setting blocks into  tfexp init --template tune",
			"%s has no options that a search could vary: numbers above 0, or choices", o.from)
	}
	if o.template == tuneSettings {
		source, err := p.Search(name, false)
		return one(source, err)
	}
	source, err := p.Search(name, true)
	return one(source, err, fmt.Sprintf("The loss that is good enough is not known: target is %v until you set it.",
		someLoss))
}

// ask asks the user what to compare, and returns the template. Without a terminal, policies are compared.
func (o *initOptions) ask(p TrainingProgram) string {
	if o.answers == nil || o.asJSON {
		return ownProgram
	}
	choices := []struct{ words, template string }{
		{"policies: in which order several trainings run", ownProgram},
		{"numbers of threads: how much faster it gets", threads},
	}
	if len(p.Settings) > 0 {
		names := schema.Each(p.Settings, func(s Setting) string { return s.Name })
		choices = append(choices, []struct{ words, template string }{
			{"settings: which of " + strings.Join(names, ", ") + " give the best result", tuneSettings},
			{"settings: with which of them a loss is reached soonest", timeToLoss},
		}...)
	}
	fmt.Fprintf(o.asked, "What is compared with %s?\n", p.File)
	for i, c := range choices {
		fmt.Fprintf(o.asked, "  %d  %s\n", i+1, c.words)
	}
	for {
		fmt.Fprintf(o.asked, "Number [1]: ")
		line, err := o.answers.ReadString('\n')
		n, wrong := strconv.Atoi(cmp.Or(strings.TrimSpace(line), "1"))
		switch {
		case wrong == nil && n >= 1 && n <= len(choices):
			return choices[n-1].template
		case err != nil:
			return ownProgram
		}
		fmt.Fprintf(o.asked, "%q is not a number from 1 to %d. ", strings.TrimSpace(line), len(choices))
	}
}

// beginning returns the first mostInspected bytes of a file, unpacked.
func beginning(path string) (head []byte, err error) {
	f, err := filearg.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if head, err = io.ReadAll(io.LimitReader(f, mostInspected)); err != nil || bytes.HasPrefix(head, []byte(elf)) {
		return head, err
	}
	if kind := binaryKind(head); kind != "" {
		return nil, fmt.Errorf("it is %s: save its table as a CSV file, and give that to --from", kind)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	_, err = datafile.ReadFile(language.Input{Path: path, Shown: path}, func(text io.Reader) (err error) {
		head, err = io.ReadAll(io.LimitReader(textfile.Unmarked(text), mostInspected))
		return err
	})
	return head, err
}

// inUTF16 reports whether a file begins with the mark of UTF-16.
func inUTF16(path string) bool {
	f, err := filearg.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var mark [2]byte
	_, err = io.ReadFull(f, mark[:])
	return err == nil && (mark == [2]byte{0xff, 0xfe} || mark == [2]byte{0xfe, 0xff})
}

// executable reports whether a file can be executed.
func executable(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0
}

// writeNew writes the experiment to its own path, and the other files next to it. It writes nothing if the experiment
// exists and force is not set, or if another file exists with other contents: that file may be the user's own.
func writeNew(files []templateFile, dir string, force bool) error {
	for i := 1; i < len(files); i++ {
		files[i].Name = filepath.Join(dir, files[i].Name)
	}
	for i, file := range files {
		switch _, err := os.Lstat(file.Name); {
		case err != nil:
		case i > 0 && !same(file):
			return command.Usagef("name another folder:  tfexp init FOLDER/NAME ...", "%s already exists, and is "+
				"not the template's file",
				file.Name)
		case i == 0 && !force:
			return command.Usagef("choose another name, or replace it with --force", "%s already exists", file.Name)
		}
	}
	if err := folder.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write experiment: %w", err)
	}
	for _, file := range files {
		err := filearg.Write(file.Name, func(w io.Writer) error { _, err := w.Write(file.Source); return err })
		if err != nil {
			return fmt.Errorf("write experiment: %w", err)
		}
	}
	return nil
}

// same reports whether a file exists with these contents.
func same(file templateFile) bool {
	f, err := filearg.Open(file.Name)
	if err != nil {
		return false
	}
	defer f.Close()
	old, err := io.ReadAll(io.LimitReader(f, int64(len(file.Source))+1))
	return err == nil && bytes.Equal(old, file.Source)
}

func templateNames() []string {
	return schema.Each(listTemplates(), func(t experimentTemplate) string { return t.Name })
}

// templateList lists the templates for the help of tfexp init.
func templateList() string {
	var b strings.Builder
	for _, t := range listTemplates() {
		fmt.Fprintf(&b, "  %-12s  %s\n", t.Name, t.Doc)
	}
	return b.String()
}
