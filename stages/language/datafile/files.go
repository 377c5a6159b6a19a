// Package datafile reads tables and other data files of experiments, for features whose arguments name such files. Its
// error messages show the lines of a file.
package datafile

import (
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// MaxSeconds is the largest run time in a file. Sums of many run times then fit into an int64 of nanoseconds.
const MaxSeconds = 1e8

// ReadFile calls read with the uncompressed content of a file, and returns the file's digest. The file must be regular,
// because reading a pipe or a device may never end.
func ReadFile(s language.Input, read func(io.Reader) error) (digest string, err error) {
	f, err := openRegular(s)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	all := io.TeeReader(f, hash)
	unpacked, err := unpack(s.Path, all)
	if err != nil {
		return "", err
	}
	content, err := text(s.Path, unpacked)
	if err != nil {
		return "", err
	}
	if err := read(content); err != nil {
		return "", err
	}
	if _, err := io.Copy(io.Discard, all); err != nil { // add the bytes that read did not consume to the digest
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// openRegular opens a file and returns an error if it is not regular.
func openRegular(s language.Input) (*folder.File, error) {
	switch info, err := os.Stat(s.Path); {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder", s.Shown)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file: it is %s", s.Shown, experiment.Sort(info.Mode()))
	}
	return folder.OpenFile(s.Path, os.O_RDONLY, 0)
}

// unpack returns a reader of the uncompressed content. It recognizes gzip, bzip2, xz and zstd by the first bytes.
func unpack(name string, r io.Reader) (io.Reader, error) {
	in := &counter{from: r}
	buffered := bufio.NewReader(in)
	head, _ := buffered.Peek(len("\xfd7zXZ\x00")) // a later read returns the error again
	var text io.Reader
	var err error
	switch kind := packingOf(head); {
	case kind == "gzip":
		text, err = gzip.NewReader(buffered)
	case filepath.Ext(name) == ".tgz", filepath.Ext(name) == ".gz" && (kind == "" || kind == "zip"):
		return nil, errors.New("its name ends like a gzip file, but its content is not gzip")
	case kind == "xz":
		text, err = xz.NewReader(buffered)
	case kind == "bzip2":
		text = bzip2.NewReader(buffered)
	case kind == "zstd":
		text, err = zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostUnpacked))
	default:
		return buffered, nil
	}
	if err != nil {
		return nil, packedError(err)
	}
	return &unpacked{text: text, packed: in}, nil
}

// Text compresses to 5–20% of its size. A file that uncompresses to more than mostRatio times its size is rejected, if
// it exceeds leastJudged bytes: it was made to exhaust memory. No file may exceed mostUnpacked bytes.
const (
	mostRatio    = 50
	leastJudged  = 16 << 20
	mostUnpacked = 4 << 30
)

// unpacked reads the text of a compressed file.
type unpacked struct {
	text   io.Reader
	packed *counter
	n      int64
}

func (u *unpacked) Read(b []byte) (int, error) {
	switch {
	case u.n > leastJudged && u.n > mostRatio*u.packed.n:
		return 0, fmt.Errorf("it unpacks to more than %d times its size: that is not text", mostRatio)
	case u.n > mostUnpacked:
		return 0, fmt.Errorf("it unpacks to more than %d GiB: unpack it, and name the file that this gives", mostUnpacked>>30)
	}
	n, err := u.text.Read(b)
	u.n += int64(n)
	return n, packedError(err)
}

// counter counts the bytes read through it.
type counter struct {
	from io.Reader
	n    int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.n += int64(n)
	return n, err
}
