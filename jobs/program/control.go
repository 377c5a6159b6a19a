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

// settled is the age of a file after which another version surely has another modification time. Some file systems
// store only whole seconds, others some milliseconds.
const settled = 3 * time.Second

// MessageID identifies the requests of a message. Messages with the same serial have the same requests. A message
// without a serial has new requests.
type MessageID struct {
	Serial  int64
	Written int64 // nanoseconds; 0 if the message has a serial
}

// IDOf returns the ID of a message's requests.
func IDOf(m contract.Message) MessageID {
	if m.Serial != 0 {
		return MessageID{Serial: m.Serial}
	}
	return MessageID{Written: m.Written.UnixNano()}
}

// Threads returns the thread pools in a message; ok is false if it has none.
func Threads(m contract.Message) (a contract.Allotment, ok bool) {
	switch {
	case m.Intra > 0:
		return contract.Allotment{Inter: max(m.Inter, 1), Intra: m.Intra}, true
	case m.Allotment > 0:
		return contract.Allotment{Inter: 1, Intra: m.Allotment}, true
	}
	return contract.Allotment{}, false
}

// Control reads a control file repeatedly. A program calls Read between steps; a call costs one stat, except after the
// file has changed.
type Control struct {
	path  string
	seen  fs.FileInfo      // the version that was read last
	fresh bool             // whether that version was too young to be distinguished from the next
	text  []byte           // content of that version
	last  contract.Message // the last readable message
}

// NewControl returns a reader of the control file at path, which need not exist yet.
func NewControl(path string) *Control { return &Control{path: path} }

// Read returns the message in the file, and whether the file was written since the last Read; the first Read always
// returns true. After an error, it returns the last readable message, and the next Read tries again.
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

// maxControl is the largest size of a control file, in bytes.
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

// parseMessage parses both forms of the file.
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

// check returns an error if a value in a message is out of range.
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
