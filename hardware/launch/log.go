package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/tfexp/tfexp/results/folder"
)

// Log is the file that receives a job's output, up to a limit. Its methods may be called from several goroutines.
type Log struct {
	limit int64
	fail  func(reason string)
	seen  func(output []byte)

	mu      sync.Mutex   // guards what follows
	file    *folder.File // nil when the output is discarded
	written int64
	skip    int64 // bytes that come again, because the output is read again
	err     error // why the log is not complete
}

// OpenLog opens the log of a job, to continue it if again is set; an empty path discards the output. fail is called
// once, in the goroutine of Write, when the job must end because its output cannot be kept or exceeds the limit in
// bytes. seen receives the output as it comes; it may be nil.
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

// Write adds output. After a failure the rest is dropped: the job is being killed.
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

// Reread announces that the output comes again from its beginning: the bytes already written are skipped.
func (l *Log) Reread() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.skip = l.written
}

// Err returns why the log is not complete, if so.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Close writes why the job did not finish, if reason says so, as the log's last line, and closes it. Later output is
// dropped.
func (l *Log) Close(reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return
	}
	if reason != "" {
		// A log that cannot be written has been reported already.
		fmt.Fprintf(l.file, "tfexp: %s\n", reason)
	}
	l.file.Close()
	l.file = nil
}

// size writes bytes in the largest binary unit that divides them.
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
