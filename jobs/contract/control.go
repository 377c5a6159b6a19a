package contract

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// settled is the age from which a file's modification time tells it apart
// from a later version: file systems stamp no finer than a few milliseconds,
// some only seconds.
const settled = 3 * time.Second

// Control watches a control file: "inter intra" in decimal, the job's present
// allotment. A program asks at its step boundaries; that costs one stat call
// unless the file has just changed.
type Control struct {
	path  string
	seen  fs.FileInfo // of the version that was read last
	fresh bool        // that version was too young to be told from the next
	last  Allotment   // what it said; zero before the first
}

// NewControl watches the file at path, which need not exist yet.
func NewControl(path string) *Control { return &Control{path: path} }

// Read returns the allotment in the file, and whether it is another than at
// the last Read (the first one counts as another). After an error the
// allotment is the last one that could be read, and the next Read looks again.
func (c *Control) Read() (Allotment, bool, error) {
	st, err := os.Stat(c.path)
	if err != nil {
		c.seen = nil
		return c.last, false, fmt.Errorf("read control file: %w", err)
	}
	if c.seen != nil && !c.fresh && os.SameFile(st, c.seen) &&
		st.ModTime().Equal(c.seen.ModTime()) && st.Size() == c.seen.Size() {
		return c.last, false, nil
	}
	now := time.Now()
	a, err := readControl(c.path)
	if err != nil {
		c.seen = nil
		return c.last, false, err
	}
	changed := a != c.last
	c.seen, c.fresh, c.last = st, now.Sub(st.ModTime()) < settled, a
	return a, changed, nil
}

func readControl(path string) (Allotment, error) {
	f, err := os.Open(path)
	if err != nil {
		return Allotment{}, fmt.Errorf("read control file: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 64))
	if err != nil {
		return Allotment{}, fmt.Errorf("read control file: %w", err)
	}
	var a Allotment
	var rest string
	if n, _ := fmt.Sscan(string(text), &a.Inter, &a.Intra, &rest); n != 2 || a.Inter < 1 || a.Intra < 1 {
		return Allotment{}, fmt.Errorf("read control file %s: %q is not two whole numbers of at least 1", path, text)
	}
	return a, nil
}

// WriteControl puts an allotment into the control file at path. Readers see
// the old content or the new one, never a part. It is not forced to the disk:
// after a crash of the machine no job is left to read it.
func WriteControl(path string, a Allotment) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write control file: %w", err)
	}
	_, err = fmt.Fprintf(f, "%d %d\n", a.Inter, a.Intra)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write control file: %w", err)
	}
	return nil
}
