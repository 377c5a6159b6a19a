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

// Journal is journal.jsonl: one line for each step of a run, appended and never
// rewritten.
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
	// Seconds is how long it took; Key the hash of a finished output.
	Seconds float64 `json:"seconds,omitempty"`
	Key     string  `json:"key,omitempty"`
}

// OpenJournal opens the journal for appending. A last line that a killed run
// left half written is cut off, so that every line parses.
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
	// Through a link the journal would be written elsewhere, and opening a pipe would block.
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

// mostLine is how long a line of a journal may be, in bytes.
const mostLine = 1 << 20

// cutLastLine cuts off a last line that has no end, and leaves the file at its end.
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

// Close closes the file.
func (j *Journal) Close() error { return j.f.Close() }

// InUseError is returned when another process works in the results folder.
type InUseError struct {
	Dir    string
	Holder string // "process 4711 (tfexp run …, since 12:03:04)"
}

func (e *InUseError) Error() string { return fmt.Sprintf("%s is in use by %s", e.Dir, e.Holder) }

// holder describes the process that holds a lock, as the lock file names it. The
// content of the file is for people; the lock on the file keeps others out, and
// the system drops it when its holder dies.
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

// Lock is the exclusive right to write in an experiment's folder.
type Lock struct{ f *folder.File }

// A process that checks whether a folder is in use holds its lock for some microseconds. A lock that is still held
// after this many tries, with this time between them, belongs to a run.
const (
	looks    = 5
	lookTime = 10 * time.Millisecond
)

// LockFolder takes the lock of dir, or returns *InUseError soon.
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
	// Written in place: a rename would replace the file that is locked.
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

// Holder names the process that works in an experiment's folder, if one does.
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
