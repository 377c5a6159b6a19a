package engine

import (
	"github.com/tfexp/tfexp/results/folder"
	"io"
)

// mostNote bounds a note, in bytes.
const mostNote = 1 << 20

// ReadNote reads an engine's note in the folder of a run. The folder may come from somebody else: a link must not lead
// out of it, and a pipe must not make the reader wait.
func ReadNote(dir, name string) ([]byte, error) {
	f, err := folder.Open(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostNote))
}
