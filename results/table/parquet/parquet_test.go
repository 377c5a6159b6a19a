package parquet

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/results/table/format"
)

func TestParquet(t *testing.T) {
	kinds := map[string]table.Kind{"policy": table.AsText, "axis": table.AsLoose, "mean_s": table.AsNumber, "saturated": table.AsFlag,
		"none": table.AsLoose}
	table, err := format.ReadTable(strings.NewReader("policy,axis,mean_s,saturated,none\n"+
		"\"rr_1, \"\"fast\"\"\",7,1234.5678,true,\nfcfs,,,false,\n"),
		func(name string) table.Column { return table.Column{Name: name, Kind: kinds[name]} })
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := write(&b, table); err != nil {
		t.Fatal(err)
	}
	type row struct {
		Policy    *string  `parquet:"policy,optional"`
		Axis      *float64 `parquet:"axis,optional"`
		Mean      *float64 `parquet:"mean_s,optional"`
		Saturated *bool    `parquet:"saturated,optional"`
	}
	in := parquet.NewGenericReader[row](strings.NewReader(b.String()))
	defer in.Close()
	rows := make([]row, 2)
	if n, err := in.Read(rows); n != 2 || err != nil && err != io.EOF {
		t.Fatal(n, err)
	}
	if *rows[0].Policy != `rr_1, "fast"` || *rows[0].Mean != 1234.5678 || *rows[0].Axis != 7 || !*rows[0].Saturated ||
		rows[1].Mean != nil || *rows[1].Saturated {
		t.Errorf("%+v", rows)
	}
}

// TestRowGroups writes more rows than fit into a group. All values and nulls stay in their rows.
func TestRowGroups(t *testing.T) {
	in := &table.Table{Columns: []table.Column{
		{Name: "n", Kind: table.AsNumber}, {Name: "text", Kind: table.AsText}, {Name: "even", Kind: table.AsFlag}}}
	for i := range groupRows + 9 {
		row := []string{strconv.Itoa(i), "", strconv.FormatBool(i%2 == 0)}
		if i%3 == 0 {
			row = []string{"", "row " + strconv.Itoa(i), ""}
		}
		in.Rows = append(in.Rows, row)
	}
	var b bytes.Buffer
	if err := write(&b, in); err != nil {
		t.Fatal(err)
	}
	type row struct {
		N    *float64 `parquet:"n,optional"`
		Text *string  `parquet:"text,optional"`
		Even *bool    `parquet:"even,optional"`
	}
	rows, err := parquet.Read[row](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || len(rows) != len(in.Rows) {
		t.Fatal(len(rows), err)
	}
	for i, r := range rows {
		if null := i%3 == 0; null != (r.N == nil) || null != (r.Even == nil) || null == (r.Text == nil) ||
			null && *r.Text != "row "+strconv.Itoa(i) || !null && (*r.N != float64(i) || *r.Even != (i%2 == 0)) {
			t.Fatalf("row %d: %+v", i, r)
		}
	}
}
