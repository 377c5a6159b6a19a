package table_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/table"
)

func TestJSONLines(t *testing.T) {
	var out bytes.Buffer
	isText := func(column string) bool { return column == "cell" || column == "job" }
	cells := "cell,job,seconds,error_pct,quantum\n1,\"a,\"\"b\",1.500000,,500ms\n2,7,-0.25,+Inf,0x1\n"
	if err := table.JSONLines(&out, strings.NewReader(cells), isText); err != nil {
		t.Fatal(err)
	}
	want := `{"cell":"1","job":"a,\"b","seconds":1.500000,"error_pct":null,"quantum":"500ms"}
{"cell":"2","job":"7","seconds":-0.25,"error_pct":"+Inf","quantum":"0x1"}
`
	if out.String() != want {
		t.Errorf("%s, want %s", out.String(), want)
	}
	if err := table.JSONLines(&out, strings.NewReader("a,b\n1\n"), isText); err == nil {
		t.Error("a row without a field is accepted")
	}
}
