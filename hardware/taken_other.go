//go:build !linux

package hardware

import "math"

// treeSeconds is not known here.
func treeSeconds() (used, own float64) { return math.NaN(), math.NaN() }
