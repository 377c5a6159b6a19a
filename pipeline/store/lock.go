package store

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
)

// InUseError is returned when another process works in the results folder.
type InUseError struct {
	Dir    string
	Holder string // "process 4711 (tfexp run …, since 12:03:04)"
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("%s is in use by %s", e.Dir, e.Holder)
}

// holder describes the process that holds a lock, as the lock file names it. The
// content of the file is for people; what keeps others out is the lock on it,
// which the system drops when its holder dies.
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
type Lock struct {
	f *flock.Flock
}

// Whoever looks whether a folder is in use holds its lock for some microseconds. A lock that is held
// longer, at so many tries with this time between them, is that of a run.
const (
	looks    = 5
	lookTime = 10 * time.Millisecond
)

// LockFolder takes the lock of dir, or returns *InUseError soon.
func LockFolder(dir string, command []string) (*Lock, error) {
	path := filepath.Join(dir, record.LockFile)
	f := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR))
	ok, err := f.TryLock()
	for try := 0; err == nil && !ok && try < looks; try++ {
		time.Sleep(lookTime)
		ok, err = f.TryLock()
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	if !ok {
		h, _ := readHolder(dir)
		return nil, &InUseError{Dir: dir, Holder: h.String()}
	}
	// Written in place: a rename would replace the file that is locked.
	raw, err := json.Marshal(holder{PID: os.Getpid(), Command: command, Since: time.Now().Round(time.Second)})
	if err == nil {
		err = os.WriteFile(path, append(raw, '\n'), 0o644)
	}
	if err != nil {
		f.Unlock()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return &Lock{f}, nil
}

// Release gives the lock back.
func (l *Lock) Release() {
	_ = os.Truncate(l.f.Path(), 0)
	_ = l.f.Unlock()
}

// Holder names the process that works in an experiment's folder, if one does.
func Holder(dir string) (string, bool) {
	path := filepath.Join(dir, record.LockFile)
	if info, err := folder.Stat(dir, record.LockFile); err != nil || info.IsDir() {
		return "", false
	}
	f := flock.New(path, flock.SetFlag(os.O_RDWR))
	if ok, err := f.TryRLock(); err != nil || ok {
		_ = f.Unlock()
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
