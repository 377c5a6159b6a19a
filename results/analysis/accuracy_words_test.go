package analysis

import (
	"math"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/record"
)

func TestAccuracyInWords(t *testing.T) {
	got := AccuracySentence(record.AccuracyRow{Model: "linear", Runs: 3, MeanAbs: 15, SD: 13.2, Bias: 15, Coverage: 2.0 / 3,
		Level: 0.9})
	const want = "The estimates of linear were off by 15% on average (standard deviation 13.2%, bias +15%) over 3 real " +
		"runs; " +
		"only 67% of the runs fell inside the 90% interval."
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// What the best numbers would be off by is said once, beside the estimates that were made beforehand.
func TestAccuracyBesideTheLeast(t *testing.T) {
	row := record.AccuracyRow{Model: "m", Runs: 8, MeanAbs: 15, SD: math.NaN(), Coverage: math.NaN(), Least: 12.34,
		Made: record.MadeBefore}
	const want = "The estimates of m were off by 15% on average over 8 real runs. Runs of the same job differed: the best " +
		"number for each, chosen afterwards, would be off by 12.3%."
	if got := AccuracySentence(row); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	row.Made = record.MadeCorrected
	if got := AccuracySentence(row); strings.Contains(got, "Runs of the same job") {
		t.Errorf("said again: %s", got)
	}
	row.Made, row.Least = record.MadeBefore, math.NaN()
	if got := AccuracySentence(row); strings.Contains(got, "Runs of the same job") {
		t.Errorf("not known, but said: %s", got)
	}
}

func TestProfilingInWords(t *testing.T) {
	got := ProfilingSentence(record.ProfilingRow{Policy: "sjf", Baseline: "fcfs", Pairs: 2, Cost: 3, Makespan: 2, JCT: -1,
		Net: 1})
	const want = "Profiling took 3 s. With its estimates, the makespan under sjf was 2 s shorter and the mean JCT 1 s " +
		"longer than under fcfs, " +
		"on average over 2 pairs; in makespan alone, profiling saved 1 s more than it cost."
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
