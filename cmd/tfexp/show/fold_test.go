package show

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/tfexp/tfexp/results/prose"
)

func TestFolding(t *testing.T) {
	var out bytes.Buffer
	f := &folding{to: &out, columns: 30}
	fmt.Fprint(f, "policy  mean JCT (s)  makespan\n") // of 30 columns
	fmt.Fprint(f, Bold+"policy"+"\x1b[0m  mean JCT (s)  makespan\n")
	fmt.Fprint(f, "rr cut mean waiting time ")
	fmt.Fprint(f, "by 61% against fcfs, from 3.92 s to 1.54 s\n")
	want := "policy  mean JCT (s)  makespan\n" + Bold + "policy" + "\x1b[0m  mean JCT (s)  makespan\n" +
		"rr cut mean waiting time\n    by 61% against fcfs, from\n    3.92 s to 1.54 s\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// A table that is too wide gets heads of several lines before it loses columns.
func TestStackedHeads(t *testing.T) {
	full := prose.Table{Left: 1, Header: []string{"policy", "cells", "mean waiting time (s)", "makespan (s)"},
		Rows:    [][]string{{"fcfs cores=211", "1", "14,896", "950,980"}},
		Metrics: map[int]string{2: "mean_waiting_s", 3: "makespan_s"}}
	var out bytes.Buffer
	table := fitted(full, 42, true)
	if err := table.Write(&out, "", false); err != nil {
		t.Fatal(err)
	}
	want := "                          mean\n                       waiting\n                          time  makespan\n" +
		"policy          cells      (s)       (s)\nfcfs cores=211      1   14,896   950,980\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if wide := fitted(full, 100, true); wide.Header[2] != "mean waiting time (s)" {
		t.Errorf("a table with room has the head %q", wide.Header[2])
	}
}
