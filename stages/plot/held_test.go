package plot

import (
	"slices"
	"testing"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/scheduler"
)

// A job that shares GPUs 1 and 2 has the upper half of each, over the whole of them that their first job has.
func TestGuestsHaveTheUpperHalf(t *testing.T) {
	set := func(lo, hi int32) scheduler.CoreSet { return scheduler.CoreSet{{Lo: lo, Hi: hi}} }
	s := &analysis.Schedule{Cores: 4, GPUs: 3, Until: 2, Classes: []string{""}, Jobs: []analysis.ScheduledJob{
		{Held: []analysis.Span{{To: 2, Cores: set(0, 2), GPUs: set(1, 3)}}},
		{Held: []analysis.Span{{From: 1, To: 2, Cores: set(2, 4), GPUs: set(1, 3), Guest: true}}},
	}}
	ch := New(s)
	ch.gpuRows = 2
	for i, want := range [][]stretch{{{2, 6}}, {{3, 4}, {5, 6}}} {
		if got := ch.stretches(s.Jobs[i].Held[0])[1:]; !slices.Equal(got, want) {
			t.Errorf("job %d has %v of the GPUs, want %v", i, got, want)
		}
	}
	host := s.Jobs[0].Held[0]
	if all := ch.stretches(host); ch.covered(host, all[0]) || !ch.covered(host, all[1]) {
		t.Error("the guest does not lie over the GPUs of the first job alone")
	}
	if early := (analysis.Span{To: 1, GPUs: set(1, 3)}); ch.covered(early, ch.stretches(early)[0]) {
		t.Error("a guest lies over what ended before it began")
	}
	if !ch.Shares() {
		t.Error("no job shares a GPU")
	}
}
