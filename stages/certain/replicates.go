package certain

import (
	"fmt"
	"math"
	"slices"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

var _ = analysis.Register(analysis.Part{
	Name: "replicates", Title: "How many replicates", InReport: analysis.Verdicts + 5, OnTerminal: analysis.Verdicts + 5,
	Tell: func(e *record.Experiment) (s table.Section, err error) {
		rows, err := analysis.Comparisons(e)
		if err != nil {
			return s, err
		}
		if _, few := analysis.Lacking(rows); few {
			return s, nil // the answer already says how many replicates are needed
		}
		if said := moreReplicates(rows); said != "" {
			s.Report = []table.Item{{Plain: true, Sentences: []string{said}}}
			s.Terminal = s.Report
		}
		return s, nil
	},
})

// moreReplicates recommends a number of replicates if comparisons of all jobs have no detected difference. It is
// estimated from the variance. The result is empty if more replicates would not help.
func moreReplicates(rows []record.ComparisonRow) string {
	have, n, metric := recommended(rows)
	m, _ := measure.MetricByName(metric)
	what := fmt.Sprintf("a difference of %s in %s is detected in at least %s of such experiments",
		table.Share(analysis.WorthKnowing), m.Title, table.Share(analysis.Sureness))
	switch {
	case n <= have:
		return ""
	case n > analysis.MostRuns:
		return fmt.Sprintf("The %d replicates scatter so much that %s only with more than %d.", have, what,
			analysis.MostRuns)
	default:
		return fmt.Sprintf("With %d replicates, %s; there are %d.", n, what, have)
	}
}

// recommended returns the present and the recommended number of replicates for a metric. All are zero if no number is
// recommended.
func recommended(rows []record.ComparisonRow) (have, n int, metric string) {
	var needed []int
	for _, r := range rows {
		if !analysis.Undetected(&r) || r.Method != stats.PairedT || r.By != "" || metric != "" && r.Metric != metric {
			continue
		}
		metric = r.Metric
		half := (r.DifferenceHigh - r.DifferenceLow) / 2
		n := stats.Needed(half, r.Pairs, r.Level, analysis.WorthKnowing*math.Abs(r.BaselineMean), analysis.Sureness)
		if n == 0 && half > 0 { // more than anybody would run
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

// lacking returns how many more replicates are recommended: for comparisons with too few replicates, or else to detect
// a relevant difference. It returns 0 if more would not help.
func lacking(rows []record.ComparisonRow) int {
	n, few := analysis.Lacking(rows)
	if have, all, _ := recommended(rows); !few && all > have && all <= analysis.MostRuns {
		return all - have
	}
	return n
}
