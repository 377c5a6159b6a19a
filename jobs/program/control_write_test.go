package program

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/folder"
)

// WriteControl puts an allotment into the control file at path, in the file's
// short form. Readers see the old content or the new one, never a part. It is
// not forced to the disk: after a crash of the machine no job is left to read it.
func WriteControl(path string, a contract.Allotment) error {
	return writeFile(path, fmt.Appendf(nil, "%d %d\n", a.Inter, a.Intra))
}

// WriteMessage puts a message into the control file at path, as WriteControl
// does with an allotment.
func WriteMessage(path string, m contract.Message) error {
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write control file: %w", err)
	}
	return writeFile(path, append(text, '\n'))
}

func writeFile(path string, text []byte) error {
	f, err := folder.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write control file: %w", err)
	}
	_, err = f.Write(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = folder.Rename(f.Name(), path)
	}
	if err != nil {
		folder.Remove(f.Name())
		return fmt.Errorf("write control file: %w", err)
	}
	return nil
}
