package sampling_test

import (
	"path/filepath"
	"testing"

	"github.com/tfexp/tfexp/pipeline/realise/realisetest"
)

// TestExperiments holds what experiments come to.
func TestExperiments(t *testing.T) { realisetest.Test(t, filepath.FromSlash("../../.."), false) }
