package textfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf16"

	"github.com/tfexp/tfexp/scheduler/workload/csvrows"
)

// Text is the same in UTF-8 and in UTF-16 of either order, however it is read, with characters of one and two units.
func TestUnmarked(t *testing.T) {
	const text = "name,größe\n\U0001F600,1\n"
	inUnits := func(order binary.AppendByteOrder, units ...uint16) string {
		var b []byte
		for _, u := range append([]uint16{0xfeff}, units...) {
			b = order.AppendUint16(b, u)
		}
		return string(b)
	}
	all := utf16.Encode([]rune(text))
	for _, c := range []struct{ name, in, want string }{
		{"UTF-8", text, text}, {"UTF-8 with a mark", "\ufeff" + text, text}, {"nothing", "", ""}, {"one byte", "a", "a"},
		{"little end first", inUnits(binary.LittleEndian, all...), text},
		{"big end first", inUnits(binary.BigEndian, all...), text},
		{"a mark within", inUnits(binary.BigEndian, 'a', 0xfeff, 'b'), "a\ufeffb"},
		{"half a character", inUnits(binary.BigEndian, 'a', 0xd83d), "a\ufffd"},
		{"half a character before another", inUnits(binary.BigEndian, 0xd83d, 'b'), "\ufffdb"},
		{"the other half", inUnits(binary.LittleEndian, 0xde00, 'b'), "\ufffdb"},
		{"half a unit at the end", inUnits(binary.LittleEndian, 'a', 'b') + "c", "ab\ufffd"},
	} {
		for name, in := range map[string]io.Reader{
			"whole": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in)),
		} {
			if got, err := io.ReadAll(Unmarked(in)); string(got) != c.want || err != nil {
				t.Errorf("%s, %s: %q, %v; want %q", c.name, name, got, err, c.want)
			}
		}
		var got []byte
		for r, b := Unmarked(strings.NewReader(c.in)), make([]byte, 1); ; { // into the least room
			n, err := r.Read(b)
			got = append(got, b[:n]...)
			if err != nil {
				break
			}
		}
		if string(got) != c.want {
			t.Errorf("%s, into one byte: %q, want %q", c.name, got, c.want)
		}
	}
	broken := errors.New("broken")
	in := io.MultiReader(strings.NewReader(inUnits(binary.LittleEndian, 'a')), iotest.ErrReader(broken))
	if got, err := io.ReadAll(Unmarked(in)); string(got) != "a" || !errors.Is(err, broken) {
		t.Errorf("%q, %v, of a file that breaks behind an a", got, err)
	}
}

// rows reads a table into a text: its columns, then each row with its line.
func rows(tb Table, text string, lenient bool) (out string, skipped []error, err error) {
	skipped, err = tb.EachRow("f", strings.NewReader(text), lenient, func(columns []string) error {
		out = strings.Join(columns, "|")
		return nil
	}, func(line int, fields []string) error {
		out += fmt.Sprintf(" %d:%s", line, strings.Join(fields, "|"))
		if fields[0] == "bad" {
			return errors.New("it is bad")
		}
		return nil
	})
	return out, skipped, err
}

// Tables are written in many ways.
func TestTables(t *testing.T) {
	heads := func(row []string) bool { return slices.Contains(row, "a") }
	titles := strings.Repeat("title\n", MostTitles-1)
	for _, c := range []struct {
		name       string
		table      Table
		text, want string
		wrong      string // part of the error; "" for none
	}{
		{"plain", Table{}, "a,b\n1,2\n", "a|b 2:1|2", ""},
		{"no rows", Table{}, "a,b\n", "a|b", ""},
		{"nothing", Table{}, "", "", "f:1: the file is empty"},
		{"named", Table{Names: []string{"a", "b"}}, "1,2\n3,4\n", "a|b 1:1|2 2:3|4", ""},
		{"nothing, named", Table{Names: []string{"a"}}, "", "a", ""},
		{"semicolons", Table{Separator: ';'}, "a;b\n1,5;2\n", "a|b 2:1,5|2", ""},
		{"remarks", Table{Remarks: true}, "# it\na,b\n#1,2\n3,4\n", "a|b 4:3|4", ""},
		{"no remarks", Table{}, "a,b\n#1,2\n", "a|b 2:#1|2", ""},
		{"between #", Table{Separator: '#', Remarks: true}, "a#b\n1#2\n", "a|b 2:1|2", ""},
		{"quotes within a strict one", Table{}, "a,b\nx\"y,2\n1,2\n", "a|b 3:1|2", "f:2: bare"},
		{"columns without names at the end", Table{}, "a,b,, \n1,2,,\n3,4\n", "a|b 2:1|2 3:3|4", ""},
		{"no names at all", Table{}, ",\n", "", ""},
		{"empty fields within", Table{}, "a,b\n,2\n1,\n", "a|b 2:|2 3:1|", ""},
		{"too many", Table{}, "a,b\n1,2,3\n", "a|b", "f:2: the row has 3 fields instead of 2"},
		{"too many, one of them empty", Table{}, "a,b\n1,2,3,\n", "a|b", "f:2: the row has 3 fields instead of 2"},
		{"too few", Table{}, "a,b\n1\n", "a|b", "f:2: the row has 1 fields instead of 2"},
		{"titles", Table{Heads: heads}, "My table\n\na,b\n1,2\n", "a|b 4:1|2", ""},
		{"as many titles as may be", Table{Heads: heads}, titles + "a,b\n1,2\n", fmt.Sprintf("a|b %d:1|2", MostTitles+1), ""},
		{"a broken title", Table{Heads: heads}, "first\n\"x\"y\na,b\n1,2\n", "a|b 4:1|2", ""},
		{"a broken first line", Table{Heads: heads}, "\"x\"y\na,b\n1,2\n", "", "f:1: "},
		{"no row that names the columns", Table{Heads: heads}, "x,y\n1,2\n", "x|y", ""},
		{"a malformed row", Table{}, "a,b\nbad,2\n3,4\n", "a|b 2:bad|2 3:3|4", "f:2: it is bad"},
	} {
		got, _, err := rows(c.table, c.text, false)
		if got != c.want || (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %q, %v; want %q, %q", c.name, got, err, c.want, c.wrong)
		}
	}
	many := "a\n" + strings.Repeat("bad\n", MaxErrors+5)
	if got, skipped, err := rows(Table{}, many, false); len(skipped) > 0 || strings.Count(got, "bad") != MaxErrors ||
		strings.Count(err.Error(), "it is bad") != MaxErrors {
		t.Errorf("a reader gives up after %q, %v", got, err)
	}
	if _, skipped, err := rows(Table{}, many, true); len(skipped) != MaxErrors+5 || err != nil {
		t.Errorf("a lenient reader skips %d, %v", len(skipped), err)
	}
}

// Rows of the maximum length are read, and rows that are one byte longer are refused, also if they extend over several
// lines.
func TestBoundRows(t *testing.T) {
	const head = "a\n"
	for _, c := range []struct {
		row  string
		line int // of the error; 0 for none
	}{
		{strings.Repeat("x", csvrows.MostLine) + "\n", 0},
		{strings.Repeat("x", csvrows.MostLine+1) + "\n", 2},
		{`"` + strings.Repeat("\n", csvrows.MostLine-2) + "\"\n", 0},
		{"1\n" + `"` + strings.Repeat("\n", csvrows.MostLine-1) + "\"\n", 3},
	} {
		_, err := EachRow("f", strings.NewReader(head+c.row), false, func([]string) error { return nil }, func(int, []string) error { return nil })
		var at *LineError
		if (c.line == 0) != (err == nil) || err != nil && (!errors.As(err, &at) || at.Line != c.line) {
			t.Errorf("%d bytes: %v, want one at line %d", len(c.row), err, c.line)
		}
	}
}

// An error while reading a table is reported, so that its first part is not taken for the whole table.
func TestBrokenFiles(t *testing.T) {
	broken := errors.New("broken")
	in := func() io.Reader { return io.MultiReader(strings.NewReader("a\n1\n2"), iotest.ErrReader(broken)) }
	if _, err := EachRow("f", in(), true, func([]string) error { return nil }, func(int, []string) error { return nil }); !errors.Is(err, broken) {
		t.Errorf("rows: %v", err)
	}
	if _, err := EachLine("f", in(), true, func(int, string) error { return nil }); !errors.Is(err, broken) {
		t.Errorf("lines: %v", err)
	}
	of := func(n int) (skipped []error, err error) {
		return EachLine("f", strings.NewReader(strings.Repeat("x\n", n)), n%2 == 0, func(int, string) error { return errors.New("bad") })
	}
	if _, err := of(MaxErrors + 1); strings.Count(err.Error(), "bad") != MaxErrors {
		t.Errorf("a reader of lines gives up after %v", err)
	}
	if skipped, err := of(MaxErrors + 2); len(skipped) != MaxErrors+2 || err != nil || skipped[1].Error() != "f:2: bad" {
		t.Errorf("a lenient reader of lines skips %v, %v", skipped, err)
	}
}

// Times have units, and milliseconds since 1970 more digits than a float has.
func TestParseTime(t *testing.T) {
	for _, c := range []struct {
		text string
		unit time.Duration
		want time.Duration
		ok   bool
	}{
		{"2", time.Minute, 2 * time.Minute, true}, {"1.5", time.Minute, 90 * time.Second, true}, {"1.5", 0, 1500 * time.Millisecond, true},
		{"-1.5", 0, -1500 * time.Millisecond, true}, {"1e3", 0, 1000 * time.Second, true}, {"", 0, 0, false},
		{"9223372036.9", 0, 0, false}, {"-1e10", 0, 0, false},
		{"1700000000123.456789", time.Millisecond, 1700000000123456789, true},
		{"1700000000123.0000004", time.Millisecond, 1700000000123000000, true},
		{"9223372036852.7", time.Millisecond, 9223372036852700000, true}, {"9223372036855.7", time.Millisecond, 0, false},
		{"4294967296.000000001", time.Hour, 0, false}, {"1e3.5", time.Millisecond, 0, false},
	} {
		got, err := ParseTime(c.text, c.unit)
		if (err == nil) != c.ok || err == nil && got != c.want {
			t.Errorf("%q of %s: %d, %v; want %d", c.text, c.unit, got, err, c.want)
		}
	}
	for _, d := range []time.Duration{0, 1, time.Second - 1, time.Second, 90*time.Second + 7} {
		if got, ok := ParseSeconds(Seconds(d)); got != d || !ok {
			t.Errorf("%s is written %s, which is read %s, %v", d, Seconds(d), got, ok)
		}
	}
}
