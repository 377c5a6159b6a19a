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

// DamagedLine is the event of the entry that replaces an unreadable line.
const DamagedLine = "damaged"

// ReadJournal returns the entries of an experiment's journal. An unreadable line becomes an entry with the event
// DamagedLine, because no result depends on the journal. An incomplete last line is skipped: a run is writing it.
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
		case bytes.HasSuffix(line, []byte("\n")): // a line without an end is being written
			e = store.JournalEntry{Event: DamagedLine, Text: fmt.Sprintf("line %d of %s cannot be read", n, record.JournalFile)}
			if len(out) > 0 {
				e.Time = out[len(out)-1].Time
			}
			out = append(out, e)
		}
	}
	return out, nil
}
