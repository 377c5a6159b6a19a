package pipeline

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/tfexp/tfexp/results/record"
)

// holder is what the lock file says of the process that holds it. The file's
// content is for people; what excludes others is the lock on it, which the
// system drops when its holder dies.
type holder struct {
	PID     int       `json:"pid"`
	Command []string  `json:"command"`
	Since   time.Time `json:"since"`
}

func (h holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d (%s, since %s)", h.PID, strings.Join(h.Command, " "), h.Since.Local().Format("15:04:05"))
}

// dirLock is the exclusive right to write in an experiment's folder.
type dirLock struct {
	f *flock.Flock
}

// lockDir takes the lock of dir, or returns *InUseError at once.
func lockDir(dir string, command []string) (*dirLock, error) {
	path := filepath.Join(dir, record.LockFile)
	f := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR))
	ok, err := f.TryLock()
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
	return &dirLock{f}, nil
}

func (l *dirLock) release() {
	_ = os.Truncate(l.f.Path(), 0)
	_ = l.f.Unlock()
}

// Holder names the process that works in an experiment's folder, if one does.
func Holder(dir string) (string, bool) {
	path := filepath.Join(dir, record.LockFile)
	if _, err := os.Stat(path); err != nil {
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
	raw, err := os.ReadFile(filepath.Join(dir, record.LockFile))
	if err != nil {
		return h, err
	}
	return h, json.Unmarshal(raw, &h)
}
