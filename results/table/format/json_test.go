package format

import (
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/table"
)

// lines returns the rows of a CSV table as JSON lines. The columns in asText hold text.
func lines(text string, asText ...string) (string, error) {
	columns, rows, err := Rows(strings.NewReader(text), func(name string) table.Column {
		kind := table.AsLoose
		if slices.Contains(asText, name) {
			kind = table.AsText
		}
		return table.Column{Name: name, Kind: kind}
	})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = WriteJSONLines(&b, columns, rows)
	return b.String(), err
}

// Fields become numbers, truth values or text in JSON, depending on their form. Empty fields become null.
func TestValuesInJSON(t *testing.T) {
	for _, c := range []struct {
		text        []string
		table, want string
	}{
		{[]string{"t"}, "t,v\ntrue,true\n1,1.5\n,\nfalse,false\nx,0x10\n", `{"t":"true","v":true}
{"t":"1","v":1.5}
{"t":"","v":null}
{"t":"false","v":false}
{"t":"x","v":"0x10"}
`},
		{[]string{"cell", "job"}, "cell,job,seconds,error_pct,quantum\n1,\"a,\"\"b\",1.500000,,500ms\n2,7,-0.25,+Inf,0x1\n",
			`{"cell":"1","job":"a,\"b","seconds":1.500000,"error_pct":null,"quantum":"500ms"}
{"cell":"2","job":"7","seconds":-0.25,"error_pct":"+Inf","quantum":"0x1"}
`},
		{nil, "", ""},
	} {
		if got, err := lines(c.table, c.text...); got != c.want || err != nil {
			t.Errorf("lines are\n%swant\n%s%v", got, c.want, err)
		}
	}
	if _, err := lines("a,b\n1\n"); err == nil {
		t.Error("a row without a field is accepted")
	}
}
