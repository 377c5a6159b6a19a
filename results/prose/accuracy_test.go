package prose_test

import (
	"testing"

	"github.com/tfexp/tfexp/results/prose"
	"github.com/tfexp/tfexp/results/record"
)

func TestAccuracy(t *testing.T) {
	got := prose.Accuracy(record.AccuracyRow{Model: "linear", Runs: 3, MeanAbs: 15, SD: 13.2, Bias: 15, Coverage: 2.0 / 3,
		Level: 0.9})
	const want = "The estimates of linear were off by 15% on average (standard deviation 13.2%, bias +15%) over 3 real " +
		"runs; " +
		"only 67% of the runs fell inside the 90% interval."
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestProfiling(t *testing.T) {
	got := prose.Profiling(record.ProfilingRow{Policy: "sjf", Baseline: "fcfs", Pairs: 2, Cost: 3, Makespan: 2, JCT: -1,
		Net: 1})
	const want = "Profiling took 3 s. With its estimates, the makespan under sjf was 2 s shorter and the mean JCT 1 s " +
		"longer than under fcfs, " +
		"on average over 2 pairs; in makespan alone, profiling saved 1 s more than it cost."
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
