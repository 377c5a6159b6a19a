package main

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// bindThread binds the calling goroutine to a thread on one CPU, until release is called.
func bindThread(cpu int) (release func()) {
	runtime.LockOSThread()
	var before, one unix.CPUSet
	one.Set(cpu)
	if unix.SchedGetaffinity(0, &before) != nil || unix.SchedSetaffinity(0, &one) != nil {
		return runtime.UnlockOSThread
	}
	return func() {
		// If the CPUs cannot be restored, the thread stays locked, and ends together with its goroutine.
		if unix.SchedSetaffinity(0, &before) == nil {
			runtime.UnlockOSThread()
		}
	}
}
