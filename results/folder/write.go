package folder

import (
	"io"
	"io/fs"
)

// Write writes a file whole, in place of one that may be there: whoever reads it, and
// whenever tfexp is killed, it has the old content or the new one. The path is taken as
// it is: that it stays in a folder of results is the matter of Make.
func Write(path string, raw []byte, mode fs.FileMode) error {
	return WriteFrom(path, mode, func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	})
}

// WriteFrom is Write for content that is made while it is written. When the function
// that makes it errs, the file stays as it was, and its error is returned.
func WriteFrom(path string, mode fs.FileMode, write func(io.Writer) error) error {
	return replace(path, mode, write)
}
