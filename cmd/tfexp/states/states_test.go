package states

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfexp/tfexp/pipeline/store"
)

func TestRunningFirst(t *testing.T) {
	all := []State{{Experiment: "a"}, {Experiment: "b", Holder: "process 1"}, {Experiment: "c"},
		{Experiment: "d", Holder: "process 2"}}
	RunningFirst(all)
	order := ""
	for _, s := range all {
		order += s.Experiment
	}
	if order != "bdac" {
		t.Errorf("the order is %s, want bdac", order)
	}
}

func TestUnderWay(t *testing.T) {
	journal := []store.JournalEntry{
		{Event: "run_start"}, {Event: "cell_start", Unit: "killed"},
		{Event: "run_start"}, {Event: "cell_start", Unit: "a"}, {Event: "cell_start", Unit: "b"},
		{Event: "cell_end", Unit: "a"},
	}
	if d := cmp.Diff([]string{"b"}, underWay(journal)); d != "" {
		t.Error(d)
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
