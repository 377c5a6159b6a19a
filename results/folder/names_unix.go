//go:build unix

package folder

import (
	"io/fs"
	"os"
	"syscall"
)

// countNames returns how many names an open file has.
func countNames(_ *os.File, info fs.FileInfo) (uint64, error) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink), nil
	}
	return 1, nil
}

// HasNames reports whether a file has several names.
func HasNames(info fs.FileInfo) bool {
	n, err := countNames(nil, info)
	return err == nil && n > 1
}
