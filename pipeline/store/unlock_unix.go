//go:build unix

package store

import (
	"os"
	"syscall"
)

// unlock gives back a lock of bbolt's.
func unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
