package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/pipeline/decodetest"
)

// A sandbox is a folder with one experiment and its results.
type sandbox struct {
	*testing.T
	dir  string // the folder
	file string // of the experiment
	out  string // of the results
}

// inSandbox makes a folder with an experiment.
func inSandbox(t *testing.T, experiment string) *sandbox {
	t.Helper()
	dir := t.TempDir()
	s := &sandbox{T: t, dir: dir, file: filepath.Join(dir, "e.hcl"), out: filepath.Join(dir, "results")}
	s.write("e.hcl", experiment)
	return s
}

// write writes a file in the folder.
func (s *sandbox) write(name, text string) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
		s.Fatal(err)
	}
}

// change replaces a text in the experiment.
func (s *sandbox) change(experiment, from, to string) {
	s.Helper()
	s.write("e.hcl", strings.Replace(experiment, from, to, 1))
}

// plans fails the test if the plan of the experiment does not contain the texts.
func (s *sandbox) plans(texts ...string) {
	s.Helper()
	contains(s.T, "the plan", outputOf(s.T, "plan", "--out", s.out, s.file), texts...)
}

// run runs the experiment, and returns the output.
func (s *sandbox) run() string {
	s.Helper()
	return outputOf(s.T, "run", "--out", s.out, s.file)
}

// diagnostics returns the diagnostics of the experiment.
func (s *sandbox) diagnostics() experiments.Diagnostics {
	_, diags := decode.File(s.file, decode.Options{})
	return diags
}

// result returns the path of a file of the only experiment in the results.
func (s *sandbox) result(name string) string {
	s.Helper()
	found, err := filepath.Glob(filepath.Join(s.out, "*", name))
	if err != nil || len(found) != 1 {
		s.Fatalf("%s: %q, %v", name, found, err)
	}
	return found[0]
}

// table returns the rows of a table of the results.
func (s *sandbox) table(name string) []map[string]string {
	s.Helper()
	return readTable(s.T, s.result(name))
}

// holds fails the test if a file of the results does not contain the texts.
func (s *sandbox) holds(name string, texts ...string) {
	s.Helper()
	raw, err := os.ReadFile(s.result(name))
	if err != nil {
		s.Fatal(err)
	}
	contains(s.T, name, string(raw), texts...)
}

// documented fails the test if the reference of the language does not contain the texts.
func documented(t *testing.T, texts ...string) {
	t.Helper()
	reference := string(decodetest.LanguageReference())
	for _, want := range texts {
		if !strings.Contains(reference, want) {
			t.Errorf("the reference of the language does not have %q", want)
		}
	}
}

// inHelp fails the test if the output of help language NAME does not contain the texts.
func inHelp(t *testing.T, name string, texts ...string) {
	t.Helper()
	contains(t, "help language "+name, outputOf(t, "help", "language", name), texts...)
}

func contains(t *testing.T, what, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			if len(text) > 10_000 {
				text = "(long)"
			}
			t.Errorf("%s does not have %q:\n%s", what, want, text)
		}
	}
}

// inProcess runs the command in this process.
func inProcess(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	a := newApp(&out, &errs)
	code = a.Exit(a.execute(args))
	return code, out.String(), errs.String()
}

// outputOf runs the command in this process and returns its standard output.
func outputOf(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := inProcess(args...)
	if code != command.ExitOK {
		t.Fatalf("tfexp %s: exit status %d\n%s", strings.Join(args, " "), code, errs)
	}
	return out
}
