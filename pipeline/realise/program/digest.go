package program

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfexp/tfexp/experiments/files"
)

// digest describes the content of a file or of a whole folder for keys, or says that it cannot be read.
func (p *Programs) digest(path string) string {
	if d, ok := p.digests[path]; ok {
		return d
	}
	of := digestFile
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		of = digestFolder
	}
	d, err := of(path)
	if err != nil {
		d = "unreadable"
	}
	p.digests[path] = d
	return d
}

// digestFile returns the SHA-256 of a file's content.
func digestFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// digestFolder returns the number of files below a folder, their size, and the SHA-256 of their names, sizes and
// contents. Of a link to a file, the file counts as well; of one to a folder, only where it leads.
func digestFolder(dir string) (string, error) {
	h := sha256.New()
	n, size := 0, int64(0)
	err := files.Below(dir, func(name string, e fs.DirEntry) error {
		path, link := filepath.Join(dir, filepath.FromSlash(name)), ""
		if e.Type()&fs.ModeSymlink != 0 {
			var err error
			if link, err = os.Readlink(path); err != nil {
				return err
			}
		}
		content, length := "", int64(0)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			if content, err = digestFile(path); err != nil {
				return err
			}
			length = info.Size()
		}
		n, size = n+1, size+length
		fmt.Fprintf(h, "%q %q %d %s\n", name, link, length, content)
		return nil
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d files, %d bytes, sha256:%s", n, size, hex.EncodeToString(h.Sum(nil))), nil
}
