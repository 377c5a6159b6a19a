//go:build unix

package external

import (
	"cmp"
	"io"
	"runtime"
	"syscall"
	"time"
)

// mostSpin is how long Read polls for an answer before it sleeps, if there are cores to spare: waking up takes as long.
// After polls without an answer it sleeps at once, for up to maxPatience answers.
const (
	mostSpin    = 40 * time.Microsecond
	maxPatience = 1024
)

// spinTime is how long each side may poll for the other's message before it sleeps: 0 if polling takes cores from others.
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
			if time.Since(began) > spin { // the program takes longer, or others want the core
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
