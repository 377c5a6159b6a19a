package table

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfexp/tfexp/results/folder"
)

// every has a field for each kind of column.
type every struct {
	Text string  `csv:"text"`
	N    int     `csv:"n"`
	At   float64 `csv:"at_s,time"`
	X    float64 `csv:"x"`
	P    float64 `csv:"p,precise"`
	Yes  bool    `csv:"yes"`
}

var everyTable = NewSchema[every]("x.csv", nil)

// everyRows has rows, their lines in CSV, and their objects in JSON.
var everyRows = []struct {
	row       every
	csv, json string
}{
	{every{Text: "a, \"b\"\n<c>", N: -3, At: 0, X: -1.5, P: 0.00001234567, Yes: true},
		"\"a, \"\"b\"\"\n<c>\",-3,0.000000,-1.500000,1.23457e-05,true",
		`{"text":"a, \"b\"\n\u003cc\u003e","n":-3,"at_s":0.000000,"x":-1.500000,"p":1.23457e-05,"yes":true}`},
	{every{At: -1, X: math.NaN(), P: math.Inf(1)}, ",0,,,,false",
		`{"text":"","n":0,"at_s":null,"x":null,"p":null,"yes":false}`},
	{every{Text: "null", At: math.NaN(), X: math.Inf(-1), P: math.NaN()}, "null,0,,,,false",
		`{"text":"null","n":0,"at_s":null,"x":null,"p":null,"yes":false}`},
	{every{Text: "7", N: 7, At: 12.5, X: 0.25, P: 0.5}, "7,7,12.500000,0.250000,0.5,false",
		`{"text":"7","n":7,"at_s":12.500000,"x":0.250000,"p":0.5,"yes":false}`},
}

// same reports whether two rows are equal. A time that never occurred is any negative number, and an unknown number is
// NaN.
func same(a, b every) bool {
	number := func(x, y float64) bool { return math.Abs(x-y) < 1e-9 || math.IsNaN(x) && math.IsNaN(y) }
	unknown := func(v float64) float64 {
		if math.IsInf(v, 0) {
			return math.NaN()
		}
		return v
	}
	if math.IsNaN(a.At) {
		a.At = -1
	}
	return a.Text == b.Text && a.N == b.N && a.Yes == b.Yes && number(a.At, b.At) && number(unknown(a.X), b.X) &&
		number(unknown(a.P), b.P)
}

// Each kind of column writes and reads its values in CSV and JSON, and rejects invalid values.
func TestColumns(t *testing.T) {
	dir := t.TempDir()
	var rows []every
	want := "text,n,at_s,x,p,yes\n"
	for _, r := range everyRows {
		rows, want = append(rows, r.row), want+r.csv+"\n"
	}
	if _, err := everyTable.Write(dir, rows); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "x.csv")); err != nil || string(raw) != want {
		t.Errorf("%s, want %s: %v", raw, want, err)
	}
	back, err := everyTable.Read(dir)
	if err != nil || !slices.EqualFunc(rows, back, same) {
		t.Errorf("%+v, %v", back, err)
	}
	for _, r := range everyRows {
		raw, err := everyTable.Marshal(&r.row)
		if err != nil || string(raw) != r.json || !json.Valid(raw) {
			t.Errorf("%s, want %s: %v", raw, r.json, err)
		}
		got := every{Text: "before", N: 9, At: 9, X: 9, P: 9, Yes: true}
		if err := everyTable.Unmarshal(raw, &got); err != nil || !same(r.row, got) {
			t.Errorf("%s comes back as %+v: %v", raw, got, err)
		}
	}
	got := every{Text: "before", N: 9, At: 9, X: 9, P: 9, Yes: true}
	if err := everyTable.Unmarshal([]byte("{}"), &got); err != nil || !same(every{At: -1, X: math.NaN(), P: math.NaN()}, got) {
		t.Errorf("nothing comes back as %+v: %v", got, err)
	}
	for field, reason := range map[string]string{"n": "whole number", "at_s": "number", "x": "number", "p": "number",
		"yes": "neither true nor false"} {
		text := "text," + field + "\na,1\nb,1.x\n"
		err := everyTable.Each(strings.NewReader(text), "x.csv", 1, func(*every) bool { return true })
		if err == nil || !strings.Contains(err.Error(), reason) || !strings.Contains(err.Error(), "column "+field) {
			t.Errorf("%s: %v", field, err)
		}
		if err := everyTable.Unmarshal([]byte(`{"`+field+`": [1]}`), &got); err == nil || !strings.Contains(err.Error(), "decode "+field) {
			t.Errorf("%s in JSON: %v", field, err)
		}
	}
	if err := everyTable.Unmarshal([]byte(`{"text": 1}`), &got); err == nil {
		t.Error("a number is text")
	}
	if err := everyTable.Unmarshal([]byte(`{`), &got); err == nil {
		t.Error("half an object is a row")
	}
}

// Extra columns come after the table's own. Repeat formats the first columns once for all rows.
func TestExtraColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	f, err := everyTable.Create(filepath.Dir(path), false, []string{"load", "a,b"})
	if err != nil {
		t.Fatal(err)
	}
	row := every{Text: "x,y", N: 1, At: 2, X: 3, P: 4}
	f.Repeat(&row, 2)
	row.Text, row.N = "passed over", 9
	for i := range 2 {
		row.X = float64(i)
		if err := f.Add(&row, []string{"", `"q"`}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the table is there before its end: %v", err)
	}
	if err := f.Flush(); err != nil {
		t.Fatal(err)
	}
	early, err := os.ReadFile(f.Temporary())
	if err != nil {
		t.Fatal(err)
	}
	size, err := f.Replace()
	if err != nil || size != int64(len(early)) {
		t.Errorf("%d bytes, %v; %d were written", size, err, len(early))
	}
	f.Abort() // does nothing after Replace
	raw, err := os.ReadFile(path)
	const want = "text,n,at_s,x,p,yes,load,\"a,b\"\n\"x,y\",1,2.000000,0.000000,4,false,,\"\"\"q\"\"\"\n" +
		"\"x,y\",1,2.000000,1.000000,4,false,,\"\"\"q\"\"\"\n"
	if err != nil || string(raw) != want || string(early) != want {
		t.Errorf("%s, want %s: %v", raw, want, err)
	}
}

// A file that is aborted leaves no temporary file, and the earlier file stays.
func TestPending(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	for _, durable := range []bool{true, false} {
		if err := WriteWhole(path, durable, []byte("old")); err != nil {
			t.Fatal(err)
		}
		p, err := NewPending(path, durable)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := p.Write([]byte("newer")); n != 5 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		p.Abort()
		p.Abort()
		if raw, err := os.ReadFile(path); err != nil || string(raw) != "old" {
			t.Errorf("%q, %v", raw, err)
		}
	}
	(*Pending)(nil).Abort()
	p, err := NewPending(filepath.Join(dir, "y"), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "y", "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Replace(); err == nil {
		t.Error("a file takes the name of a folder")
	}
	if _, err := NewPending(filepath.Join(dir, "none", "x"), false); err == nil {
		t.Error("a file in no folder")
	}
	if _, err := everyTable.Create(filepath.Join(dir, "none"), false, nil); err == nil {
		t.Error("a table in no folder")
	}
	if err := errors.Join(folder.SyncDir(dir), os.RemoveAll(filepath.Join(dir, "y"))); err != nil {
		t.Error(err)
	}
	if err := folder.SyncDir(filepath.Join(dir, "none")); err == nil {
		t.Error("no folder is on the disk")
	}
	if err := os.MkdirAll(filepath.Join(dir, "full", "x.csv", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := everyTable.Replace(filepath.Join(dir, "full"), nil); err == nil {
		t.Error("a folder is removed in place of a table")
	}
	if _, err := everyTable.Read(dir, "full"); err == nil {
		t.Error("a folder is a table")
	}
}

// A table can be read while it is written. An incomplete last line is ignored.
func TestLive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	w, err := everyTable.Live(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	read := func() ([]every, error) { return everyTable.ReadLive(filepath.Dir(path)) }
	if rows, err := read(); err != nil || len(rows) != 0 {
		t.Errorf("%+v, %v", rows, err)
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() { w.Add(every{Text: fmt.Sprint("row ", i), N: i, X: math.NaN()}) })
	}
	all.Wait()
	rows, err := read()
	sum := 0
	for _, r := range rows {
		sum += r.N
	}
	if err != nil || len(rows) != 20 || sum != 190 {
		t.Errorf("%+v, %v", rows, err)
	}
	file, err := w.Close()
	info, serr := os.Stat(path)
	if err := errors.Join(err, serr); err != nil || file != (Written{"x.csv", info.Size()}) {
		t.Errorf("%+v, %v", file, err)
	}
	w.Add(every{Text: "late"})
	if again, err := w.Close(); err != nil || again != (Written{}) {
		t.Errorf("closed again: %+v, %v", again, err)
	}
	for text, want := range map[string]string{
		"text,n\na,1\nb": "1 rows", "text,n\na,1\n": "1 rows", "text,n\na,1\nb,2": "2 rows", "": "EOF", "text\na\nb\n": "2 rows",
		"text,n\na,x\n": "whole number", "text,n\n\"a\"x,1\nb,2\n": "parse error",
		"text,n,at_s,x,p,yes,more\na,1,,,,,z\n": "1 rows",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		rows, err := read()
		if got := fmt.Sprintf("%d rows, %v", len(rows), err); !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if _, err := everyTable.Live(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a table in no folder")
	}
}

// Text in JSON is written as by the standard library, but HTML characters are not escaped.
func TestAppendText(t *testing.T) {
	for _, s := range []string{"", "plain text", "a\"b", `a\b`, "tab\there", "\x00", "\x1f", " ", "\x7f", "ü", "a<b>&c", "\xff", "\u2028", "日本"} {
		got := string(AppendText([]byte("x"), s))
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(s); err != nil {
			t.Fatal(err)
		}
		if want := "x" + strings.TrimSuffix(b.String(), "\n"); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}

// Instants are rounded to the microsecond.
func TestMicros(t *testing.T) {
	for d, want := range map[time.Duration]Micros{0: 0, 499: 0, 500: 1, 1499: 1, 1500: 2, -1499: -1, -1500: -2,
		time.Second: 1e6, math.MaxInt64: math.MaxInt64 / 1000, math.MaxInt64 - 807: math.MaxInt64 / 1000} {
		if got := ToMicros(d); got != want {
			t.Errorf("%d ns: %d, want %d", d, got, want)
		}
	}
	if m := Micros(1_500_000); m.Seconds() != 1.5 || m.Duration() != 1500*time.Millisecond {
		t.Errorf("%g s, %v", m.Seconds(), m.Duration())
	}
	// Instants with more than sixteen digits are written as floating-point numbers.
	for _, m := range []Micros{1e15 - 1, 1e15, 1e15 + 1, -1, 123456789012345} {
		raw, err := json.Marshal(m.Seconds())
		if got := string(AppendInstant(nil, m)); err != nil || got != string(raw) && m >= 0 && m < 1e15 {
			t.Errorf("%d: %s, want %s", m, got, raw)
		}
	}
	if got := string(AppendInstant(nil, 1e15-1)); got != "999999999.999999" {
		t.Errorf("%s", got)
	}
}

// Reading a table without a header, or with a row of another length, is an error. An error of the underlying reader is
// returned.
func TestTablesThatAreNone(t *testing.T) {
	each := func(*every) bool { return true }
	if err := everyTable.Each(strings.NewReader(""), "x.csv", 1, each); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an empty file: %v", err)
	}
	if err := everyTable.Each(strings.NewReader("text,n\na,1\nb\nc,2\n"), "x.csv", 1, each); !errors.Is(err, csv.ErrFieldCount) {
		t.Errorf("a short row: %v", err)
	}
	broken := errors.New("the disk is gone")
	for _, text := range []string{"text,n\na,1\n", "text,n\n\"a\",1\n", "te"} {
		in := io.MultiReader(strings.NewReader(text), failing{broken})
		if err := everyTable.Each(in, "x.csv", 1, each); !errors.Is(err, broken) {
			t.Errorf("%q: %v", text, err)
		}
	}
	n := 0
	err := everyTable.Each(strings.NewReader("text,n\na,1\nb,2\nc,x\n"), "x.csv", 1, func(*every) bool { n++; return n < 2 })
	if err != nil || n != 2 {
		t.Errorf("%d rows, %v: it goes on after it was stopped", n, err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
