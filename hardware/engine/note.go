package engine

import (
	"github.com/tfexp/tfexp/results/folder"
	"io"
)

// mostNote is the greatest size of a note in bytes.
const mostNote = 1 << 20

// ReadNote reads a note that an engine has written into the folder of a run. The folder may come from somebody else.
// So it does not follow links out of the folder, and does not wait for a pipe.
func ReadNote(dir, name string) ([]byte, error) {
	f, err := folder.Open(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostNote))
}
