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

// Write replaces a picture's file at once; it can be drawn again after a crash,
// so it need not survive one.
func Write(dir, name string, raw []byte) error {
	if err := folder.Write(filepath.Join(dir, name), raw, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// WriteList writes pictures.json and removes the files that only the old one lists.
func WriteList(dir string, pictures []record.Picture) error {
	var old []record.Picture
	if raw, err := folder.ReadFile(dir, record.PicturesFile); err == nil {
		// A list that cannot be read leaves its pictures behind; they do no harm.
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
