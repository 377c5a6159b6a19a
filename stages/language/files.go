package language

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages/experiment"
)

// MaxSeconds keeps run times, and sums of many of them, within 64 bits of
// nanoseconds.
const MaxSeconds = 1e8

// Input is a file that an experiment reads.
type Input struct {
	Path  string // absolute
	Shown string // in messages
}

// Finder finds the files that an experiment file names.
type Finder struct {
	*eval.Reporter
	// Filename is the experiment file, and Dir its folder, absolute.
	Filename, Dir string
	// Named are the paths that the file names, absolute; nil: they are not kept.
	Named *[]string
}

// Absolute makes a path of the file absolute.
func (d Finder) Absolute(p string) string {
	if !filepath.IsAbs(p) {
		p = filepath.Join(d.Dir, p)
	}
	p = filepath.Clean(p)
	if d.Named != nil {
		*d.Named = schema.AddOnce(*d.Named, p)
	}
	return p
}

// Find finds a file by its name in the experiment.
func (d Finder) Find(name string) Input {
	if filepath.IsAbs(name) {
		return Input{Path: d.Absolute(name), Shown: name}
	}
	return Input{Path: d.Absolute(name), Shown: filepath.Join(filepath.Dir(d.Filename), name)}
}

// ReadFile has a file read, unpacked, and returns the digest of its content. It must be a regular file: a pipe may never
// end, and a device need not.
func ReadFile(s Input, read func(io.Reader) error) (digest string, err error) {
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
	if _, err := io.Copy(io.Discard, all); err != nil { // the rest after the reader
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// openRegular opens a regular file.
func openRegular(s Input) (*folder.File, error) {
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

// unpack reads through gzip, bzip2, xz and zstd, which the file's first bytes show.
func unpack(name string, r io.Reader) (io.Reader, error) {
	in := &counter{from: r}
	buffered := bufio.NewReader(in)
	head, _ := buffered.Peek(len("\xfd7zXZ\x00")) // an error comes again when it is read
	var text io.Reader
	var err error
	switch kind := packingOf(head); {
	case kind == "gzip":
		text, err = gzip.NewReader(buffered)
	case filepath.Ext(name) == ".tgz", filepath.Ext(name) == ".gz" && (kind == "" || kind == "zip"):
		return nil, errors.New("it is not packed with gzip, as its name says")
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

// Text packs to a fifth or a twentieth. A file that unpacks to more than mostRatio times its size, beyond leastJudged
// bytes, was made to be large. No file may unpack to more than mostUnpacked.
const (
	mostRatio    = 50
	leastJudged  = 16 << 20
	mostUnpacked = 4 << 30
)

// unpacked reads the text of a packed file.
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

// counter counts the bytes that are read.
type counter struct {
	from io.Reader
	n    int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.n += int64(n)
	return n, err
}

// FileErrors reports the errors of a file: each malformed line at its place.
func (d Finder) FileErrors(t Input, at hcl.Range, err error) { d.fileErrors(t, at, err, "") }

// TraceErrors is FileErrors for a file whose malformed lines may be left out, which it says.
func (d Finder) TraceErrors(t Input, at hcl.Range, err error) {
	d.fileErrors(t, at, err, " --lenient leaves such lines out.")
}

func (d Finder) fileErrors(t Input, at hcl.Range, err error, hint string) {
	lines := experiment.LineErrors(err)
	var wanted []int
	kinds := map[string]int{} // how many lines are wrong in the same way
	for _, l := range lines {
		wanted = append(wanted, l.Line)
		kinds[experiment.KindOf(l.Err)]++
	}
	shown := linesOf(t, wanted...)
	for i, l := range lines {
		kind := experiment.KindOf(l.Err)
		others := kinds[kind] - 1
		switch {
		case others < 0:
			continue // reported with the first of its kind
		case others < mostAlike:
			others = 0
		default:
			kinds[kind] = 0
		}
		detail := Sentence(l.Err.Error())
		if others > 0 {
			detail += fmt.Sprintf(" %d more lines are wrong in the same way.", others)
		}
		if i == 0 && l.Line > 1 {
			detail += hint
		}
		if i == 0 && len(lines) >= workload.MaxErrors {
			detail += fmt.Sprintf(" Reading stopped at line %d; there may be more.", lines[len(lines)-1].Line)
		}
		d.atLine(t, l.Line, shown[l.Line], "Malformed line", detail)
	}
	switch {
	case len(lines) > 0:
	case errors.Is(err, fs.ErrNotExist):
		d.Errorf(at, "Cannot read the file", "There is no file %s.", t.Shown)
	default:
		d.Errorf(at, "Cannot read the file", "%s", Sentence(err.Error()))
	}
}

// mostAlike is how many lines that are wrong in the same way are shown, each for itself.
const mostAlike = 3

// Sentence makes a Sentence of a phrase.
func Sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

// LineError reports an error at a line of a file, which is read again to show it.
func (d Finder) LineError(t Input, line int, summary, detail string) {
	d.atLine(t, line, linesOf(t, line)[line], summary, detail)
}

func (d Finder) atLine(t Input, line int, l shownLine, summary, detail string) {
	at := experiments.Range{
		File:  t.Shown,
		Start: experiments.Pos{Line: line, Column: 1, Byte: l.from},
		End:   experiments.Pos{Line: line, Column: 1 + len(l.text), Byte: l.from + len(l.text)},
	}
	e := experiments.ErrorAt(at, summary, "%s", detail)
	within := at
	within.Start.Byte, within.End.Byte = 0, len(l.text)
	if l.there {
		e.Snippet = experiments.SnippetOf(l.text, within, "")
	}
	d.Add(e)
}

// shownLine is a line of a file, or as much of it as is shown, and where it begins.
type shownLine struct {
	from  int
	text  []byte
	there bool
}

// mostShown is how many bytes of a line are kept: messages show less.
const mostShown = 4 << 10

// linesOf reads some lines of a file, by number. Those that can no longer be read are left out, which costs
// their messages the snippet alone.
func linesOf(t Input, wanted ...int) map[int]shownLine {
	found := map[int]shownLine{}
	f, err := openRegular(t)
	if err != nil {
		return found
	}
	defer f.Close()
	text, err := unpack(t.Path, f)
	if err != nil {
		return found
	}
	last := slices.Max(append(wanted, 0))
	in := bufio.NewReaderSize(workload.Unmarked(text), 64<<10)
	at := 0
	for line := 1; line <= last; line++ {
		l := shownLine{from: at, there: true}
		keep := slices.Contains(wanted, line)
		for more := true; more; {
			part, err := in.ReadSlice('\n')
			more = errors.Is(err, bufio.ErrBufferFull)
			at += len(part)
			if keep {
				l.text = append(l.text, part[:min(len(part), mostShown-len(l.text))]...)
			}
			if more && keep && line == last { // the rest of it is not needed
				break
			}
			if err != nil && !more {
				last = line
			}
		}
		if keep {
			l.text = bytes.TrimRight(l.text, "\r\n")
			found[line] = l
		}
	}
	return found
}
