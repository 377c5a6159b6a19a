package prose_test

import (
	"testing"

	"github.com/tfexp/tfexp/results/prose"
	"github.com/tfexp/tfexp/results/record"
)

func TestAccuracy(t *testing.T) {
	got := prose.Accuracy(record.AccuracyRow{Model: "linear", Runs: 3, MeanAbs: 15, SD: 13.2, Bias: 15, Coverage: 2.0 / 3, Level: 0.9})
	const want = "The estimates of linear were off by 15% on the mean (standard deviation 13.2%, bias +15%) over 3 real runs; " +
		"their 90% intervals held 67% of them."
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestProfiling(t *testing.T) {
	got := prose.Profiling(record.ProfilingRow{Policy: "sjf", Baseline: "fcfs", Pairs: 2, Cost: 3, Makespan: 2, JCT: -1, Net: 1})
	const want = "Sampling took 3 s. With the estimates, under sjf the makespan was 2 s shorter and the mean JCT 1 s longer than under fcfs, " +
		"on the mean over 2 pairs: in makespan alone, sampling has paid for itself, with 1 s left."
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
