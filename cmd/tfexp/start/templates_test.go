package start

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"
)

func TestPrintable(t *testing.T) {
	for text, want := range map[string]bool{"": true, "größe 2": true, "a\nb": false, "\x1b[2J": false, "\xff": false} {
		if got := printable(text); got != want {
			t.Errorf("%q is printable: %t", text, got)
		}
	}
}

// At a terminal, the user is asked what to compare, and asked again after a wrong answer. Without a terminal, there is
// no question.
func TestAsks(t *testing.T) {
	p := InspectProgram("train.py", []byte("parser.add_argument(\"--lr\", type=float, default=0.1)\n"))
	for _, c := range []struct{ typed, want string }{
		{"\n", ownProgram}, {"1\n", ownProgram}, {"2\n", threads}, {"x\n3\n", tuneSettings}, {"9\n4\n", timeToLoss}, {"", ownProgram},
	} {
		var asked bytes.Buffer
		o := initOptions{answers: bufio.NewReader(strings.NewReader(c.typed)), asked: &asked}
		if got := o.ask(p); got != c.want {
			t.Errorf("%q: %s, want %s", c.typed, got, c.want)
		}
		if !strings.Contains(asked.String(), "which of lr give the best result") {
			t.Errorf("it asked %q", asked.String())
		}
	}
	if got := (&initOptions{}).ask(p); got != ownProgram {
		t.Errorf("without a terminal: %s", got)
	}
	plain := initOptions{answers: bufio.NewReader(strings.NewReader("3\n2\n")), asked: io.Discard}
	if got := plain.ask(InspectProgram("train.py", nil)); got != threads {
		t.Errorf("a program without settings: %s", got)
	}
}
