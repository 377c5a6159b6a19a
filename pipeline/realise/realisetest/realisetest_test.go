package realisetest_test

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/tfexp/tfexp/pipeline/realise/realisetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestExperiments holds what experiments come to.
func TestExperiments(t *testing.T) { realisetest.Test(t, filepath.FromSlash("../../.."), *update) }
