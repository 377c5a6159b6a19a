package editor_test

import (
	"strings"
	"testing"

	"github.com/tfexp/tfexp/cmd/tfexp/editor"
)

// If an editor's text is too deep or too large to be parsed, the server has no answers about it.
func TestWhatIsTooLarge(t *testing.T) {
	const job = "job \"a\" {}\n"
	for _, c := range []struct {
		what, more string
		want       int
	}{
		{"a small file", "", 1},
		{"brackets", "locals {\n  a = " + strings.Repeat("[", 500_000), 0},
		{"a large file", strings.Repeat("# a comment\n", 400_000), 0},
	} {
		if got := editor.Definitions([]byte(job + c.more)); len(got) != c.want {
			t.Errorf("%s: %d definitions, want %d", c.what, len(got), c.want)
		}
	}
}
