//go:build !unix

package hardware

import "math"

// ownSeconds returns NaN, because this system does not report the CPU time of children.
func ownSeconds() float64 { return math.NaN() }
