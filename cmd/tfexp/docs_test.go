package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/execute"
)

// TestDocumentedCommands runs every line that begins with "$ " of the README, the tutorial and the how-tos, in order.
// Each document has its own folder. Programs and numbers of jobs that the commands write are reduced first.
func TestDocumentedCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real jobs")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("the tutorial needs python3")
	}
	t.Parallel()
	bin := filepath.Dir(program(t))
	for _, name := range []string{"README.md", "docs/tutorial.md", "docs/howto.md"} {
		raw, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		dir, n := t.TempDir(), 0
		switch name { // these are files that a reader has
		case "README.md":
			copyFile(t, filepath.Join("..", "..", "experiments", "fcfs_vs_rr.hcl"), filepath.Join(dir, "experiments"))
		case "docs/howto.md":
			write(t, filepath.Join(dir, "jobs.csv"), "submitted;duration;cpus\n2024-03-04 08:00:00;3600;8\n"+
				"2024-03-04 08:10:00;3600;8\n2024-03-04 08:20:00;60;2\n")
			write(t, filepath.Join(dir, "train.py"), "import os\nprint(os.environ['TFEXP_EPOCHS'])\n")
		}
		shrink(t, dir)
		for line := range bytes.Lines(raw) {
			command, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "$ ")
			if !ok {
				continue
			}
			n++
			cmd := exec.Command("sh", "-c", command)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), noRaceSleep, execute.KeepDisturbed+"=1",
				"PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
			began := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %s: %v\n%s", name, command, err, out)
			}
			t.Logf("%s: %s: %s", name, command, time.Since(began).Round(time.Millisecond))
			shrink(t, dir)
		}
		if n == 0 {
			t.Errorf("%s has no commands", name)
		}
		if name == "docs/howto.md" {
			lessonFigures(t, dir, string(raw))
		}
	}
}

// program returns the path of a program named tfexp. It is this test program, which runs as tfexp under that name: see
// TestMain.
func program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tfexp")
	if os.Link(self, path) == nil {
		return path
	}
	raw, err := os.ReadFile(self) // a link to another file system is not possible
	if err == nil {
		err = os.WriteFile(path, raw, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// shrink changes files that documents write, so that their runs are short.
func shrink(t *testing.T, dir string) {
	t.Helper()
	for name, changes := range map[string][]string{
		"study.hcl": {"replicates  = 3", "replicates  = 1", "count = 2", "count = 1", "count        = 4", "count        = 1",
			"epochs  = 40", "epochs  = 5", "epochs  = 8", "epochs  = 4"},
		"sweep.hcl": {"replicates  = 10", "replicates  = 1", "count        = 150", "count        = 20", "plot \"gantt\" {}\n",
			""},
		"experiments/fcfs_vs_rr.hcl": {"replicates  = 12", "replicates  = 3", "count = 2", "count = 1",
			"count        = 6", "count        = 1", "epochs  = 50", "epochs  = 4", "passes = 15", "passes = 1",
			"[256, 128]", "[16]"},
		"mine.hcl": {"20 : 5", "2 : 2"}, "shortest.hcl": {"20 : 5", "2 : 2"},
		"search.hcl": {"trials    = 12", "trials    = 4", "epochs  = 6", "epochs  = 3"},
		"train.py":   {"range(20_000)", "range(20)"},
	} {
		path := filepath.Join(dir, name)
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // the commands have not written this file yet
		}
		write(t, path, strings.NewReplacer(changes...).Replace(string(raw)))
	}
}

// lessonFigures checks that the how-to page on round robin has the waiting times that the runs give.
func lessonFigures(t *testing.T, dir, page string) {
	t.Helper()
	_, rows, found := strings.Cut(page, "| A needs | FCFS | SRTF | 1 s | 2 s | 4 s |\n|---|---|---|---|---|---|\n")
	if !found {
		t.Fatal("docs/howto.md has no table of the lesson's waiting times")
	}
	for i, out := range []string{"results", "longer"} {
		e, err := record.Open(filepath.Join(dir, out, "lesson"))
		if err != nil {
			t.Fatal(err)
		}
		mean := map[string]float64{}
		for _, c := range e.Cells {
			mean[c.Variant()] = measure.MeanWaiting.Of(&c.Metrics)
		}
		want := fmt.Sprintf("| %d s |", []int{6, 20}[i])
		for _, v := range []string{"fcfs", "srtf", "rr quantum=1s", "rr quantum=2s", "rr quantum=4s"} {
			want += fmt.Sprintf(" %g |", mean[v])
		}
		row, rest, _ := strings.Cut(rows, "\n")
		if rows = rest; row != want {
			t.Errorf("docs/howto.md says\n%s\nand the run\n%s", row, want)
		}
	}
}

var (
	// Patterns of commands: within sentences, in indented lines or comments of experiments, and in shell code blocks.
	inSentence  = regexp.MustCompile("`tfexp ([^`]+)`")
	inLine      = regexp.MustCompile(`(?m)^(?:    |#   |  )(?:\$ )?tfexp ([a-z][^\n]*)`)
	shellBlock  = regexp.MustCompile("(?s)```sh\n(.*?)```")
	atLineStart = regexp.MustCompile(`(?m)^tfexp ([^\n]*)`)
	// The end of the command within a line.
	commandEnd  = regexp.MustCompile(`\s(#|\||&&|>|\()|[;)]|\s{3,}`)
	shellQuoted = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	makeCommand = regexp.MustCompile("(?m)(?:`|^    )(?:sudo )?make ([a-z][a-z-]*)")
	makeTarget  = regexp.MustCompile(`(?m)^([a-z][a-z-]*):`)
	// A command that runs tests or benchmarks: its arguments, up to a comment or the end of the quotation.
	goTest = regexp.MustCompile("go\\s+test ([^`#)]+?)(?:\\s{3,}|[`#)]|\\n\\n|\\n    )")
	goName = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)[A-Z]\w*)\(`)
)

// mostReadme is the largest number of words in the README.
const mostReadme = 600

// TestWrittenCommands checks each command in documents, experiments and help texts: the command, its flags and the
// experiment file must exist.
func TestWrittenCommands(t *testing.T) {
	root := filepath.Join("..", "..")
	var files []string
	for _, pattern := range []string{"*.md", "docs/*.md", "jobs/*.md", "experiments/*.hcl", "experiments/*/*.hcl",
		"experiments/*/*/*.hcl", "experiments/*/*/*.md", "cmd/tfexp/editor/*/*.md", "cmd/tfexp/help/*.txt",
		"cmd/tfexp/*/help/*.txt", "stages/*/*/help/*.txt"} {
		named, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(named) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(named), err)
		}
		files = append(files, named...)
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for _, m := range makeTarget.FindAllStringSubmatch(string(makefile), -1) {
		targets[m[1]] = true
	}
	n, tests := 0, 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		if words := len(strings.Fields(text)); file == filepath.Join(root, "README.md") && words > mostReadme {
			t.Errorf("README.md has %d words, want at most %d", words, mostReadme)
		}
		commands := slices.Concat(inSentence.FindAllStringSubmatch(text, -1), inLine.FindAllStringSubmatch(text, -1))
		for _, block := range shellBlock.FindAllStringSubmatch(text, -1) {
			commands = append(commands, atLineStart.FindAllStringSubmatch(block[1], -1)...)
		}
		for _, c := range goTest.FindAllStringSubmatch(text, -1) {
			tests++
			if err := namedTests(root, strings.Fields(c[1])); err != nil {
				t.Errorf("%s: go test %s: %v", file, c[1], err)
			}
		}
		for _, c := range makeCommand.FindAllStringSubmatch(text, -1) {
			if !targets[c[1]] {
				t.Errorf("%s: the Makefile has no target %s", file, c[1])
			}
		}
		for _, c := range commands {
			n++
			if err := written(root, c[1]); err != nil {
				t.Errorf("%s: tfexp %s: %v", file, c[1], err)
			}
		}
	}
	if n < 150 || tests < 12 {
		t.Errorf("only %d commands of tfexp and %d of tests were found", n, tests)
	}
}

// namedTests returns an error if the packages of go test's arguments have no test or benchmark of the named pattern.
func namedTests(root string, args []string) error {
	var patterns []*regexp.Regexp
	var names []string
	for i, arg := range args {
		if value := strings.Trim(arg, "'"); i > 0 && (args[i-1] == "-run" || args[i-1] == "-bench") && value != "^$" {
			pattern, err := regexp.Compile(value)
			if err != nil {
				return err
			}
			patterns = append(patterns, pattern)
		}
		if !strings.HasPrefix(arg, "./") || strings.HasSuffix(arg, "...") {
			continue
		}
		files, err := filepath.Glob(filepath.Join(root, arg, "*_test.go"))
		if err != nil || len(files) == 0 {
			return fmt.Errorf("%s has no tests", arg)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for _, m := range goName.FindAllStringSubmatch(string(source), -1) {
				names = append(names, m[1])
			}
		}
	}
	for _, p := range patterns {
		for _, one := range strings.Split(p.String(), "|") {
			if !slices.ContainsFunc(names, regexp.MustCompile(one).MatchString) {
				return fmt.Errorf("there is no test %s", one)
			}
		}
	}
	return nil
}

// written returns an error if a command in a text is invalid.
func written(root, text string) error {
	text = shellQuoted.ReplaceAllString(strings.ReplaceAll(text, "\n", " "), "quoted")
	if end := commandEnd.FindStringIndex(text); end != nil {
		text = text[:end[0]]
	}
	args := strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(text))
	args = slices.DeleteFunc(command.LongForms(args), func(arg string) bool { return strings.Trim(arg, "….,") == "" })
	for _, arg := range args {
		if name := filepath.Join(root, arg); strings.HasPrefix(arg, "experiments/") {
			if _, err := os.Stat(name); err != nil {
				return err
			}
		}
	}
	if root := newApp(io.Discard, io.Discard).command(); len(args) > 1 && args[0] == "help" {
		if about, _, err := root.Find(args[:2]); err != nil || about.Name() == "help" {
			args = append(args[1:], "--help")
		}
	}
	if len(args) == 0 || args[0] == strings.ToUpper(args[0]) && !strings.HasPrefix(args[0], "-") {
		return nil // "tfexp help COMMAND"
	}
	cmd, rest, err := newApp(io.Discard, io.Discard).command().Find(args)
	if err != nil || !cmd.HasParent() && !strings.HasPrefix(args[0], "-") {
		return fmt.Errorf("no such command (%v)", err)
	}
	if err := cmd.ParseFlags(rest); err != nil && strings.Contains(err.Error(), "unknown") {
		return err
	}
	return nil
}

func copyFile(t *testing.T, from, dir string) {
	t.Helper()
	raw, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, filepath.Base(from)), string(raw))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
