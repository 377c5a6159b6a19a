package main

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/tfexp/tfexp/results/folder"
)

// envFull has tfexp, in this program, find the disk full from an operation on results on.
const envFull = "TFEXP_TEST_FULL"

// fillDisk is called in a program that may be a tfexp whose disk is full.
func fillDisk() {
	from, err := strconv.Atoi(os.Getenv(envFull))
	if err != nil {
		return
	}
	var n atomic.Int64
	folder.Fault = func(op, path string) error {
		if !strings.Contains(path, "/results/") || !slices.Contains([]string{"write", "mkdir", "sync", "commit"}, op) {
			return nil
		}
		if n.Add(1) < int64(from) {
			return nil
		}
		return syscall.ENOSPC
	}
}
