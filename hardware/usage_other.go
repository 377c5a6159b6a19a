//go:build !unix

package hardware

import "math"

// ownSeconds is unknown: this system does not report the children's usage.
func ownSeconds() float64 { return math.NaN() }
