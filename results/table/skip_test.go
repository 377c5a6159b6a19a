package table

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

type pair struct {
	Name string `csv:"name"`
	N    int    `csv:"n"`
}

var pairTable = NewSchema[pair]("x.csv", nil)

// Each reads every step-th row, also with quotes and empty lines in between. Its errors have the right line.
func TestReadSomeRows(t *testing.T) {
	var b strings.Builder
	b.WriteString("name,n\n")
	for i := range 40 {
		name := fmt.Sprint("row", i)
		if i > 25 { // quotes occur only in later rows
			name = `"row,` + fmt.Sprint(i) + `"`
		}
		if i == 7 || i == 20 {
			b.WriteString("\n") // an empty line is not a row
		}
		fmt.Fprintf(&b, "%s,%d\n", name, i)
	}
	for step := 1; step < 12; step++ {
		var got, want []int
		err := pairTable.Each(strings.NewReader(b.String()), "x.csv", step, func(p *pair) bool {
			got = append(got, p.N)
			if (p.N > 25) != strings.Contains(p.Name, ",") {
				t.Errorf("row %d is %q", p.N, p.Name)
			}
			return true
		})
		for i := 0; i < 40; i += step {
			want = append(want, i)
		}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("every %d: %v, want %v; %v", step, got, want, err)
		}
	}
	for _, step := range []int{1, 3} {
		text := "name,n\n" + strings.Repeat("a,1\n", 9) + "a,b\n"
		err := pairTable.Each(strings.NewReader(text), "x.csv", step, func(*pair) bool { return true })
		if err == nil || !strings.Contains(err.Error(), "11") {
			t.Errorf("every %d: the error is %v, want one with line 11", step, err)
		}
	}
}

// Instants are written in seconds, with six decimals, even if they are too large for exact floating-point numbers.
func TestAppendInstant(t *testing.T) {
	for m, want := range map[Micros]string{0: "0", 1: "0.000001", 1_500_000: "1.5", 12_000_000: "12", -500_000: "-0.5", 1e15: "1000000000"} {
		if got := string(AppendInstant(nil, m)); got != want {
			t.Errorf("%d: %s, want %s", m, got, want)
		}
	}
}

// Replace removes the file of an earlier table if there are no rows.
func TestWriteOrRemove(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	for _, rows := range [][]pair{nil, {{"a", 1}, {"b", 2}}, nil, {{"c", 3}}} {
		if err := pairTable.Replace(filepath.Dir(path), rows); err != nil {
			t.Fatal(err)
		}
		got, err := pairTable.Read(filepath.Dir(path))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(rows) {
			t.Errorf("%v, %v; want %v", got, err, rows)
		}
	}
	if err := WriteWhole(filepath.Join(filepath.Dir(path), "none", "x"), true, nil); err == nil {
		t.Error("a file is written into no folder")
	}
}
