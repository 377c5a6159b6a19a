package external

import (
	"strings"
	"sync"
)

// stderrTail keeps the end of the text that is written to it.
type stderrTail struct {
	mu   sync.Mutex // guards the fields below
	text []byte
	lost int
}

func (t *stderrTail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - maxTail; over > maxTail {
		t.text, t.lost = append(t.text[:0], t.text[over:]...), t.lost+over
	}
	return len(b), nil
}

// lastLines returns the last lines.
func (t *stderrTail) lastLines(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimRight(strings.ToValidUTF8(string(t.text), "?"), "\n "), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
