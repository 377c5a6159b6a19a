package experiments_test

import (
	"testing"

	"github.com/tfexp/tfexp/experiments/decode/decodetest"
)

// TestDoubtful holds the warnings about files that load.
func TestDoubtful(t *testing.T) { decodetest.Corpus{Update: *update}.Doubtful(t) }
