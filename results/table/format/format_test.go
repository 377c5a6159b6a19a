package format

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/table"
)

const small = `policy,axis,mean_s,saturated,none
"rr_1, ""fast""",7,1234.5678,true,
fcfs,,,false,
`

func read(t *testing.T) *table.Table {
	t.Helper()
	table, err := ReadTable(strings.NewReader(small), func(name string) table.Column {
		kinds := map[string]table.Kind{"policy": table.AsText, "axis": table.AsLoose, "mean_s": table.AsNumber, "saturated": table.AsFlag, "none": table.AsLoose}
		return table.Column{Name: name, Kind: kinds[name]}
	})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// written returns the text of a table in a format.
func written(t *testing.T, name string, table *table.Table) string {
	t.Helper()
	for _, f := range Formats() {
		if f.Name != name {
			continue
		}
		if f.ForPeople {
			table = Rounded(table)
		}
		var b bytes.Buffer
		if err := f.Write(&b, table); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	t.Fatalf("there is no format %s", name)
	return ""
}

func TestFormats(t *testing.T) {
	for name, want := range map[string]string{
		"csv":   small,
		"jsonl": "{\"policy\":\"rr_1, \\\"fast\\\"\",\"axis\":7,\"mean_s\":1234.5678,\"saturated\":true,\"none\":null}\n{\"policy\":\"fcfs\",\"axis\":null,\"mean_s\":null,\"saturated\":false,\"none\":null}\n",
		"json":  "[\n{\"policy\":\"rr_1, \\\"fast\\\"\",\"axis\":7,\"mean_s\":1234.5678,\"saturated\":true,\"none\":null},\n{\"policy\":\"fcfs\",\"axis\":null,\"mean_s\":null,\"saturated\":false,\"none\":null}\n]\n",
		"markdown": "| policy | saturated | axis | mean_s |\n| :-- | :-- | --: | --: |\n| rr_1, \"fast\" | true | 7 | " +
			"1,235 |\n" +
			"| fcfs | false |  |  |\n",
		"latex": "% needs \\usepackage{booktabs}\n\\begin{tabular}{llrr}\n\\toprule\npolicy & saturated & axis & mean\\_s " +
			"\\\\\n\\midrule\n" +
			"rr\\_1, \"fast\" & true & 7 & 1,235 \\\\\nfcfs & false &  &  \\\\\n\\bottomrule\n\\end{tabular}\n",
	} {
		if got := written(t, name, read(t)); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
		}
	}
}

// If one field of a column is text, the whole column is text: numbers keep their digits. Unknown values are null.
func TestTextAmongNumbers(t *testing.T) {
	table := func(text string) *table.Table {
		t.Helper()
		table, err := ReadTable(strings.NewReader(text), func(name string) table.Column { return table.Column{Name: name, Kind: table.AsLoose} })
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	mixed := "mean_s,note,bound\n1234.5678,a,Inf\n2,,1\n3,1234.5678,2\n"
	for _, c := range []struct{ format, text, want string }{
		{"json", mixed, `[
{"mean_s":1234.5678,"note":"a","bound":"Inf"},
{"mean_s":2,"note":null,"bound":1},
{"mean_s":3,"note":1234.5678,"bound":2}
]
`},
		{"markdown", mixed, `| note | bound | mean_s |
| :-- | :-- | --: |
| a | Inf | 1,235 |
|  | 1 | 2 |
| 1234.5678 | 2 | 3 |
`},
		{"json", "mean_s\n", "[\n\n]\n"},
		{"jsonl", "mean_s\n", ""},
	} {
		if got := written(t, c.format, table(c.text)); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", c.format, got, c.want)
		}
	}
}

// Cells that spreadsheets would read as formulas become text. Numbers stay numbers.
func TestNoFormulas(t *testing.T) {
	for cell, want := range map[string]string{
		"=1+1": "'=1+1", `=HYPERLINK("x")`: `'=HYPERLINK("x")`, "@SUM(A1)": "'@SUM(A1)", "-2+3": "'-2+3", "+cmd": "'+cmd",
		"\t=1": "'\t=1", "\r=1": "'\r=1", "-3.5": "-3.5", "+1e9": "+1e9", "-Inf": "-Inf", "-": "-", "": "", "a=b": "a=b",
	} {
		if got := inert(cell); got != want {
			t.Errorf("%q is written as %q, want %q", cell, got, want)
		}
	}
}

// A table without rows keeps its columns, since LaTeX does not accept a tabular without columns.
func TestRoundedWithoutRows(t *testing.T) {
	empty := table.New(1, "policy", "jobs")
	if got := Rounded(&empty).Header(); len(got) != 2 || got[0] != "policy" || got[1] != "jobs" {
		t.Errorf("the columns are %q", got)
	}
}
