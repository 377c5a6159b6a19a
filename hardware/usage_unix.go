//go:build unix

package hardware

import (
	"math"
	"sync/atomic"
	"syscall"
	"time"
)

// adopted are the CPU nanoseconds of programs of this process that another process has waited for.
var adopted atomic.Int64

// CountAsOwn counts the usage of a program as this process's own. The program belongs to this process, but another
// process has waited for it.
func CountAsOwn(u syscall.Rusage) { adopted.Add(u.Utime.Nano() + u.Stime.Nano()) }

// ownSeconds returns the CPU seconds of this process, of the children that it has waited for, and of CountAsOwn; NaN
// where they are unknown.
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
