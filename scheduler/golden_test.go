package scheduler_test

import (
	"flag"
	"testing"

	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
)

var updateGolden = flag.Bool("update", false, "rewrite the golden files")

// TestGolden compares the decisions of every policy with recorded ones; see schedulertest.Golden. For an intended
// change, run the test with -update, and explain in the commit message which combinations change, and why.
func TestGolden(t *testing.T) {
	schedulertest.Golden(t, "testdata/golden.txt", !need.Long(), *updateGolden)
}
