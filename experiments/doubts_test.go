package experiments_test

import (
	"testing"

	"github.com/tfexp/tfexp/experiments/load/loadtest"
)

// TestDoubtful holds the warnings about files that load.
func TestDoubtful(t *testing.T) { loadtest.Corpus{Update: *update}.Doubtful(t) }
