package train

import (
	"encoding/json"
	"errors"
	"os"

	"github.com/tfexp/tfexp/jobs/contract"
)

// writeMessage puts a message into a control file, as engines do.
func writeMessage(path string, m contract.Message) error {
	text, err := json.Marshal(m)
	return errors.Join(err, replaceControl(path, append(text, '\n')))
}

// replaceControl replaces a control file at once: readers see the old content or the new one.
func replaceControl(path string, text []byte) error {
	return errors.Join(os.WriteFile(path+".new", text, 0o600), os.Rename(path+".new", path))
}
