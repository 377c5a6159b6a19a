package docker

import (
	"encoding/json"
	"errors"
	"io"
)

// readPull reads the progress of a pull to its end: a pull has failed when
// one of its messages says so.
func readPull(r io.Reader) error {
	d := json.NewDecoder(r)
	for {
		var m struct {
			Error string `json:"error"`
		}
		switch err := d.Decode(&m); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case m.Error != "":
			return errors.New(m.Error)
		}
	}
}
