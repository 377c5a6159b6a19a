package analysis

import (
	"testing"

	"github.com/tfexp/tfexp/results/record"
)

func TestFidelityOfDecisions(t *testing.T) {
	rows := []record.FidelityDecisionRow{
		{Cell: "x", Decisions: 1, Simulated: 1, Same: 1, DiffersAt: -1},
		{Cell: "y", Decisions: 1, Simulated: 2, Same: 1, DiffersAt: 2.5, Instead: "pause a"},
	}
	want := "The simulation took the same decisions as the real run in 1 of 2 cells. In y the first other one came " +
		"after " +
		"1 of 1 decision, at 2.50 s: for real no more decisions, in simulation pause a."
	if s := fidelityOfDecisions(rows); s != want {
		t.Errorf("%q, want %q", s, want)
	}
	if s := fidelityOfDecisions(nil); s != "" {
		t.Errorf("%q of nothing", s)
	}
}
