package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
)

// Journal appends to journal.jsonl: one line for each step of a run. Lines are never changed.
type Journal struct {
	mu sync.Mutex // guards f
	f  *folder.File
}

// JournalEntry is one line of journal.jsonl.
type JournalEntry struct {
	Time  time.Time `json:"time"`
	Event string    `json:"event"` // run_start, sample, cell_start, cell_end, cell_simulated, stage_end, warning, run_end
	Unit  string    `json:"unit,omitempty"`
	State string    `json:"state,omitempty"`
	Text  string    `json:"text,omitempty"`
	// Changes are the changed lines of the key that made a cell run again.
	Changes []Change `json:"changes,omitempty"`
	// Seconds is how long the step took; Key is the hash of the finished output's key.
	Seconds float64 `json:"seconds,omitempty"`
	Key     string  `json:"key,omitempty"`
}

// OpenJournal opens the journal for appending. It removes an incomplete last line of a killed run, so that all lines
// can be parsed.
func OpenJournal(dir string) (*Journal, error) {
	f, err := openLines(dir)
	if errors.Is(err, errNoJournal) {
		if _, err = folder.SetAside(dir, record.JournalFile); err == nil {
			f, err = openLines(dir)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	return &Journal{f: f}, nil
}

var errNoJournal = errors.New("it is not a journal")

// openLines opens the journal at the end of its last whole line.
func openLines(dir string) (*folder.File, error) {
	path := filepath.Join(dir, record.JournalFile)
	// Neither a link, which may lead elsewhere, nor a pipe, which would block, is opened.
	if info, err := os.Lstat(path); err == nil && (!info.Mode().IsRegular() || info.Size() > folder.MostBytes) {
		return nil, errNoJournal
	}
	f, err := folder.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := cutLastLine(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// mostLine is the largest length of a line of a journal, in bytes.
const mostLine = 1 << 20

// cutLastLine removes an incomplete last line, and sets the offset to the end of the file.
func cutLastLine(f *folder.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	from := max(0, info.Size()-mostLine)
	tail, err := io.ReadAll(io.NewSectionReader(f, from, mostLine))
	if err != nil {
		return err
	}
	end := bytes.LastIndexByte(tail, '\n')
	if end < 0 && from > 0 {
		return errNoJournal
	}
	keep := from + int64(end) + 1
	if keep < info.Size() {
		if err := f.Truncate(keep); err != nil {
			return err
		}
	}
	_, err = f.Seek(keep, io.SeekStart)
	return err
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

// Close closes the journal's file.
func (j *Journal) Close() error { return j.f.Close() }

// InUseError is returned when another process works in the results folder.
type InUseError struct {
	Dir    string
	Holder string // "process 4711 (tfexp run …, since 12:03:04)"
}

func (e *InUseError) Error() string { return fmt.Sprintf("%s is in use by %s", e.Dir, e.Holder) }

// holder is the content of the lock file, which describes the process that holds the lock. It is only for messages:
// the lock itself is on the file, and the system releases it when the process ends.
type holder struct {
	PID     int       `json:"pid"`
	Command []string  `json:"command"`
	Since   time.Time `json:"since"`
}

func (h holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d (%s, since %s)", h.PID, strings.Join(h.Command, " "),
		h.Since.Local().Format("15:04:05"))
}

// Lock is the exclusive right to write to an experiment's folder.
type Lock struct{ f *folder.File }

// LockFolder tries this many times, with this time between tries. A process that only checks whether a folder is in
// use holds the lock for some microseconds; a lock that is held longer belongs to a run.
const (
	looks    = 5
	lookTime = 10 * time.Millisecond
)

// LockFolder takes the lock of dir, or returns an *InUseError after at most a few tries.
func LockFolder(dir string, command []string) (*Lock, error) {
	folder.Enclose(dir)
	path := filepath.Join(dir, record.LockFile)
	f, err := folder.TryLock(path, os.O_CREATE|os.O_RDWR, false)
	for try := 0; err == nil && f == nil && try < looks; try++ {
		time.Sleep(lookTime)
		f, err = folder.TryLock(path, os.O_CREATE|os.O_RDWR, false)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	if f == nil {
		h, _ := readHolder(dir)
		return nil, &InUseError{Dir: dir, Holder: h.String()}
	}
	// The content is written in place: a rename would replace the locked file.
	raw, err := json.Marshal(holder{PID: os.Getpid(), Command: command, Since: time.Now().Round(time.Second)})
	if err == nil {
		err = f.Replace(append(raw, '\n'))
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, errors.Join(err, f.Close()))
	}
	return &Lock{f}, nil
}

// Release releases the lock.
func (l *Lock) Release() { _ = errors.Join(l.f.Truncate(0), l.f.Close()) }

// Holder describes the process that works in an experiment's folder, and reports whether there is one.
func Holder(dir string) (string, bool) {
	folder.Enclose(dir)
	f, err := folder.TryLock(filepath.Join(dir, record.LockFile), os.O_RDWR, true)
	if err != nil || f != nil {
		if f != nil {
			f.Close()
		}
		return "", false
	}
	h, _ := readHolder(dir)
	return h.String(), true
}

func readHolder(dir string) (holder, error) {
	var h holder
	raw, err := folder.ReadFile(dir, record.LockFile)
	if err != nil {
		return h, err
	}
	return h, json.Unmarshal(raw, &h)
}
