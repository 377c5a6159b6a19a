package watch

import (
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/resultstest"
)

// TestHeadlineNote: while a policy has fewer cells than another, a note says why a change is not that of the means.
func TestHeadlineNote(t *testing.T) {
	cfg := resultstest.Small()
	cfg.Missing = 2
	h := readHeadline(cfg.Write(t))
	const want = "A mean is over all cells of its row; a change is over the replicates of both sides in which the same jobs finished."
	if !strings.HasPrefix(h.Sentence, "So far, with 8 of 10 cells: ") || !strings.Contains(h.Note, want) {
		t.Errorf("%+v", h)
	}
}
