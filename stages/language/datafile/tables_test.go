package datafile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/language"
)

// Columns are selected by name, and rows by the texts of columns.
func TestColumns(t *testing.T) {
	read := func(text string, columns []string, where ...schema.Setting) ([][]float64, string) {
		path := filepath.Join(t.TempDir(), "f.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d := &language.Decoder{Finder: language.Finder{Reporter: eval.NewReporter()}}
		rows, ok := Columns(d, &eval.Args{}, hcl.Range{}, language.Input{Path: path, Shown: "f"}, columns, where)
		said := ""
		for _, e := range d.List {
			said += fmt.Sprintf("f:%d: %s", e.Range.Start.Line, e.Detail)
		}
		if ok != (said == "") {
			t.Errorf("%q: %v, %s", text, ok, said)
		}
		return rows, said
	}
	const file = "a,kind, b \n1,x,2\n3,y,bad\n 4 , x ,5e-1\n"
	rows, said := read(file, []string{"b", "a"}, schema.Setting{Name: "kind", Value: "x"})
	if len(rows) != 2 || !slices.Equal(rows[0], []float64{2, 1}) || !slices.Equal(rows[1], []float64{0.5, 4}) {
		t.Errorf("%v, %s", rows, said)
	}
	if rows, said := read(file, []string{"b"}, schema.Setting{Name: "a", Value: "4.0"}); len(rows) != 1 || rows[0][0] != 0.5 {
		t.Errorf("a number that is written otherwise: %v, %s", rows, said)
	}
	for text, want := range map[string]string{
		"a,b\n1,0\n": "f:2: B \"0\"", "a,b\n1,-2\n": "f:2", "a,b\n1,2\n1,Inf\n": "f:3", "a,b\nNaN,1\n": `A "NaN"`, "a,b\n1,x\n": "f:2",
		"a,c\n1,1\n": "no column \"b\"; there are a, c", "": "empty", "\ufeffa,b\r\n1,2\r\n": "",
	} {
		if _, said := read(text, []string{"a", "b"}); !strings.Contains(said, want) || (want == "") != (said == "") {
			t.Errorf("%q: %s, want %q", text, said, want)
		}
	}
	if _, said := read(file, []string{"a"}, schema.Setting{Name: "sort", Value: "x"}); !strings.Contains(said, `no column "sort"`) {
		t.Errorf("a column that is not there has a text: %s", said)
	}
}
