package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// jobLog carries a job's output from a pipe to its log file. A pipe, and not
// the file itself, so that a job that prints without end, or fills the disk,
// is noticed at once.
type jobLog struct {
	in   *os.File // the end that the job writes to; closed once it is started
	out  *os.File // the end that tfexp reads
	file *os.File // nil when the output is discarded

	limit  int64
	fail   func(reason string) // called once, when the job must end
	seen   func(output []byte) // called with what was read; may be nil
	exited chan struct{}       // closed when the job's program has exited
	copied chan struct{}       // closed when there is no more to read
	err    error               // why the log is not complete; read after copied
}

const (
	logBuffer = 32 << 10
	// When a job prints many lines, one soon after the other, reading waits
	// for this long, so that not every line wakes tfexp: the pipe holds them
	// meanwhile.
	logPause = 5 * time.Millisecond
	// How long a process that is not known to belong to the job, but holds
	// its output open, can put off the job's end.
	logPatience = 200 * time.Millisecond
)

// openLog opens the log of a job; with again it goes on with the one that is
// there.
func openLog(path string, limit int64, again bool, fail func(string)) (*jobLog, error) {
	l := &jobLog{limit: limit, fail: fail, exited: make(chan struct{}), copied: make(chan struct{})}
	if path == "" {
		close(l.copied)
		in, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		l.in = in
		return l, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	var err error
	mode := os.O_CREATE | os.O_RDWR | os.O_TRUNC
	if again {
		mode = os.O_CREATE | os.O_RDWR | os.O_APPEND
	}
	if l.file, err = os.OpenFile(path, mode, 0o666); err != nil {
		return nil, err
	}
	if l.out, l.in, err = os.Pipe(); err != nil {
		return nil, errors.Join(err, l.file.Close())
	}
	// Programs do not expect that a write to their output would block.
	if err := syscall.SetNonblock(int(l.in.Fd()), false); err != nil {
		return nil, errors.Join(err, l.in.Close(), l.out.Close(), l.file.Close())
	}
	return l, nil
}

// follow starts copying, once the job has its end of the pipe.
func (l *jobLog) follow() {
	l.in.Close()
	if l.file != nil {
		go l.copy()
	}
}

func (l *jobLog) copy() {
	defer close(l.copied)
	buf := make([]byte, logBuffer)
	left := l.limit
	var last time.Time // of the last read
	for {
		n, err := l.out.Read(buf)
		// After a failure the rest is read and dropped: the job is being killed.
		if n > 0 && l.seen != nil {
			l.seen(buf[:n])
		}
		if n > 0 && l.err == nil {
			_, writeErr := l.file.Write(buf[:min(int64(n), left)])
			left -= int64(n)
			switch {
			case writeErr != nil:
				l.err = fmt.Errorf("write log: %w", underlying(writeErr))
			case left < 0:
				l.err = fmt.Errorf("output above the limit of %s", size(l.limit))
			}
			if l.err != nil {
				l.fail(l.err.Error())
			}
		}
		if err != nil {
			if l.err == nil && err != io.EOF && !errors.Is(err, os.ErrDeadlineExceeded) {
				l.err = fmt.Errorf("read output: %w", underlying(err))
			}
			return
		}
		now := time.Now()
		busy := now.Sub(last) < logPause
		last = now
		if busy && n < logBuffer/8 {
			select {
			case <-l.exited:
			case <-time.After(logPause):
			}
		}
	}
}

// finish waits for the rest of the output after the job's end, and returns
// why the log is not complete, if so.
func (l *jobLog) finish() error {
	close(l.exited)
	select {
	case <-l.copied:
	default:
		timer := time.AfterFunc(logPatience, func() { l.out.SetReadDeadline(time.Now()) })
		<-l.copied
		timer.Stop()
	}
	return l.err
}

// close writes why the job did not finish as the log's last line, and closes
// it. It is called once, instead of follow or after finish.
func (l *jobLog) close(reason string) {
	l.in.Close() // again, after follow
	if l.file == nil {
		return
	}
	if reason != "" {
		// A log that cannot be written has told so already.
		fmt.Fprintf(l.file, "tfexp: %s\n", reason)
	}
	l.file.Close()
	l.out.Close()
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
