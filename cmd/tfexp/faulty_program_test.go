package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tfexp/tfexp/results/folder"
)

// envFault is an environment variable that makes this program, as tfexp, count or fail changes of results. "count 0
// FILE" writes the number of changes to FILE. "full N FILE" reports a full disk from change N on. "halt N FILE" stops
// at change N and at each later change, until FILE is removed.
const envFault = "TFEXP_TEST_FAULT"

// fault is a value of envFault.
type fault struct {
	do   string
	from int
	file string
}

func (f fault) String() string { return fmt.Sprintf("%s=%s %d %s", envFault, f.do, f.from, f.file) }

// installFault installs the fault of envFault, if the variable is set.
func installFault() {
	if len(os.Args) < 2 || os.Args[1] != "run" { // jobs inherit the variable, but have no faults
		return
	}
	var f fault
	if _, err := fmt.Sscanf(os.Getenv(envFault), "%s %d %s", &f.do, &f.from, &f.file); err != nil {
		return
	}
	var mu sync.Mutex
	n := 0
	changes := []string{"write", "mkdir", "sync", "commit", "rename", "remove"}
	folder.Fault = func(op, path string) error {
		if !strings.Contains(filepath.ToSlash(path), "/results/") || !slices.Contains(changes, op) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		n++
		switch {
		case f.do == "count":
			if err := os.WriteFile(f.file, strconv.AppendInt(nil, int64(n), 10), 0o600); err != nil {
				panic(err)
			}
		case n < f.from:
		case f.do == "full":
			return syscall.ENOSPC
		case f.do == "halt":
			f.halt()
		}
		return nil
	}
}

// halt waits until the file is removed. It does not wait if FILE.go exists.
func (f fault) halt() {
	if _, err := os.Stat(f.file + ".go"); err == nil {
		return
	}
	if err := os.WriteFile(f.file, nil, 0o600); err != nil {
		panic(err)
	}
	for {
		if _, err := os.Stat(f.file); err != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// awaitHalt waits until a program with the fault has halted. It returns false if the program ends first.
func (f fault) awaitHalt(ended <-chan struct{}) bool {
	for {
		if _, err := os.Stat(f.file); err == nil {
			return true
		}
		select {
		case <-ended:
			return false
		case <-time.After(time.Millisecond):
		}
	}
}

// release lets a halted program continue to its next change. With last, the program continues to its end.
func (f fault) release(t *testing.T, last bool) {
	t.Helper()
	if last {
		if err := os.WriteFile(f.file+".go", nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(f.file); err != nil {
		t.Fatal(err)
	}
}
