//go:build unix

package folder

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes a shared or exclusive lock on an open file. It returns false if another process holds the lock.
func tryLock(f *os.File, shared bool) (bool, error) {
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err == nil, ignore(err, syscall.EWOULDBLOCK)
		}
	}
}
