package show

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/prose"
	"github.com/tfexp/tfexp/results/record"
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

// The text of a list goes on below its beginning where there is room for it.
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

// On a narrow terminal metrics are left out from the right, but not the first and what the experiment compares.
func TestNarrowTables(t *testing.T) {
	full := prose.Table{Left: 1, Header: []string{"policy", "cells", "mean JCT (s)", "makespan (s)", "waiting (s)", "cost"},
		Rows:    [][]string{{"fcfs", "1", "9,306 ± 3,388", "29,139 ± 6,906", "6,235 ± 2,645", "1.5"}},
		Metrics: map[int]string{2: "mean_jct_s", 3: "makespan_s", 4: "mean_waiting_s", 5: "cost_usd"}, Kept: []string{"cost_usd"}}
	for columns, want := range map[int]string{
		100: "policy|cells|mean JCT (s)|makespan (s)|waiting (s)|cost", 52: "policy|cells|mean JCT (s)|makespan (s)|cost",
		36: "policy|cells|mean JCT (s)|cost", 10: "policy|cells|mean JCT (s)|cost",
	} {
		table := fitted(full, columns, true)
		got := strings.ReplaceAll(strings.Join(table.Header, "|"), "\n", " ")
		if got != want {
			t.Errorf("in %d columns: %s, want %s", columns, got, want)
		}
	}
}

// Where the labels of variants are too long, the axes get columns; where these do not fit either, labels are broken.
func TestLongLabels(t *testing.T) {
	variant := func(policy, allocation string) prose.PolicyAxes {
		return prose.PolicyAxes{Policy: policy, Axes: []record.Setting{{Name: "allocation", Value: allocation}, {Name: "n", Value: "8"}}}
	}
	full := prose.Table{Left: 1, Header: []string{"policy", "cells", "mean JCT (s)"},
		Rows:    [][]string{{"rr allocation=always_attend n=8", "5", "63 ± 11"}, {"fcfs allocation=strict n=8", "5", "70 ± 14"}},
		Metrics: map[int]string{2: "mean_jct_s"}, Kept: []string{"mean_jct_s"},
		Variants: []prose.PolicyAxes{variant("rr", "always_attend"), variant("fcfs", "strict")}}
	for columns, want := range map[int]string{
		60: "policy                           cells  mean JCT (s)\n" +
			"rr allocation=always_attend n=8      5       63 ± 11\n" +
			"fcfs allocation=strict n=8           5       70 ± 14\n",
		42: "                                    mean\n" +
			"policy  allocation     n  cells  JCT (s)\n" +
			"rr      always_attend  8      5  63 ± 11\n" +
			"fcfs    strict         8      5  70 ± 14\n",
		36: "                                mean\n" +
			"policy                cells  JCT (s)\n" +
			"rr                        5  63 ± 11\n" +
			"  allocation=always_\n" +
			"  attend\n" +
			"  n=8\n" +
			"fcfs                      5  70 ± 14\n" +
			"  allocation=strict\n" +
			"  n=8\n",
	} {
		var out bytes.Buffer
		table := fitted(full, columns, true)
		if err := table.Write(&out, "", false); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("in %d columns, got\n%s\nwant\n%s", columns, out.String(), want)
		}
	}
}

func TestJournalEntries(t *testing.T) {
	for want, e := range map[string]store.JournalEntry{
		"stage tables finished in 2 s": {Event: "stage_end", Unit: "tables", State: "finished", Seconds: 2},
		"cell a-r1 started":            {Event: "cell_start", Unit: "a-r1"},
		"run ended":                    {Event: "run_end"},
		"warning a-r1: busy":           {Event: "warning", Unit: "a-r1", State: "busy_machine", Text: "busy"},
		"sample long-2 done":           {Event: "sample", Unit: "long-2", State: "done"},
	} {
		if got := entry(e); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
