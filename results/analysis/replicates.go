package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// The power that an experiment should have: to detect a difference of this fraction of the baseline's mean,
// with this probability.
const (
	worthKnowing = 0.1
	sureness     = 0.8
)

var _ = Register(Part{
	Name: "replicates", Title: "How many replicates", InReport: Verdicts + 5, OnTerminal: Verdicts + 5,
	Tell: func(e *record.Experiment) (s table.Section, err error) {
		rows, err := Comparisons(e)
		if err != nil {
			return s, err
		}
		if said := moreReplicates(rows); said != "" {
			s.Report = []table.Item{{Plain: true, Sentences: []string{said}}}
			s.Terminal = s.Report
		}
		return s, nil
	},
})

// moreReplicates recommends a number of replicates. It uses the scatter of the comparisons of all jobs without a
// detected difference; "" if no further replicates are worthwhile.
func moreReplicates(rows []record.ComparisonRow) string {
	var needed []int
	have, metric := 0, ""
	for _, r := range rows {
		if !undetected(&r) || r.Method != stats.PairedT || r.By != "" || metric != "" && r.Metric != metric {
			continue
		}
		metric = r.Metric
		half := (r.DifferenceHigh - r.DifferenceLow) / 2
		n := stats.Needed(half, r.Pairs, r.Level, worthKnowing*math.Abs(r.BaselineMean), sureness)
		if n == 0 && half > 0 { // more than anybody runs
			n = math.MaxInt
		}
		if n > 0 {
			needed, have = append(needed, n), r.Pairs
		}
	}
	if len(needed) == 0 {
		return ""
	}
	slices.Sort(needed)
	m, _ := measure.MetricByName(metric)
	what := fmt.Sprintf("a difference of %s in %s is detected in at least %s of such experiments", table.Share(worthKnowing),
		m.Title, table.Share(sureness))
	switch n := needed[len(needed)/2]; {
	case n <= have:
		return ""
	case n > mostRuns:
		return fmt.Sprintf("The %d replicates scatter so much that %s only with more than %d.", have, what, mostRuns)
	default:
		return fmt.Sprintf("With %d replicates, %s; there are %d.", n, what, have)
	}
}
