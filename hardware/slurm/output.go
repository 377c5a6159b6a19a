//go:build unix

package slurm

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/results/folder"
)

// output copies the file that a step writes on its node to the log of the job.
type output struct {
	path string // without the suffix that srun adds for the task
	log  *launch.Log

	mu   sync.Mutex // guards the fields below
	file *folder.File
	tail []byte // the last bytes read so far
}

// readPause is the time between two reads of the files.
const readPause = 100 * time.Millisecond

// read copies the output of all open steps to their logs, until the engine is closed.
func (e *Engine) read() {
	tick := time.NewTicker(readPause)
	defer tick.Stop()
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-tick.C:
		}
		e.mu.Lock()
		open := slices.Clone(e.open)
		e.mu.Unlock()
		for _, o := range open {
			o.next()
		}
	}
}

// next copies the output written since the last call.
func (o *output) next() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file == nil {
		f, err := folder.OpenFile(o.path+".0", os.O_RDONLY, 0)
		if err != nil {
			return
		}
		o.file = f
	}
	buf := make([]byte, 4<<10)
	for {
		n, err := o.file.Read(buf)
		if n > 0 {
			o.log.Write(buf[:n])
			o.tail = append(o.tail, buf[:n]...)
			o.tail = o.tail[max(0, len(o.tail)-512):]
		}
		if err != nil || n < len(buf) {
			if err != nil && !errors.Is(err, io.EOF) {
				o.file.Close()
				o.file = nil
			}
			return
		}
	}
}

// drain copies the remaining output after the step has ended, and removes the file.
func (o *output) drain() {
	o.mu.Lock()
	if o.file != nil { // reopen: a network file system shows new data only then
		at, err := o.file.Seek(0, io.SeekCurrent)
		o.file.Close()
		o.file = nil
		if f, openErr := folder.OpenFile(o.path+".0", os.O_RDONLY, 0); err == nil && openErr == nil {
			f.Seek(at, io.SeekStart)
			o.file = f
		}
	}
	o.mu.Unlock()
	o.next()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file != nil {
		o.file.Close()
		o.file = nil
	}
	folder.Remove(o.path + ".0")
}

// lastLine returns the last line of the output read so far.
func (o *output) lastLine() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(o.tail), []byte("\n"))
	return string(lines[len(lines)-1])
}
