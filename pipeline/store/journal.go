package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
)

// Journal is journal.jsonl: one line for each step of a run, appended and never
// rewritten.
type Journal struct {
	mu sync.Mutex // guards f
	f  *os.File
}

// JournalEntry is one line of journal.jsonl.
type JournalEntry struct {
	Time  time.Time `json:"time"`
	Event string    `json:"event"` // run_start, sample, cell_start, cell_end, cell_simulated, stage_end, warning, run_end
	Unit  string    `json:"unit,omitempty"`
	State string    `json:"state,omitempty"`
	Text  string    `json:"text,omitempty"`
	// Changes are the lines of the key because of which a cell ran again.
	Changes []Change `json:"changes,omitempty"`
	// Seconds is how long it took; Key the hash of a finished output.
	Seconds float64 `json:"seconds,omitempty"`
	Key     string  `json:"key,omitempty"`
}

// OpenJournal opens the journal for appending. A last line that a killed run
// left half written is cut off, so that every line parses.
func OpenJournal(dir string) (*Journal, error) {
	path := filepath.Join(dir, record.JournalFile)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	raw, err := io.ReadAll(f)
	if err == nil {
		keep := bytes.LastIndexByte(raw, '\n') + 1
		if keep < len(raw) {
			err = f.Truncate(int64(keep))
		}
		if err == nil {
			_, err = f.Seek(int64(keep), io.SeekStart)
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open journal: %w", err)
	}
	return &Journal{f: f}, nil
}

// Add appends one entry in a single write.
func (j *Journal) Add(e JournalEntry) error {
	e.Time = time.Now()
	raw, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.f.Write(append(raw, '\n')); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return nil
}

// Close closes the file.
func (j *Journal) Close() error { return j.f.Close() }

// ReadJournal returns the entries of an experiment's journal; a line that is
// being written is left out.
func ReadJournal(dir string) ([]JournalEntry, error) {
	raw, err := folder.ReadFile(dir, record.JournalFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	var out []JournalEntry
	for n, line := range bytes.Split(raw, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var e JournalEntry
		if err := json.Unmarshal(line, &e); err != nil {
			if n == bytes.Count(raw, []byte("\n")) { // the unfinished last line
				break
			}
			return out, fmt.Errorf("read journal: line %d: %w", n+1, err)
		}
		out = append(out, e)
	}
	return out, nil
}
