package goodput

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"testing/fstest"
)

// Limits of an archive's files in memory.
const (
	mostFiles = 100_000
	mostBytes = 256 << 20
)

// Archive has the contents of a tar archive's files, by path.
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
			return nil, fmt.Errorf("the archive has more than %d files or %d MiB", mostFiles, mostBytes>>20)
		}
		a[path.Clean(h.Name)] = text
	}
}

// Programs returns the names of the folders that have measurements of a program.
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

// Program returns the files of the folder with a program's name, at any depth of the archive; nil if there is no such
// folder.
func (a Archive) Program(name string) fstest.MapFS {
	var folders []string
	for file := range a {
		if path.Base(file) == PlacementsFile && path.Base(path.Dir(file)) == name {
			folders = append(folders, path.Dir(file)+"/")
		}
	}
	if len(folders) == 0 {
		return nil
	}
	folder, out := slices.Min(folders), fstest.MapFS{}
	for file, text := range a {
		if rest, ok := strings.CutPrefix(file, folder); ok && !strings.Contains(rest, "/") {
			out[rest] = &fstest.MapFile{Data: text}
		}
	}
	return out
}
