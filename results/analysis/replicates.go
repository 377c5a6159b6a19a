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
		if slices.ContainsFunc(rows, func(r record.ComparisonRow) bool { return r.By == "" && ChangeOf(&r).Few != "" }) {
			return s, nil // the answer says how many it takes
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
	have, n, metric := recommended(rows)
	m, _ := measure.MetricByName(metric)
	what := fmt.Sprintf("a difference of %s in %s is detected in at least %s of such experiments", table.Share(worthKnowing),
		m.Title, table.Share(sureness))
	switch {
	case n <= have:
		return ""
	case n > mostRuns:
		return fmt.Sprintf("The %d replicates scatter so much that %s only with more than %d.", have, what, mostRuns)
	default:
		return fmt.Sprintf("With %d replicates, %s; there are %d.", n, what, have)
	}
}

// recommended are the replicates that there are and that there should be, for a metric; zeros without a recommendation.
func recommended(rows []record.ComparisonRow) (have, n int, metric string) {
	var needed []int
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
		return 0, 0, metric
	}
	slices.Sort(needed)
	return have, needed[len(needed)/2], metric
}

// Lacking is how many more replicates answer a comparison that too few have answered, or, if there is none, show a difference
// that is worth knowing; 0 where more of them do not help.
func Lacking(rows []record.ComparisonRow) int {
	few, fewest := false, 0
	for i := range rows {
		r := &rows[i]
		if r.By != "" || r.Blocks > 0 || ChangeOf(r).Few == "" {
			continue
		}
		few = true
		if n, _ := lacks(r); n > r.Pairs && n <= mostRuns && (fewest == 0 || n-r.Pairs < fewest) {
			fewest = n - r.Pairs
		}
	}
	have, n, _ := recommended(rows)
	if !few && n > have && n <= mostRuns {
		return n - have
	}
	return fewest
}
