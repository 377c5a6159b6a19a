package store

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/klauspost/compress/s2"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
)

// maxPacked is the largest total size in bytes of a cell's files that the cache stores. A larger cell can be reused
// only from its folder.
const maxPacked = 64 << 20

// maxUnpacked is the largest size in bytes of an unpacked archive: maxPacked, and the same again for the headers of
// its files.
const maxUnpacked = 2 * maxPacked

// encoders keeps encoders and their buffers for reuse, since a matrix can have thousands of cells. S2 takes a third
// of gzip's time, and its output is half as large again.
var encoders = sync.Pool{New: func() any {
	return s2.NewWriter(nil, s2.WriterConcurrency(1),
		s2.WriterBlockSize(256<<10))
}}

// Pack returns the files of a cell's folder as a compressed archive, or nil if they are larger than maxPacked.
func Pack(dir string) ([]byte, error) {
	var total int64
	var files []string // in order of names
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			files, total = append(files, path), total+info.Size()
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("pack cell: %w", err)
	}
	if total > maxPacked {
		return nil, nil
	}
	var b bytes.Buffer
	z := encoders.Get().(*s2.Writer)
	defer encoders.Put(z)
	z.Reset(&b)
	t := tar.NewWriter(z)
	pack := func(path string) error {
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		raw, err := folder.ReadFile(filepath.Split(path))
		if err != nil {
			return err
		}
		if err := t.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o644, Size: int64(len(raw))}); err != nil {
			return err
		}
		_, err = t.Write(raw)
		return err
	}
	for i := 0; i < len(files) && err == nil; i++ {
		err = pack(files[i])
	}
	if err := errors.Join(err, t.Close(), z.Close()); err != nil {
		return nil, fmt.Errorf("pack cell: %w", err)
	}
	return b.Bytes(), nil
}

// Unpack replaces a cell's folder by the packed one. It writes cell.json last, so that a folder with that file is
// complete.
func Unpack(dir string, packed []byte) error {
	if err := folder.RemoveAll(dir); err != nil {
		return fmt.Errorf("unpack cell: %w", err)
	}
	var last []byte
	err := EachPacked(packed, func(name string, raw []byte) error {
		if name == record.CellFile {
			last = raw
			return nil
		}
		return writeNew(filepath.Join(dir, filepath.FromSlash(name)), raw)
	})
	if err != nil {
		return fmt.Errorf("unpack cell: %w", err)
	}
	if last == nil {
		return fmt.Errorf("unpack cell: %s is missing", record.CellFile)
	}
	return writeNew(filepath.Join(dir, record.CellFile), last)
}

// EachPacked calls visit for each file of a packed folder, with its name (with slashes) and content.
func EachPacked(packed []byte, visit func(name string, raw []byte) error) error {
	for t := tar.NewReader(io.LimitReader(s2.NewReader(bytes.NewReader(packed)), maxUnpacked)); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !filepath.IsLocal(h.Name) {
			return fmt.Errorf("%q is outside of its folder", h.Name)
		}
		raw, err := io.ReadAll(t)
		if err == nil {
			err = visit(h.Name, raw)
		}
		if err != nil {
			return err
		}
	}
}

func writeNew(path string, raw []byte) error {
	if err := folder.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("unpack cell: %w", err)
	}
	if err := folder.WriteFile(path, raw, 0o644); err != nil {
		return fmt.Errorf("unpack cell: %w", err)
	}
	return nil
}

// CellFolders returns the names of the cells that have a folder under cells/.
func CellFolders(dir string) map[string]bool {
	folders := map[string]bool{}
	entries, err := folder.ReadDir(filepath.Join(dir, record.CellsDir))
	if err != nil {
		return folders
	}
	for _, e := range entries {
		if e.IsDir() {
			folders[e.Name()] = true
		}
	}
	return folders
}

// Complete reports whether a cell's folder is complete and was written under the key with this hash.
func Complete(dir, key string) bool {
	raw, err := folder.ReadFile(dir, KeyFile)
	if err != nil {
		return false
	}
	if HashOf(string(raw)) != key {
		return false
	}
	return record.Intact(dir)
}

// State returns how a complete cell ended, and the codes of its warnings.
func State(dir string) (state string, warnings []string, ok bool) {
	var c struct {
		State    string `json:"state"`
		Warnings []struct {
			Code string `json:"code"`
		} `json:"warnings"`
	}
	if folder.ReadJSON(dir, &c, record.CellFile) != nil || c.State == "" {
		return "", nil, false
	}
	for _, w := range c.Warnings {
		warnings = append(warnings, w.Code)
	}
	return c.State, warnings, true
}

// KeyFile holds the description of a cell's key, next to its outputs.
const KeyFile = "key.txt"
