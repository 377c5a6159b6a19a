package main

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// bindThread keeps the calling goroutine on a thread that runs on one CPU, until the returned function is called.
func bindThread(cpu int) (release func()) {
	runtime.LockOSThread()
	var before, one unix.CPUSet
	one.Set(cpu)
	if unix.SchedGetaffinity(0, &before) != nil || unix.SchedSetaffinity(0, &one) != nil {
		return runtime.UnlockOSThread
	}
	return func() {
		// A thread that stays bound is not given back: it ends with its goroutine.
		if unix.SchedSetaffinity(0, &before) == nil {
			runtime.UnlockOSThread()
		}
	}
}
