//go:build unix

package store

import (
	"os"
	"syscall"
)

// unlock releases a lock of bbolt's.
func unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
