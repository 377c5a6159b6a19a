package folder

import (
	"os"

	"golang.org/x/sys/windows"
)

// tryLock takes a shared or exclusive lock on an open file. It returns false if another process holds the lock. It
// locks a byte far after the content, so that others can read the content.
func tryLock(f *os.File, shared bool) (bool, error) {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if !shared {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
	return err == nil, ignore(err, windows.ERROR_LOCK_VIOLATION)
}
