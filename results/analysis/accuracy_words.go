package analysis

import (
	"fmt"
	"math"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/tell"
)

// AccuracySentence is a row of accuracy.csv in words: "The estimates of linear were off by
// 4.1% on average (standard deviation 5.2%, bias +1.3%) over 24 real runs; 92% of
// the runs fell inside the 90% interval. Runs of the same job differed: the best number for each, chosen afterwards,
// would be off by 3.2%."
func AccuracySentence(r record.AccuracyRow) string {
	whose := r.Model
	if r.Made == record.MadeCorrected {
		whose += ", corrected by the cells that ran before,"
	}
	s := fmt.Sprintf("The estimates of %s were off by %s%% on average", whose, tell.Number(r.MeanAbs))
	if stats.Finite(r.SD) {
		s += fmt.Sprintf(" (standard deviation %s%%, bias %s)", tell.Number(r.SD), tell.Signed(r.Bias/100))
	}
	s += " over " + tell.Plural(r.Runs, "real run")
	if r.Group != "" {
		s += " of " + r.Group
	}
	if stats.Finite(r.Coverage) {
		only := ""
		if r.Coverage < r.Level {
			only = "only "
		}
		s += fmt.Sprintf("; %s%s of the runs fell inside the %s interval", only, tell.Share(r.Coverage), tell.Share(r.Level))
	}
	switch {
	case r.Choices > 0 && r.BestRank == 1:
		s += fmt.Sprintf(". For %s that ran on several resources, the predicted fastest resource was the fastest",
			tell.Plural(r.Choices, "job"))
	case r.Choices > 0:
		s += fmt.Sprintf(". For %s that ran on several resources, the predicted fastest resource ranked %s on average, %s%% "+
			"slower than the fastest",
			tell.Plural(r.Choices, "job"), tell.Number(r.BestRank), tell.Number(math.Max(r.Regret, 0)))
	}
	s += "."
	if r.Made == record.MadeBefore && stats.Finite(r.Least) {
		s += fmt.Sprintf(" Runs of the same job differed: the best number for each, chosen afterwards, would be off by %s%%.",
			tell.Number(r.Least))
	}
	return s
}

// ProfilingSentence is a row of profiling.csv in words: "Profiling took 3.2 s. With its
// estimates, …; in makespan alone, profiling cost 3.8 s more than it saved."
func ProfilingSentence(r record.ProfilingRow) string {
	change := func(gain float64) string {
		if gain >= 0 {
			return tell.Number(gain) + " s shorter"
		}
		return tell.Number(-gain) + " s longer"
	}
	s := fmt.Sprintf("Profiling took %s s. With its estimates, the makespan under %s was %s and the mean JCT %s than "+
		"under %s, on average over %s; "+
		"in makespan alone, profiling ",
		tell.Number(r.Cost), r.Policy, change(r.Makespan), change(r.JCT), r.Baseline, tell.Plural(r.Pairs, "pair"))
	if r.Net >= 0 {
		return s + fmt.Sprintf("saved %s s more than it cost.", tell.Number(r.Net))
	}
	return s + fmt.Sprintf("cost %s s more than it saved.", tell.Number(-r.Net))
}
