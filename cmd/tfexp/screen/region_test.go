package screen

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// screen implements the functions of a terminal that the region uses.
type screen struct {
	width    int
	rows     [][]rune
	row, col int
	cursor   bool
	writes   int
}

func newScreen(width int) *screen { return &screen{width: width, cursor: true} }

func (s *screen) Write(p []byte) (int, error) {
	s.writes++
	for text := string(p); text != ""; {
		r, n := utf8.DecodeRuneInString(text)
		if r == '\x1b' {
			end := strings.IndexFunc(text[2:], func(r rune) bool { return r >= '@' && r <= '~' }) + 2
			s.control(text[2:end], text[end])
			text = text[end+1:]
			continue
		}
		text = text[n:]
		switch r {
		case '\r':
			s.col = 0
		case '\n':
			s.row++
		default:
			s.put(r)
		}
	}
	return len(p), nil
}

func (s *screen) put(r rune) {
	if s.col == s.width {
		s.row, s.col = s.row+1, 0
	}
	s.grow()
	for len(s.rows[s.row]) <= s.col {
		s.rows[s.row] = append(s.rows[s.row], ' ')
	}
	s.rows[s.row][s.col] = r
	s.col++
}

func (s *screen) grow() {
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, nil)
	}
}

func (s *screen) control(args string, final byte) {
	s.grow()
	switch final {
	case 'A':
		n := 1
		fmt.Sscan(args, &n)
		s.row = max(0, s.row-n)
	case 'K':
		s.rows[s.row] = s.rows[s.row][:min(s.col, len(s.rows[s.row]))]
	case 'J':
		s.rows = s.rows[:s.row+1]
		s.rows[s.row] = s.rows[s.row][:min(s.col, len(s.rows[s.row]))]
	case 'h', 'l':
		if args == "?25" {
			s.cursor = final == 'h'
		}
	case 'm':
	default:
		panic("unknown control sequence " + args + string(final))
	}
}

func (s *screen) String() string {
	var b strings.Builder
	for _, r := range s.rows {
		b.WriteString(strings.TrimRight(string(r), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func text(lines ...string) []line {
	out := make([]line, len(lines))
	for i, l := range lines {
		out[i] = line{mark: "▸", text: l}
	}
	return out
}

func TestRegionIsRedrawnInPlace(t *testing.T) {
	s := newScreen(40)
	r := region{w: s, size: func() (int, int) { return 40, 10 }}
	r.draw(text("one", "two", "three"))
	if s.cursor {
		t.Error("the cursor is still shown while the region is redrawn")
	}
	r.draw(text("ONE"))
	r.above("a warning that stays")
	r.draw(text("one", "two"))
	r.close()
	if got, want := s.String(), "a warning that stays\n▸ one\n▸ two"; got != want {
		t.Errorf("screen:\n%s\nwant:\n%s", got, want)
	}
	if !s.cursor {
		t.Error("the cursor was not given back")
	}
	if s.row != 3 || s.col != 0 {
		t.Errorf("cursor at row %d column %d, want below the region", s.row, s.col)
	}
}

func TestRegionThatLooksTheSameIsNotWritten(t *testing.T) {
	s := newScreen(40)
	r := region{w: s, size: func() (int, int) { return 40, 10 }}
	r.draw(text("one"))
	before := s.writes
	r.draw(text("one"))
	if s.writes != before {
		t.Error("an unchanged region was written again")
	}
}

// For any content, each row is narrower than the terminal, the region is not higher than the terminal, and messages
// stay above the region in their order.
func TestRegionKeepsWithinTheTerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(5, 60).Draw(t, "width")
		height := rapid.IntRange(2, 8).Draw(t, "height")
		s := newScreen(width)
		r := region{w: s, size: func() (int, int) { return width, height }}
		var said, last []string
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "say") {
				note := fmt.Sprintf("n%d", len(said))
				r.above(note)
				said = append(said, note)
			}
			last = rapid.SliceOfN(rapid.StringMatching(`[a-zé]{1,80}`), 1, 12).Draw(t, "lines")
			r.draw(text(last...))
		}
		r.close()
		rows := strings.Split(s.String(), "\n")
		region := min(len(last), height-1)
		if len(rows) != len(said)+region {
			t.Fatalf("%d rows on the screen, want %d:\n%s", len(rows), len(said)+region, s)
		}
		for i, row := range rows {
			if utf8.RuneCountInString(row) >= width {
				t.Errorf("row %q fills a terminal of %d columns", row, width)
			}
			if i < len(said) && row != said[i] {
				t.Errorf("row %d is %q, want %q", i, row, said[i])
			}
		}
	})
}

// A terminal that becomes narrower wraps its rows again; the next drawing must
// begin above all of them.
func TestRegionAfterTheTerminalBecameNarrower(t *testing.T) {
	s := newScreen(30)
	width := 30
	r := region{w: s, size: func() (int, int) { return width, 10 }}
	r.draw(text("a row of twenty-four col", "short"))
	width, s.width = 15, 15
	s.rows = [][]rune{[]rune("▸ a row of twen"), []rune("ty-four col"), []rune("▸ short")}
	s.row, s.col = 3, 0
	r.draw(text("new"))
	if got := s.String(); got != "▸ new" {
		t.Errorf("screen:\n%s", got)
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 10, "short"}, {"exactly", 7, "exactly"}, {"too long", 4, "too…"},
		{"größer", 4, "grö…"}, {"x", 0, ""}, {"", 0, ""}, {"xy", 1, "…"},
	} {
		if got := cut(c.in, c.width); got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}
