//go:build mutate

package plan_test

import (
	"testing"

	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
)

// TestSchedules: all policies produce the same schedules as before.
func TestSchedules(t *testing.T) {
	schedulertest.Golden(t, "../testdata/golden.txt", true, false)
}
