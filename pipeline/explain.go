package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
)

// Explanation says of one cell why it last ran, how that ended, and all that
// its results depend on.
type Explanation struct {
	Cell string `json:"cell"`
	// State is finished, failed, interrupted, or "not run".
	State string `json:"state"`
	// Ran is when it last ran, Reason and Changes why.
	Ran     time.Time      `json:"ran,omitzero"`
	Reason  string         `json:"reason,omitempty"`
	Changes []store.Change `json:"changes,omitempty"`
	Seconds float64        `json:"seconds,omitempty"`
	// Key is the hash of Lines, the labelled values that it was run under.
	Key   string   `json:"key"`
	Lines []string `json:"depends_on"`
	Error string   `json:"error,omitempty"`
}

// Explain reads from an experiment's folder why a cell last ran.
func Explain(dir, cell string) (Explanation, error) {
	x := Explanation{Cell: cell, State: "not run"}
	raw, err := folder.ReadFile(dir, record.CellsDir, cell, store.KeyFile)
	switch {
	case err == nil:
		x.Lines = strings.Split(strings.TrimSpace(string(raw)), "\n")
		x.Key = store.HashOf(string(raw))
		x.State = "interrupted"
		if s, ok := store.State(filepath.Join(dir, record.CellsDir, cell)); ok {
			x.State = s
		}
	case !os.IsNotExist(err):
		return x, fmt.Errorf("explain %s: %w", cell, err)
	}
	entries, err := store.ReadJournal(dir)
	if err != nil {
		return x, fmt.Errorf("explain %s: %w", cell, err)
	}
	for _, e := range entries {
		switch {
		case e.Event == "cell_start" && e.Unit == cell:
			x.Ran, x.Reason, x.Changes, x.Error = e.Time, e.Text, e.Changes, ""
		case e.Event == "cell_end" && e.Unit == cell:
			x.Seconds, x.Error = e.Seconds, e.Text
		}
	}
	return x, nil
}
