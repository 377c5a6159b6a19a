package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/tfexp/tfexp/results/resultstest"
)

// TestNoControlCharacters checks that text from logs, results and arguments cannot move the cursor or reverse text,
// unless a raw log is requested.
func TestNoControlCharacters(t *testing.T) {
	cfg := resultstest.Small()
	cfg.FailJob = 1
	dir := cfg.Write(t)
	logs, err := filepath.Glob(filepath.Join(dir, "cells", "*", "logs", "long-2.log"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("there are no logs: %v", err)
	}
	const evil = "a\x1b[2Jb\rc\x00\u202ed\n"
	for _, log := range logs {
		if err := os.WriteFile(log, []byte(evil), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cell := filepath.Base(filepath.Dir(filepath.Dir(logs[0])))
	if _, out, _ := inProcess("logs", dir, cell, "long-2"); out != `a\x1b[2Jb\rc\x00\u202ed`+"\n" {
		t.Errorf("the log is printed as %q", out)
	}
	if _, out, _ := inProcess("logs", "--raw", dir, cell, "long-2"); out != evil {
		t.Errorf("the raw log is printed as %q", out)
	}
	s := inSandbox(t, `experiment "x" {`)
	s.write("bad\x1b[2J.hcl", "experiment \"x\" {\n  seed = \"\x1b[2J\u202e\"\n}\n")
	control := regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u202e]")
	for _, args := range [][]string{
		{"status", dir + "\x1b[2J"},
		{"logs", dir, "no\x1b[2Jcell"},
		{"validate", filepath.Join(s.dir, "bad\x1b[2J.hcl")},
		{"run", s.file, "-var", "x\x1b[2J=\r\u202e"},
		{"no\x1b[2J"},
	} {
		code, out, errs := inProcess(args...)
		if code == 0 || control.MatchString(out+errs) {
			t.Errorf("tfexp %q: status %d, prints %q %q", args, code, out, errs)
		}
	}
}
