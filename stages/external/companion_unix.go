//go:build unix

package external

import (
	"cmp"
	"io"
	"runtime"
	"syscall"
	"time"
)

// mostSpin is how long Read polls for an answer before it sleeps, if cores are idle: waking up takes about as long. If
// polling got no answer, later reads sleep at once, for up to maxPatience answers.
const (
	mostSpin    = 40 * time.Microsecond
	maxPatience = 1024
)

// spinTime is how long a process polls for the next message before it sleeps. It is 0 if polling would take cores from
// other work.
func spinTime() time.Duration {
	if 2*int(talking.Load()) > runtime.GOMAXPROCS(0) {
		return 0
	}
	return mostSpin
}

// Read reads from Out.
func (c *companion) Read(b []byte) (n int, err error) {
	spin := spinTime()
	if c.sleeps--; spin == 0 || c.sleeps > 0 {
		return c.Out.Read(b)
	}
	c.patience /= 2
	raw, err := c.Out.SyscallConn()
	if err != nil {
		return 0, err
	}
	wait := raw.Read(func(fd uintptr) bool {
		for began := time.Now(); ; {
			if n, err = syscall.Read(int(fd), b); err != syscall.EAGAIN && err != syscall.EINTR {
				return true
			}
			if time.Since(began) > spin { // the program needs longer, or other work needs the core
				c.patience = min(max(4*c.patience, 16), maxPatience)
				c.sleeps, spin = c.patience, 0
				return false
			}
		}
	})
	switch err = cmp.Or(err, wait); {
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}
