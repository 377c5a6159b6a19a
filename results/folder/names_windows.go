package folder

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// countNames returns the number of hard links of an open file.
func countNames(f *os.File, _ fs.FileInfo) (uint64, error) {
	var is windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &is); err != nil {
		return 0, err
	}
	return uint64(is.NumberOfLinks), nil
}

// HasNames returns false: on Windows the listing of a folder does not have the number of hard links.
func HasNames(fs.FileInfo) bool { return false }
