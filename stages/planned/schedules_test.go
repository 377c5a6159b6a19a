//go:build mutate

package planned_test

import (
	"testing"

	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	_ "github.com/tfexp/tfexp/stages/published" // the orders
)

// TestSchedules checks that all policies make the recorded schedules.
func TestSchedules(t *testing.T) {
	schedulertest.Golden(t, "../../scheduler/testdata/golden.txt", true, false)
}
