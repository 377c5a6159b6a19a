//go:build unix

package store

import (
	"os"
	"syscall"
)

// unlock releases the lock of bbolt on a file.
func unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
