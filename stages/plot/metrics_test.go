package plot

import (
	"slices"
	"testing"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// A policy has one colour at all loads, and in whatever order the rows are; rows of one policy have one each.
func TestColoursOfRows(t *testing.T) {
	row := func(policy, load string) analysis.Variant {
		return analysis.Variant{Policy: policy, Label: policy + " load=" + load}
	}
	all := []analysis.Variant{row("fcfs", "1"), row("sjf", "1"), row("las", "1"), row("fcfs", "2"), row("sjf", "2"), row("las", "2")}
	got := policyInks(all, []analysis.Variant{all[2], all[1], all[4], all[5]})
	sjf, las := canvas.Hue(0), canvas.Hue(1) // fcfs is not shown
	if !slices.Equal(got, append(got[:0:0], las, sjf, sjf, las)) {
		t.Errorf("las, sjf, sjf, las are %v", got)
	}
	one := []analysis.Variant{row("rr", "1"), row("rr", "2")}
	if got := policyInks(one, one); !slices.Equal(got, append(got[:0:0], canvas.Hue(0), canvas.Hue(1))) {
		t.Errorf("two rows of one policy are %v", got)
	}
}
