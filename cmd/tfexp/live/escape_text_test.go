package live

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain, ünïcode 日本\n\tx":  "plain, ünïcode 日本\n\tx",
		"a\x1b[2Jb\rc\x00\x7f":    `a\x1b[2Jb\rc\x00\x7f`,
		"x\u202ecod\u2066.\u009b": `x\u202ecod\u2066.\u009b`,
		"latin \xe9":              `latin \xe9`,
		"\x1f \x7e\x80\u00a0¡":    "\\x1f ~\\x80\u00a0¡",
		// The first and last character of each escaped range, with their neighbors.
		"\u061b\u061c\u061d":       "\u061b\\u061c\u061d",
		"\u200d\u200e\u200f\u2010": "\u200d\\u200e\\u200f\u2010",
		"\u2027\u2028\u202e\u202f": "\u2027\\u2028\\u202e\u202f",
		"\u2065\u2066\u2069\u206a": "\u2065\\u2066\\u2069\u206a",
	} {
		if got := SafeText(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
		for _, at := range []int{0, 1, len(in) / 2, len(in)} { // the text is split into two writes, also within a rune
			var b strings.Builder
			w := SafeWriter(&b, false)
			for _, part := range []string{in[:at], in[at:], "\n"} {
				if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
					t.Errorf("wrote %d of %q: %v", n, part, err)
				}
			}
			if got := b.String(); got != want+"\n" {
				t.Errorf("%q in two writes: %q, want %q", in, got, want)
			}
		}
	}
	var b strings.Builder
	w := SafeWriter(&b, true)
	w.Write([]byte("\x1b[31mbad\x1b[0m\x1b[31;5m"))
	w.Write([]byte("\u202e")) // with colours, too
	if got, want := strings.TrimSuffix(b.String(), `\u202e`), "\x1b[31mbad\x1b[0m"+`\x1b[31;5m`; got != want {
		t.Errorf("with colours: %q, want %q", got, want)
	}
	b.Reset()
	w = SafeWriter(&b, false)
	if w.Write([]byte("\x1b[31mred")); b.String() != `\x1b[31mred` {
		t.Errorf("without colours: %q", b.String())
	}
}
