package analysis

import (
	"math"
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
	if !strings.HasPrefix(said, "By their scatter, 34 replicates would detect a difference of 10% in mean JCT in at least 80% of such "+
		"experiments; there are 5.") {
		t.Error(said)
	}
	better, class := row(-20, 30), row(-20, 30)
	better.Verdict, class.By = record.Better, "class"
	for _, rows := range [][]record.ComparisonRow{nil, {better}, {class}, {row(-4, 4)}, {row(-1e5, 1e5)}} {
		if said := moreReplicates(rows); said != "" {
			t.Errorf("%+v: %s", rows, said)
		}
	}
}

// An answer whose merit is not known is given once.
func TestForemostOnce(t *testing.T) {
	unknown := Answer{Text: "Too few replicates.", Merit: math.NaN()}
	if got := Foremost([]Answer{unknown}, 3); len(got) != 1 {
		t.Errorf("%d answers of one", len(got))
	}
}
