package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/folder"
)

// settled is the age from which a file's modification time distinguishes it
// from a later version: file systems stamp no finer than a few milliseconds,
// some only seconds.
const settled = 3 * time.Second

// MessageID identifies the requests of a message. Two messages with the same
// serial carry the same requests. A message without a serial carries new
// requests.
type MessageID struct {
	Serial  int64
	Written int64 // in nanoseconds; 0 where there is a serial
}

// IDOf identifies the requests of a message.
func IDOf(m contract.Message) MessageID {
	if m.Serial != 0 {
		return MessageID{Serial: m.Serial}
	}
	return MessageID{Written: m.Written.UnixNano()}
}

// Threads is the allotment in a message, where it has one.
func Threads(m contract.Message) (a contract.Allotment, ok bool) {
	switch {
	case m.Intra > 0:
		return contract.Allotment{Inter: max(m.Inter, 1), Intra: m.Intra}, true
	case m.Allotment > 0:
		return contract.Allotment{Inter: 1, Intra: m.Allotment}, true
	}
	return contract.Allotment{}, false
}

// Control watches a control file. A program asks at its step boundaries; that
// costs one stat call unless the file has just changed.
type Control struct {
	path  string
	seen  fs.FileInfo      // of the version that was read last
	fresh bool             // that version was too young to be distinguished from the next
	text  []byte           // of that version
	last  contract.Message // the last one that could be read
}

// NewControl returns a reader of the file at path, which need not exist yet.
func NewControl(path string) *Control { return &Control{path: path} }

// Read returns the message in the file, and reports whether it has been written
// since the last Read (the first one counts). After an error the message is the
// last readable one, and the next Read tries again.
func (c *Control) Read() (contract.Message, bool, error) {
	st, err := os.Stat(c.path)
	if err != nil {
		c.seen = nil
		return c.last, false, fmt.Errorf("read control file: %w", err)
	}
	same := c.seen != nil && os.SameFile(st, c.seen) && st.ModTime().Equal(c.seen.ModTime()) && st.Size() == c.seen.Size()
	if same && !c.fresh {
		return c.last, false, nil
	}
	now := time.Now()
	text, st, err := readFile(c.path)
	if err == nil && same && bytes.Equal(text, c.text) {
		c.fresh = now.Sub(st.ModTime()) < settled
		return c.last, false, nil
	}
	var m contract.Message
	if err == nil {
		m, err = parseMessage(text)
	}
	if err != nil {
		c.seen = nil
		return c.last, false, fmt.Errorf("read control file %s: %w", c.path, err)
	}
	m.Written = st.ModTime()
	c.seen, c.fresh, c.text, c.last = st, now.Sub(st.ModTime()) < settled, text, m
	return m, true, nil
}

// maxControl bounds the size of a control file, in bytes.
const maxControl = 64 << 10

func readFile(path string) ([]byte, fs.FileInfo, error) {
	f, err := folder.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxControl+1))
	if err == nil && len(text) > maxControl {
		err = fmt.Errorf("it is larger than %d bytes", maxControl)
	}
	return text, st, err
}

// parseMessage reads both forms of the file.
func parseMessage(text []byte) (contract.Message, error) {
	var m contract.Message
	if text := bytes.TrimSpace(text); len(text) == 0 || text[0] != '{' {
		var rest string
		n, _ := fmt.Sscan(string(text), &m.Inter, &m.Intra, &rest)
		if n != 2 || m.Inter < 1 || m.Intra < 1 {
			return contract.Message{}, fmt.Errorf("%.80q is neither a JSON object nor two whole numbers of at least 1", text)
		}
		return m, nil
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return contract.Message{}, err
	}
	return m, check(m)
}

// check reports values of a message that are out of range.
func check(m contract.Message) error {
	for _, n := range []struct {
		name  string
		value int
	}{{"inter", m.Inter}, {"intra", m.Intra}, {"allotment", m.Allotment}} {
		if n.value < 0 {
			return fmt.Errorf("%s is %d, want at least 1", n.name, n.value)
		}
	}
	for _, s := range []struct {
		name  string
		value *float64
	}{{"budget", m.Budget}, {"time_left", m.TimeLeft}, {"warning", m.Warning}} {
		if s.value != nil && *s.value < 0 {
			return fmt.Errorf("%s is %g, want at least 0", s.name, *s.value)
		}
	}
	if m.Change != "" && m.Change != "up" && m.Change != "down" {
		return fmt.Errorf("change is %q, want up or down", m.Change)
	}
	if m.Serial < 0 {
		return errors.New("serial is negative")
	}
	return nil
}
