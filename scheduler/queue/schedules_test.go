//go:build mutate

package queue_test

import (
	"testing"

	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
)

// TestSchedules checks that all policies produce the recorded schedules.
func TestSchedules(t *testing.T) {
	schedulertest.Golden(t, "../testdata/golden.txt", true, false)
}
