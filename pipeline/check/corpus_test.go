//go:build mutate

package check_test

import (
	"testing"

	"github.com/tfexp/tfexp/pipeline/decodetest"
	_ "github.com/tfexp/tfexp/stages/all"
)

// TestExperiments loads files of users, right and wrong.
func TestExperiments(t *testing.T) { decodetest.Test(t, "../decode") }
