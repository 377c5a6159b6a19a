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

// envFault has tfexp, in this program, count its changes of results ("count 0 FILE": in FILE), find the disk
// full from the N-th on ("full N FILE"), or halt there and at each later one ("halt N FILE": until FILE is gone).
const envFault = "TFEXP_TEST_FAULT"

// fault is a value of envFault.
type fault struct {
	do   string
	from int
	file string
}

func (f fault) String() string { return fmt.Sprintf("%s=%s %d %s", envFault, f.do, f.from, f.file) }

// installFault is called in a program that may be a tfexp with a fault.
func installFault() {
	if len(os.Args) < 2 || os.Args[1] != "run" { // jobs have the variable too
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

// halt waits until the file is gone, and does not if FILE.go is there.
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

// awaitHalt waits until a program with the fault has halted; it is false if the program has ended before.
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

// release lets a program that has halted go on, to its next change or, with last, to its end.
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
