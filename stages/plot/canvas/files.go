package canvas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
)

// Write replaces a picture's file at once. The file need not survive a crash of the machine, since it can be drawn
// again.
func Write(dir, name string, raw []byte) error {
	if err := folder.Write(filepath.Join(dir, name), raw, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// WriteList writes pictures.json. It removes the files of pictures that only the old list has.
func WriteList(dir string, pictures []record.Picture) error {
	var old []record.Picture
	if raw, err := folder.ReadFile(dir, record.PicturesFile); err == nil {
		// If the old list cannot be read, its pictures remain, which is harmless.
		_ = json.Unmarshal(raw, &old)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(pictures); err != nil {
		return err
	}
	if err := folder.Write(filepath.Join(dir, record.PicturesFile), b.Bytes(), 0o644); err != nil {
		return err
	}
	var there []string
	for _, p := range pictures {
		there = append(there, p.SVG, p.PNG, p.PDF)
	}
	for _, o := range old {
		for _, name := range []string{o.SVG, o.PNG, o.PDF} {
			if name == "" || name != filepath.Base(name) || slices.Contains(there, name) {
				continue
			}
			if err := folder.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
