//go:build unix

package hardware

import (
	"math"
	"syscall"
	"time"
)

// ownSeconds returns the CPU seconds of this process and of the children that it has
// waited for, NaN where they are not told.
func ownSeconds() (own float64) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			return math.NaN()
		}
		own += time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
	}
	return own
}
