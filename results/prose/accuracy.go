package prose

import (
	"fmt"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"math"
)

// Sentence says a row of accuracy.csv in plain English: "linear was wrong by
// 4.1% on the mean (sd 5.2%, bias +1.3%) over 24 runs; its 90% intervals held
// 92% of them."
func Accuracy(r record.AccuracyRow) string {
	s := fmt.Sprintf("The estimates of %s were off by %s%% on the mean", r.Model, Number(r.MeanAbs))
	if stats.Finite(r.SD) {
		s += fmt.Sprintf(" (standard deviation %s%%, bias %s)", Number(r.SD), signedPercent(r.Bias/100))
	}
	s += " over " + plural(r.Runs, "real run")
	if r.Group != "" {
		s += " of " + r.Group
	}
	if stats.Finite(r.Coverage) {
		s += fmt.Sprintf("; their %s intervals held %s of them", percent(r.Level), percent(r.Coverage))
	}
	switch {
	case r.Choices > 0 && r.BestRank == 1:
		s += fmt.Sprintf(". For %s that ran on several resources, the one predicted fastest was the fastest", plural(r.Choices, "job"))
	case r.Choices > 0:
		s += fmt.Sprintf(". For %s that ran on several resources, the one predicted fastest was in place %s on the mean, %s%% slower than the fastest",
			plural(r.Choices, "job"), Number(r.BestRank), Number(math.Max(r.Regret, 0)))
	}
	return s + "."
}

// Sentence says a row of profiling.csv in plain English.
func Profiling(r record.ProfilingRow) string {
	change := func(gain float64) string {
		if gain >= 0 {
			return Number(gain) + " s shorter"
		}
		return Number(-gain) + " s longer"
	}
	s := fmt.Sprintf("Sampling took %s s. With the estimates, under %s the makespan was %s and the mean JCT %s than under %s, on the mean over %s: in makespan alone, sampling ",
		Number(r.Cost), r.Policy, change(r.Makespan), change(r.JCT), r.Baseline, plural(r.Pairs, "pair"))
	if r.Net >= 0 {
		return s + fmt.Sprintf("has paid for itself, with %s s left.", Number(r.Net))
	}
	return s + fmt.Sprintf("is %s s short of having paid for itself.", Number(-r.Net))
}
