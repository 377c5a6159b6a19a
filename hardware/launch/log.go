package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/tfexp/tfexp/results/folder"
)

// Log is the log file of a job, up to a size limit. Several goroutines may call its methods.
type Log struct {
	limit int64
	fail  func(reason string)
	seen  func(output []byte)

	mu      sync.Mutex   // guards the fields below
	file    *folder.File // nil if output is discarded
	written int64
	skip    int64 // bytes to skip, because output is read again from its start
	err     error // why the log is incomplete
}

// OpenLog opens the log of a job. If again is true, it appends to an existing file. An empty path discards the
// output. If output cannot be written or exceeds limit bytes, fail is called once, in Write, and the job must end.
// seen is called with all output; it may be nil.
func OpenLog(path string, limit int64, again bool, fail func(reason string), seen func(output []byte)) (*Log, error) {
	l := &Log{limit: limit, fail: fail, seen: seen}
	if path == "" {
		return l, nil
	}
	if err := folder.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	mode := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if again {
		mode = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	var err error
	if l.file, err = folder.OpenFile(path, mode, 0o644); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return l, nil
}

// Write writes output. After a failure it drops output, because the job is being ended.
func (l *Log) Write(b []byte) {
	if reason := l.write(b); reason != "" {
		l.fail(reason)
	}
}

func (l *Log) write(b []byte) (failed string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	again := min(l.skip, int64(len(b)))
	l.skip -= again
	b = b[again:]
	if l.seen != nil && len(b) > 0 {
		l.seen(b)
	}
	if l.file == nil || l.err != nil || len(b) == 0 {
		return ""
	}
	room := l.limit - l.written
	n, err := l.file.Write(b[:min(int64(len(b)), room)])
	l.written += int64(n)
	switch {
	case err != nil:
		l.err = fmt.Errorf("write log: %w", Underlying(err))
	case int64(len(b)) > room:
		l.err = fmt.Errorf("output above the limit of %s", size(l.limit))
	default:
		return ""
	}
	return l.err.Error()
}

// Reread says that the output will come again from its start. Write then skips the part that is in the log.
func (l *Log) Reread() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.skip = l.written
}

// Err returns why the log is incomplete; nil if it is complete.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Close writes the last line, unless reason is empty: why the job did not finish. It then closes the log. Later
// output is dropped.
func (l *Log) Close(reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return
	}
	if reason != "" {
		// The failure of a log was reported before.
		fmt.Fprintf(l.file, "tfexp: %s\n", reason)
	}
	l.file.Close()
	l.file = nil
}

// size returns a number of bytes in the largest binary unit that divides it.
func size(bytes int64) string {
	for _, unit := range []struct {
		name  string
		bytes int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if bytes >= unit.bytes && bytes%unit.bytes == 0 {
			return fmt.Sprintf("%d %s", bytes/unit.bytes, unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", bytes)
}
