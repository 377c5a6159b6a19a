package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/results/folder"
)

// failing makes operations on the files of a folder fail with the error that fails returns; nil means success.
func failing(t *testing.T, dir string, fails func(op string, n int64) error) {
	var n atomic.Int64
	folder.Fault = func(op, path string) error {
		if !strings.Contains(path, dir) {
			return nil
		}
		return fails(op, n.Add(1))
	}
	t.Cleanup(func() { folder.Fault = nil })
}

// If a quota is used up at any operation, the error says what to do, and a later run gives the same tables.
func TestQuota(t *testing.T) {
	if testing.Short() {
		t.Skip("many runs")
	}
	whole := inSandbox(t, hostileFile)
	whole.run()
	want, err := os.ReadFile(whole.result("metrics.csv"))
	if err != nil {
		t.Fatal(err)
	}
	runs, said := 0, 0
	for at := int64(1); ; at += int64(need.Cases(61, 7)) {
		s := inSandbox(t, hostileFile)
		used := false
		failing(t, s.out, func(op string, n int64) error {
			if n >= at && (op == "write" || op == "open" || op == "mkdir" || op == "sync") {
				used = true
				return syscall.EDQUOT
			}
			return nil
		})
		code, _, stderr := inProcess("run", "--quiet", "--out", s.out, s.file)
		folder.Fault = nil
		if !used {
			break
		}
		if runs++; strings.Contains(stderr, "quota") {
			said++
		}
		if code != command.ExitOK && !strings.Contains(stderr, "quota") || strings.Contains(stderr, "panic") {
			t.Errorf("from operation %d on: exit %d, %s", at, code, stderr)
		}
		if code, _, stderr := inProcess("run", "--quiet", "--out", s.out, s.file); code != command.ExitOK {
			t.Errorf("after operation %d: exit %d, %s", at, code, stderr)
		}
		if got, err := os.ReadFile(s.result("metrics.csv")); err != nil || string(got) != string(want) {
			t.Errorf("after operation %d: %v, %s", at, err, got)
		}
	}
	if runs < 3 || said == 0 {
		t.Errorf("%d runs, of which %d say it", runs, said)
	}
	t.Logf("%d runs, %d of them ended by the quota", runs, said)
}

// If files cannot be locked, no cell runs, and the error says what to do.
func TestNoLocks(t *testing.T) {
	s := inSandbox(t, hostileFile)
	for _, errno := range []error{syscall.ENOLCK, syscall.ENOTSUP} {
		failing(t, s.out, func(op string, _ int64) error {
			if op == "lock" || op == "look" {
				return errno
			}
			return nil
		})
		code, _, stderr := inProcess("run", "--quiet", "--out", s.out, s.file)
		if code != command.ExitInternal || !strings.Contains(stderr, "cannot lock files") {
			t.Errorf("%v: exit %d, %s", errno, code, stderr)
		}
		if cells, _ := filepath.Glob(filepath.Join(s.out, "e", "cells", "*")); len(cells) > 0 {
			t.Errorf("%v: cells were run: %q", errno, cells)
		}
		for _, args := range [][]string{{"status", s.out}, {"report", s.out}, {"resume", "--quiet", s.out}} {
			if code, _, stderr := inProcess(args...); strings.Contains(stderr, "panic") || code == command.ExitOK && args[0] == "resume" {
				t.Errorf("%v: %q: exit %d, %s", errno, args, code, stderr)
			}
		}
		folder.Fault = nil
	}
	s.run()
}
