//go:build unix

package process

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/results/folder"
)

// jobLog carries a job's output from a pipe to its log file. A pipe, and not
// the file itself, so that a job that prints without end, or fills the disk,
// is noticed at once.
type jobLog struct {
	in   *os.File // the end that the job writes to; closed once it is started
	out  *os.File // the end that tfexp reads
	file *launch.Log

	exited chan struct{} // closed when the job's program has exited
	copied chan struct{} // closed when there is no more to read
	err    error         // why not all could be read; read after copied
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

// openLog opens the log of a job; see launch.OpenLog.
func openLog(path string, limit int64, again bool, fail func(string), seen func([]byte)) (*jobLog, error) {
	file, err := launch.OpenLog(path, limit, again, fail, seen)
	if err != nil {
		return nil, err
	}
	l := &jobLog{file: file, exited: make(chan struct{}), copied: make(chan struct{})}
	if path == "" {
		close(l.copied)
		null, err := folder.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err == nil {
			l.in = null.File
		}
		return l, err
	}
	if l.out, l.in, err = os.Pipe(); err != nil {
		l.file.Close("")
		return nil, fmt.Errorf("open log: %w", err)
	}
	// Programs do not expect that a write to their output would block.
	if err := syscall.SetNonblock(int(l.in.Fd()), false); err != nil {
		l.file.Close("")
		return nil, errors.Join(fmt.Errorf("open log: %w", err), l.in.Close(), l.out.Close())
	}
	return l, nil
}

// follow starts copying, once the job has its end of the pipe.
func (l *jobLog) follow() {
	l.in.Close()
	if l.out != nil {
		go l.copy()
	}
}

func (l *jobLog) copy() {
	defer close(l.copied)
	buf := make([]byte, logBuffer)
	var last time.Time // of the last read
	for {
		n, err := l.out.Read(buf)
		l.file.Write(buf[:n])
		if err != nil {
			if err != io.EOF && !errors.Is(err, os.ErrDeadlineExceeded) {
				l.err = fmt.Errorf("read output: %w", launch.Underlying(err))
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
	return cmp.Or(l.file.Err(), l.err)
}

// close writes why the job did not finish as the log's last line, and closes
// it. It is called once, instead of follow or after finish.
func (l *jobLog) close(reason string) {
	l.in.Close() // again, after follow
	l.file.Close(reason)
	if l.out != nil {
		l.out.Close()
	}
}
