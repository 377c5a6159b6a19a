package scheduler_test

import (
	"flag"
	"testing"

	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
)

var updateGolden = flag.Bool("update", false, "rewrite the golden files")

// TestGolden guards the decisions of every policy; see schedulertest.Golden. Where a change is intended, run the test
// with -update, and say in the commit which combinations change, and why.
func TestGolden(t *testing.T) {
	schedulertest.Golden(t, "testdata/golden.txt", !need.Long(), *updateGolden)
}
