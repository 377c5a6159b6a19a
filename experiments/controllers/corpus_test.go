package controllers_test

import (
	"testing"

	"github.com/tfexp/tfexp/experiments/load/loadtest"
)

// TestExperiments loads files of users, right and wrong.
func TestExperiments(t *testing.T) { loadtest.Test(t) }
