// This file prints text from untrusted sources safely: names, logs, and results of other users.

package live

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"
)

// SafeText returns a text that cannot move the cursor, change the terminal or reverse the direction of later text. It
// escapes control characters except newline and tab, bytes that are not UTF-8, and bidirectional marks, as Go's string
// literals do.
func SafeText(text string) string {
	var out []byte
	begun := 0 // text[begun:i] needs no escaping
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if safePlain(r, size) {
			i += size
			continue
		}
		out = appendEscaped(append(out, text[begun:i]...), r, text[i:i+size])
		i += size
		begun = i
	}
	if out == nil {
		return text
	}
	return string(append(out, text[begun:]...))
}

// safePlain reports whether a rune of size bytes is printed without escaping.
func safePlain(r rune, size int) bool {
	switch {
	case r == utf8.RuneError && size == 1:
		return false
	case r == '\n' || r == '\t':
		return true
	case r < 0x20 || r >= 0x7f && r < 0xa0: // C0, DEL and C1
		return false
	case r == 0x61c || r == 0x200e || r == 0x200f, // marks of direction
		r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // separators; embeddings, overrides and isolates
		return false
	}
	return true
}

const hex = "0123456789abcdef"

func appendEscaped(b []byte, r rune, raw string) []byte {
	switch {
	case r == '\r':
		return append(b, `\r`...)
	case r == utf8.RuneError || r < 0x80:
		return append(b, '\\', 'x', hex[raw[0]>>4], hex[raw[0]&15]) // a log may have millions of these
	}
	return fmt.Appendf(b, `\u%04x`, r)
}

// own are the control sequences that tfexp itself prints (ECMA-48): bold, dim, red, green, yellow and reset.
var own = [][]byte{
	[]byte("\x1b[0m"), []byte("\x1b[1m"), []byte("\x1b[2m"), []byte("\x1b[31m"), []byte("\x1b[32m"), []byte("\x1b[33m"),
}

// SafeWriter returns a writer that escapes text as SafeText does and passes it to w. With color, it keeps tfexp's own
// color sequences.
func SafeWriter(w io.Writer, color bool) io.Writer { return &writer{w: w, color: color} }

type writer struct {
	w     io.Writer
	color bool
	rest  []byte // an incomplete rune or control sequence at the end of the last write
}

// Unwrap returns the writer that s writes to.
func (s *writer) Unwrap() io.Writer { return s.w }

// Write implements io.Writer. A rune may be split between two calls.
func (s *writer) Write(p []byte) (int, error) {
	in := p
	if len(s.rest) > 0 {
		in = append(s.rest, p...)
		s.rest = nil
	}
	out := make([]byte, 0, len(in)+16)
	for len(in) > 0 {
		if n := s.ownAt(in); n > 0 {
			out, in = append(out, in[:n]...), in[n:]
			continue
		}
		if !utf8.FullRune(in) {
			s.rest = bytes.Clone(in)
			break
		}
		r, size := utf8.DecodeRune(in)
		if safePlain(r, size) {
			out = append(out, in[:size]...)
		} else {
			out = appendEscaped(out, r, string(in[:size]))
		}
		in = in[size:]
	}
	if _, err := s.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ownAt returns the length of tfexp's own control sequence at the beginning of b; 0 if b begins with something else.
func (s *writer) ownAt(b []byte) int {
	if !s.color || b[0] != '\x1b' {
		return 0
	}
	for _, o := range own {
		if bytes.HasPrefix(b, o) {
			return len(o)
		}
	}
	return 0
}
