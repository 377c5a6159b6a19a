package table

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// spareNames are the metrics that Fit leaves out first.
var spareNames = []string{"mean_waiting_s"}

// A table that is too wide gets headers of several lines before it loses columns.
func TestStackedHeads(t *testing.T) {
	full := New(1, "policy", "cells", "mean waiting time (s)", "makespan (s)")
	full.Add("fcfs cores=211", "1", "14,896", "950,980")
	full.Columns[2].Metric, full.Columns[3].Metric = "mean_waiting_s", "makespan_s"
	var out bytes.Buffer
	table := full.Fit(42, true, spareNames)
	if err := table.Write(&out, "", false); err != nil {
		t.Fatal(err)
	}
	want := "                          mean\n                       waiting\n                          time  makespan\n" +
		"policy          cells      (s)       (s)\nfcfs cores=211      1   14,896   950,980\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if wide := full.Fit(100, true, spareNames); wide.Header()[2] != "mean waiting time (s)" {
		t.Errorf("a table with room has the head %q", wide.Header()[2])
	}
}

// On a narrow terminal, Fit leaves out metrics from right to left. It keeps the first metric and the ones that the
// experiment compares.
func TestNarrowTables(t *testing.T) {
	full := New(1, "policy", "cells", "mean JCT (s)", "makespan (s)", "waiting (s)", "cost")
	full.Add("fcfs", "1", "9,306 ± 3,388", "29,139 ± 6,906", "6,235 ± 2,645", "1.5")
	for i, name := range []string{"mean_jct_s", "makespan_s", "mean_waiting_s", "cost_usd"} {
		full.Columns[2+i].Metric = name
	}
	full.Kept = []string{"cost_usd"}
	for columns, want := range map[int]string{
		100: "policy|cells|mean JCT (s)|makespan (s)|waiting (s)|cost", 52: "policy|cells|mean JCT (s)|makespan (s)|cost",
		36: "policy|cells|mean JCT (s)|cost", 10: "policy|cells|mean JCT (s)|cost",
	} {
		table := full.Fit(columns, true, spareNames)
		got := strings.ReplaceAll(strings.Join(table.Header(), "|"), "\n", " ")
		if got != want {
			t.Errorf("in %d columns: %s, want %s", columns, got, want)
		}
	}
}

// If the labels of variants are too long, Fit puts the axes into separate columns. If these do not fit either, it wraps
// the labels.
func TestLongLabels(t *testing.T) {
	variant := func(policy, allocation string) Variant {
		return Variant{Policy: policy, Axes: []Setting{{Name: "allocation", Value: allocation}, {Name: "n", Value: "8"}}}
	}
	full := New(1, "policy", "cells", "mean JCT (s)")
	full.Add("rr allocation=always_attend n=8", "5", "63 ± 11")
	full.Add("fcfs allocation=strict n=8", "5", "70 ± 14")
	full.Columns[2].Metric, full.Kept = "mean_jct_s", []string{"mean_jct_s"}
	full.Variants = []Variant{variant("rr", "always_attend"), variant("fcfs", "strict")}
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
		table := full.Fit(columns, true, spareNames)
		if err := table.Write(&out, "", false); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("in %d columns, got\n%s\nwant\n%s", columns, out.String(), want)
		}
	}
}

func TestNarrowTablesLeaveOutWhatIsLeastAskedFor(t *testing.T) {
	metrics := []string{"mean_jct_s", "p95_jct_s", "utilization"}
	full := New(1, "policy", "mean JCT (s)", "95% JCT (s)", "utilization")
	full.Add("fcfs", "1", "2", "3")
	for i, name := range metrics {
		full.Columns[1+i].Metric = name
	}
	if got := full.Fit(full.Width(), false, metrics[1:]); len(got.Header()) != 4 {
		t.Errorf("with room for all: %q", got.Header())
	}
	got := full.Fit(full.Width()-1, false, metrics[1:])
	if d := cmp.Diff([]string{"policy", full.Header()[1], full.Header()[3]}, got.Header()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([][]string{{"fcfs", "1", "3"}}, got.Rows); d != "" {
		t.Error(d)
	}
	if got := full.Fit(10, false, metrics[1:]); len(got.Header()) != 2 {
		t.Errorf("in 10 columns: %q", got.Header())
	}
	if len(full.Rows[0]) != 4 {
		t.Error("the full table was changed")
	}
}
