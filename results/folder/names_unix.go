//go:build unix

package folder

import (
	"io/fs"
	"os"
	"syscall"
)

// countNames returns the number of hard links of an open file.
func countNames(_ *os.File, info fs.FileInfo) (uint64, error) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink), nil
	}
	return 1, nil
}

// HasNames reports whether a file has several hard links.
func HasNames(info fs.FileInfo) bool {
	n, err := countNames(nil, info)
	return err == nil && n > 1
}
