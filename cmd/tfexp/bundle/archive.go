package bundle

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
)

// archive writes files into a tar archive, all below one folder. It keeps the first error in err; later calls then do
// nothing.
type archive struct {
	*tar.Writer
	below string
	err   error
}

// bytes adds a file with this content.
func (t *archive) bytes(path string, content []byte) {
	t.add(path, int64(len(content)), 0o644, time.Now(), bytes.NewReader(content))
}

// folder adds an empty folder with the permissions of the folder from: results are private unless they are shared.
func (t *archive) folder(path, from string) {
	info, err := os.Stat(from)
	if t.err == nil {
		t.err = err
	}
	if t.err == nil {
		t.err = t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: t.below + "/" + path + "/", Mode: int64(info.Mode().Perm()),
			ModTime: info.ModTime(), Format: tar.FormatPAX})
	}
}

// file adds a copy of the file from.
func (t *archive) file(path, from string) {
	if t.err != nil {
		return
	}
	f, err := folder.OpenFile(from, os.O_RDONLY, 0)
	if err != nil {
		t.err = fmt.Errorf("pack %s: %w", from, err)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.err = fmt.Errorf("pack %s: %w", from, err)
		return
	}
	t.add(path, info.Size(), info.Mode().Perm(), info.ModTime(), io.LimitReader(f, info.Size()))
}

func (t *archive) add(path string, size int64, mode fs.FileMode, at time.Time, content io.Reader) {
	if t.err != nil {
		return
	}
	head := &tar.Header{Name: t.below + "/" + path, Size: size, Mode: int64(mode), ModTime: at, Format: tar.FormatPAX}
	if t.err = t.WriteHeader(head); t.err == nil {
		_, t.err = io.Copy(t.Writer, content)
	}
	if t.err != nil {
		t.err = fmt.Errorf("pack %s: %w", path, t.err)
	}
}

// files lists the files in a folder of results by name, except its lock.
func files(dir string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil && name != record.LockFile {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the results: %w", err)
	}
	slices.Sort(names)
	return names, nil
}

// digest returns the SHA-256 of a file and its size in bytes.
func digest(path string) (sum string, n int64, err error) {
	f, err := folder.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return "", 0, fmt.Errorf("read an input: %w", err)
	}
	defer f.Close()
	hash := sha256.New()
	if n, err = io.Copy(hash, f); err != nil {
		return "", 0, fmt.Errorf("read an input: %w", err)
	}
	return hex.EncodeToString(hash.Sum(nil)), n, nil
}

// runElsewhere returns the content of run.json, but with file as the path of the experiment. The path is relative to
// the folder of the results.
func runElsewhere(dir, file string) ([]byte, error) {
	var run map[string]json.RawMessage
	if err := folder.ReadJSON(dir, &run, record.RunFile); err != nil {
		return nil, fmt.Errorf("read the run: %w", err)
	}
	run["file"], _ = json.Marshal(file) // the JSON of a string cannot fail
	raw, err := json.MarshalIndent(run, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the run: %w", err)
	}
	return append(raw, '\n'), nil
}

// sumsWith returns the content of a SHA256SUMS file, with the sum of the file name replaced by the sum of content.
func sumsWith(path, name string, content []byte) ([]byte, error) {
	raw, err := folder.ReadFile(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		return nil, fmt.Errorf("read the sums: %w", err)
	}
	sum := sha256.Sum256(content)
	var out bytes.Buffer
	for line := range bytes.Lines(raw) {
		if strings.HasSuffix(string(bytes.TrimSpace(line)), "  "+name) {
			fmt.Fprintf(&out, "%x  %s\n", sum, name)
			continue
		}
		out.Write(line)
	}
	return out.Bytes(), nil
}
