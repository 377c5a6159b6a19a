//go:build mutate

package eval_test

import (
	"path/filepath"
	"testing"

	"github.com/tfexp/tfexp/pipeline/decodetest"
	_ "github.com/tfexp/tfexp/stages/all"
)

// TestExperiments loads files of users, right and wrong.
func TestExperiments(t *testing.T) {
	decodetest.Test(t, filepath.Join("..", "..", "pipeline", "decode"))
}
