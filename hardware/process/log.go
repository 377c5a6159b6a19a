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

// jobLog copies a job's output from a pipe to its log file. The job does not write to the file itself, so that tfexp
// notices at once when a job prints without end or fills the disk.
type jobLog struct {
	in   *os.File // the job's end of the pipe; closed after the start
	out  *os.File // tfexp's end of the pipe
	file *launch.Log

	exited chan struct{} // closed when the job's program has exited
	copied chan struct{} // closed when all output has been copied
	err    error         // why some output could not be read; valid after copied is closed
}

const (
	logBuffer = 32 << 10
	// logPause is the wait between two reads when a job prints many lines quickly. The pipe keeps the output
	// meanwhile, so that tfexp does not wake up for each line.
	logPause = 5 * time.Millisecond
	// logPatience is how long a job's end waits for a process that keeps the output open, but is not known to belong
	// to the job.
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
	// Programs do not expect a non-blocking output.
	if err := syscall.SetNonblock(int(l.in.Fd()), false); err != nil {
		l.file.Close("")
		return nil, errors.Join(fmt.Errorf("open log: %w", err), l.in.Close(), l.out.Close())
	}
	return l, nil
}

// follow starts to copy. It is called after the job has got its end of the pipe.
func (l *jobLog) follow() {
	l.in.Close()
	if l.out != nil {
		go l.copy()
	}
}

func (l *jobLog) copy() {
	defer close(l.copied)
	buf := make([]byte, logBuffer)
	var last time.Time // instant of the last read
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

// finish waits for the remaining output after the job's end. It returns why the log is incomplete; nil if it is
// complete.
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

// close writes why the job did not finish as the last line of the log, and closes the log. It is called once:
// without follow, or after finish.
func (l *jobLog) close(reason string) {
	l.in.Close() // harmless if follow has closed it
	l.file.Close(reason)
	if l.out != nil {
		l.out.Close()
	}
}
