package record

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tfexp/tfexp/results/folder"
)

// SumsFile is the file with the SHA-256 of each file in an experiment's folder, in the format of sha256sum.
const SumsFile = "SHA256SUMS"

// sumsBegun is the previous SHA256SUMS, renamed while a command writes to the folder. Its modification time is when
// the first such command began that has not ended, or was killed.
const sumsBegun = "." + SumsFile + ".tmp"

// Sums updates SHA256SUMS after a command has written to an experiment's folder. A file older than the command keeps
// its sum, even if it no longer matches, so that changes by others can be noticed. After a killed command, the next
// one accepts all files written since the killed one began.
type Sums struct {
	dir   string
	began time.Time
	known map[string]string // previous sums, by path with slashes
}

// BeginSums must be called before a command writes to the folder dir. There is no SHA256SUMS until Close.
func BeginSums(dir string) (_ *Sums, err error) {
	defer named(&err, "begin")
	s := &Sums{dir: dir}
	raw, err := folder.ReadFile(dir, SumsFile)
	switch {
	case err == nil:
		if err := folder.Write(filepath.Join(dir, sumsBegun), raw, 0o644); err != nil {
			return nil, err
		}
		if err := folder.Remove(filepath.Join(dir, SumsFile)); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	default:
		if raw, err = folder.ReadFile(dir, sumsBegun); errors.Is(err, fs.ErrNotExist) {
			err = folder.Write(filepath.Join(dir, sumsBegun), nil, 0o644)
		}
		if err != nil {
			return nil, err
		}
	}
	info, err := folder.Stat(dir, sumsBegun)
	if err != nil {
		return nil, err
	}
	s.began = info.ModTime()
	s.known = ParseSums(raw)
	return s, nil
}

// named adds an operation and the name of the file to an error.
func named(err *error, operation string) {
	if *err != nil {
		*err = fmt.Errorf("%s %s: %w", operation, SumsFile, *err)
	}
}

// ParseSums reads the content of a SHA256SUMS. It returns the sums by path.
func ParseSums(raw []byte) map[string]string {
	sums := map[string]string{}
	for in := bufio.NewScanner(bytes.NewReader(raw)); in.Scan(); {
		if sum, path, ok := strings.Cut(in.Text(), "  "); ok {
			sums[path] = sum
		}
	}
	return sums
}

// Close writes SHA256SUMS.
func (s *Sums) Close() (err error) {
	defer named(&err, "write")
	var out bytes.Buffer
	var mu sync.Mutex
	sums := map[string]string{}
	var paths []string
	links := map[string]string{} // path → an earlier path of the same file
	type state struct {
		size int64
		at   time.Time
	}
	type file struct {
		path string
		info fs.FileInfo
	}
	read := map[state]file{} // the file and its links have the same state
	work := errgroup.Group{}
	work.SetLimit(runtime.GOMAXPROCS(0))
	err = EachSummed(s.dir, func(path string, info fs.FileInfo) {
		paths = append(paths, path)
		if sum, ok := s.known[path]; ok && info.ModTime().Before(s.began) {
			mu.Lock()
			defer mu.Unlock()
			sums[path] = sum
			return
		}
		if folder.HasNames(info) {
			now := state{info.Size(), info.ModTime()}
			if f, ok := read[now]; ok && os.SameFile(f.info, info) {
				links[path] = f.path
				return
			}
			read[now] = file{path, info}
		}
		work.Go(func() error {
			sum, err := SumOf(s.dir, path)
			mu.Lock()
			defer mu.Unlock()
			sums[path] = sum
			return err
		})
	})
	if err = errors.Join(err, work.Wait()); err != nil {
		return err
	}
	for path, of := range links {
		sums[path] = sums[of]
	}
	slices.Sort(paths)
	for _, path := range paths {
		fmt.Fprintf(&out, "%s  %s\n", sums[path], path)
	}
	if err := folder.Write(filepath.Join(s.dir, SumsFile), out.Bytes(), 0o644); err != nil {
		return err
	}
	return folder.Remove(filepath.Join(s.dir, sumsBegun))
}

// EachSummed calls visit for each file of a folder that SHA256SUMS lists, by path with slashes. It leaves out the
// cache, the lock and hidden files, which are temporary.
func EachSummed(dir string, visit func(path string, info fs.FileInfo)) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) && path != dir { // the file was removed in the meantime
				return nil
			}
			return err
		}
		name, err := filepath.Rel(dir, path)
		switch {
		case err != nil || name == ".":
			return err
		case strings.HasPrefix(d.Name(), ".") && d.IsDir():
			return fs.SkipDir
		case !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") || strings.Contains(name, "\n") ||
			slices.Contains([]string{CacheFile, LockFile, SumsFile}, name):
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			visit(filepath.ToSlash(name), info)
		}
		return err
	})
}

// SumOf returns the SHA-256 of a file below dir in hexadecimal.
func SumOf(dir, path string) (string, error) {
	f, err := folder.Open(dir, filepath.FromSlash(path))
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
