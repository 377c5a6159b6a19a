package show

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/tfexp/tfexp/results/table"
)

func TestFolding(t *testing.T) {
	var out bytes.Buffer
	f := &folding{to: &out, columns: 30}
	fmt.Fprint(f, "policy  mean JCT (s)  makespan\n") // 30 columns wide
	fmt.Fprint(f, table.Bold+"policy"+"\x1b[0m  mean JCT (s)  makespan\n")
	fmt.Fprint(f, "rr cut mean waiting time ")
	fmt.Fprint(f, "by 61% against fcfs, from 3.92 s to 1.54 s\n")
	want := "policy  mean JCT (s)  makespan\n" + table.Bold + "policy" + "\x1b[0m  mean JCT (s)  makespan\n" +
		"rr cut mean waiting time\n    by 61% against fcfs, from\n    3.92 s to 1.54 s\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// A list continues under its first item if there is enough room.
func TestFoldedLists(t *testing.T) {
	f := &folding{columns: 40}
	for line, want := range map[string]string{
		"  --json, -j  print JSON, not what people read":            "  --json, -j  print JSON, not what\n              people read",
		"  a name that leaves no room  for the text":                "  a name that leaves no room  for\n    the text",
		"rr cut mean waiting time against it to 4.75 s (p = 0.012)": "rr cut mean waiting time against it\n    to 4.75 s (p = 0.012)",
		"rr cut the mean waiting time down to 4.75 s (p = 0.012)":   "rr cut the mean waiting time down to\n    4.75 s (p = 0.012)",
		"rr cut mean waiting times to 1 s (p = 0.012)":              "rr cut mean waiting times to 1 s\n    (p = 0.012)",
		"  fcfs  1  2  a row of a table, not of a list":             "  fcfs  1  2  a row of a table, not\n    of a list",
	} {
		if got := f.broken(line); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
