//go:build !linux

package hardware

import "runtime"

// bindThread keeps the calling goroutine on one thread, until the returned function is called.
func bindThread(int) (release func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
