package folder

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// countNames returns how many names an open file has.
func countNames(f *os.File, _ fs.FileInfo) (uint64, error) {
	var is windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &is); err != nil {
		return 0, err
	}
	return uint64(is.NumberOfLinks), nil
}

// HasNames reports whether a file has several names: false, since a listing of a folder does not say it, and some file
// systems give all files one number.
func HasNames(fs.FileInfo) bool { return false }
