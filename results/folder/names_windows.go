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
