package docker

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// output carries what a container prints to its log file. The file holds what
// standard output and standard error said, in the order in which it came.
type output struct {
	limit int64
	fail  func(reason string) // called once, when the job must end

	mu      sync.Mutex // guards what follows
	file    *os.File   // nil when the output is discarded
	written int64
	skip    int64 // bytes that come again, because the output is read anew
	err     error // why the log is not complete
}

// openOutput opens a log, to go on with it if again is set.
func openOutput(path string, limit int64, again bool, fail func(string)) (*output, error) {
	o := &output{limit: limit, fail: fail}
	if path == "" {
		return o, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	mode := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if again {
		mode = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	var err error
	if o.file, err = os.OpenFile(path, mode, 0o666); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return o, nil
}

// follow copies a daemon's stream of output to its end: frames of a header
// (the stream's number, three zeros, the length in big-endian order) and data.
// The error is nil at a proper end.
func (o *output) follow(r io.Reader) error {
	var header [8]byte
	buf := make([]byte, 32<<10)
	for {
		if _, err := io.ReadFull(r, header[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		for left := int64(binary.BigEndian.Uint32(header[4:])); left > 0; {
			n, err := io.ReadFull(r, buf[:min(left, int64(len(buf)))])
			o.write(buf[:n])
			if err != nil {
				return err
			}
			left -= int64(n)
		}
	}
}

// reread says that the output comes again from its beginning.
func (o *output) reread() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.skip = o.written
}

func (o *output) write(b []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	again := min(o.skip, int64(len(b)))
	o.skip -= again
	b = b[again:]
	// After a failure the rest is read and dropped: the job is being killed.
	if o.file == nil || o.err != nil || len(b) == 0 {
		return
	}
	room := o.limit - o.written
	n, err := o.file.Write(b[:min(int64(len(b)), room)])
	o.written += int64(n)
	switch {
	case err != nil:
		o.err = fmt.Errorf("write log: %w", err)
	case int64(len(b)) > room:
		o.err = fmt.Errorf("output above the limit of %d MiB", o.limit>>20)
	}
	if o.err != nil {
		go o.fail(o.err.Error()) // it takes the engine's lock
	}
}

// close writes why the job did not finish as the log's last line, and closes it.
func (o *output) close(reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file == nil {
		return
	}
	if reason != "" {
		// A log that cannot be written has told so already.
		fmt.Fprintf(o.file, "tfexp: %s\n", reason)
	}
	o.file.Close()
	o.file = nil
}

// failure is why the log is not complete.
func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
