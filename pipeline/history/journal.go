package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
)

// DamagedLine is the event of a line of the journal that cannot be read.
const DamagedLine = "damaged"

// ReadJournal returns the entries of an experiment's journal; a line that is
// being written is left out. The journal is for people, and no result depends on it: a line that cannot be read is an
// entry that says so.
func ReadJournal(dir string) ([]store.JournalEntry, error) {
	raw, err := folder.ReadFile(dir, record.JournalFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	var out []store.JournalEntry
	n := 0
	for line := range bytes.Lines(raw) {
		n++
		var e store.JournalEntry
		switch err := json.Unmarshal(line, &e); {
		case len(bytes.TrimSpace(line)) == 0:
		case err == nil:
			out = append(out, e)
		case bytes.HasSuffix(line, []byte("\n")): // otherwise it is being written
			e = store.JournalEntry{Event: DamagedLine, Text: fmt.Sprintf("line %d of %s cannot be read", n, record.JournalFile)}
			if len(out) > 0 {
				e.Time = out[len(out)-1].Time
			}
			out = append(out, e)
		}
	}
	return out, nil
}
