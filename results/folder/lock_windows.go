package folder

import (
	"os"

	"golang.org/x/sys/windows"
)

// tryLock takes a lock on an open file, shared or exclusive, unless another process has it. The locked byte is far
// behind the content, which others may read.
func tryLock(f *os.File, shared bool) (bool, error) {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if !shared {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
	return err == nil, ignore(err, windows.ERROR_LOCK_VIOLATION)
}
