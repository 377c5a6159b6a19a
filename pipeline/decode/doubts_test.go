package decode_test

import (
	"testing"

	"github.com/tfexp/tfexp/pipeline/decodetest"
)

// TestDoubtful holds the warnings about files that load.
func TestDoubtful(t *testing.T) { decodetest.Corpus{Update: *update}.Doubtful(t) }
