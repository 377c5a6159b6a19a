package certain

import (
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

func TestMoreReplicates(t *testing.T) {
	row := func(low, high float64) record.ComparisonRow {
		return record.ComparisonRow{Metric: "mean_jct_s", Verdict: record.NoDifference, Method: stats.PairedT, Pairs: 5,
			Level: 0.95, BaselineMean: 100, DifferenceLow: low, DifferenceHigh: high}
	}
	said := moreReplicates([]record.ComparisonRow{row(-20, 30)})
	if !strings.HasPrefix(said, "With 34 replicates, a difference of 10% in mean JCT is detected in at least 80% of such "+
		"experiments; there are 5.") {
		t.Error(said)
	}
	for _, scatter := range []float64{300, 1e5} { // these need 5,830 replicates, and more than are tried
		said := moreReplicates([]record.ComparisonRow{row(-scatter, scatter)})
		if !strings.HasSuffix(said, "only with more than 200.") {
			t.Error(said)
		}
	}
	better, class := row(-20, 30), row(-20, 30)
	better.Verdict, class.By = record.Better, "class"
	for _, rows := range [][]record.ComparisonRow{nil, {better}, {class}, {row(-4, 4)}} {
		if said := moreReplicates(rows); said != "" {
			t.Errorf("%+v: %s", rows, said)
		}
	}
}
