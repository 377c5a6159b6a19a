package start

import "testing"

func TestPrintable(t *testing.T) {
	for text, want := range map[string]bool{"": true, "größe 2": true, "a\nb": false, "\x1b[2J": false, "\xff": false} {
		if got := printable(text); got != want {
			t.Errorf("%q is printable: %t", text, got)
		}
	}
}
