package goodput

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// Bounds of what is unpacked.
const (
	mostFiles = 100_000
	mostBytes = 256 << 20
)

// Archive has the files of a tar archive in memory, by their paths.
type Archive map[string][]byte

// Unpack reads the regular files of a tar archive: at most 100,000 with 256 MiB.
func Unpack(r io.Reader) (Archive, error) {
	a := Archive{}
	left := int64(mostBytes)
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return a, nil
		case err != nil:
			return nil, err
		case h.Typeflag != tar.TypeReg:
			continue
		}
		text, err := io.ReadAll(io.LimitReader(in, left+1))
		if err != nil {
			return nil, err
		}
		if left -= int64(len(text)); left < 0 || len(a) == mostFiles {
			return nil, fmt.Errorf("it has more than %d files or %d MiB", mostFiles, mostBytes>>20)
		}
		a[path.Clean(h.Name)] = text
	}
}

// Programs lists the names of the folders that have measurements of a program.
func (a Archive) Programs() []string {
	var names []string
	for name := range a {
		if path.Base(name) == PlacementsFile {
			names = append(names, path.Base(path.Dir(name)))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Program returns the folder with the measurements of a program, wherever in the archive it
// is; nil for none.
func (a Archive) Program(name string) Archive {
	var folders []string
	for file := range a {
		if path.Base(file) == PlacementsFile && path.Base(path.Dir(file)) == name {
			folders = append(folders, path.Dir(file)+"/")
		}
	}
	if len(folders) == 0 {
		return nil
	}
	folder, out := slices.Min(folders), Archive{}
	for file, text := range a {
		if rest, ok := strings.CutPrefix(file, folder); ok && !strings.Contains(rest, "/") {
			out[rest] = text
		}
	}
	return out
}

// Open implements fs.FS.
func (a Archive) Open(name string) (fs.File, error) {
	text, ok := a[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &unpacked{bytes.NewReader(text), path.Base(name)}, nil
}

// Glob implements fs.GlobFS.
func (a Archive) Glob(pattern string) (names []string, err error) {
	for name := range a {
		ok, err := path.Match(pattern, name)
		if err != nil {
			return nil, err
		}
		if ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// unpacked is a file of an archive, and what is known of it.
type unpacked struct {
	*bytes.Reader
	name string
}

func (f *unpacked) Close() error               { return nil }
func (f *unpacked) Stat() (fs.FileInfo, error) { return f, nil }
func (f *unpacked) Name() string               { return f.name }
func (f *unpacked) Mode() fs.FileMode          { return 0o444 }
func (f *unpacked) ModTime() time.Time         { return time.Time{} }
func (f *unpacked) IsDir() bool                { return false }
func (f *unpacked) Sys() any                   { return nil }
