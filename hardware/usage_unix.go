//go:build unix

package hardware

import (
	"math"
	"sync/atomic"
	"syscall"
	"time"
)

// adopted is the CPU time, in nanoseconds, of this process's programs for which another process has waited.
var adopted atomic.Int64

// CountAsOwn adds CPU time of a program to this process's own. It is for programs of this process for which another
// process has waited.
func CountAsOwn(u syscall.Rusage) { adopted.Add(u.Utime.Nano() + u.Stime.Nano()) }

// ownSeconds returns the CPU seconds of this process, of its children that have ended, and of CountAsOwn; NaN if
// unknown.
func ownSeconds() (own float64) {
	own = time.Duration(adopted.Load()).Seconds()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			return math.NaN()
		}
		own += time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
	}
	return own
}
