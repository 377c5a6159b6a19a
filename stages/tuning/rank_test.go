package tuning

import (
	"math"
	"testing"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/tuning/trial"
)

// TestRank computes the rank of a search's prediction. The least time is at n = 8. The first search has not tried n =
// 8, but its trials lead to it. The second search has too few trials for a model.
func TestRank(t *testing.T) {
	values := []string{"1", "2", "4", "8", "16"}
	e := &record.Experiment{}
	e.Plan.Replicates = 1
	for _, method := range []string{"bo", "random"} {
		trial.Asked.Set(&e.Plan, append(trial.Asked.Of(&e.Plan), trial.Tuning{
			Name: "t", Job: "j", Hardware: "h", Method: method, Objective: "time",
			Settings: []trial.TunedSetting{{Name: "n", Values: values, Numeric: true, Log: true, Initial: "1"}},
		}))
	}
	times := map[string]float64{"1": 100, "2": 52, "4": 28, "8": 17, "16": 20}
	try := func(tuning, number int, n string) {
		e.Beyond = append(e.Beyond, record.Cell{
			CellRef: record.CellRef{Replicate: 1, Beyond: record.NewFeatureValue(&trial.Ref{
				Tuning: tuning, Number: number, Settings: []record.Setting{{Name: "n", Value: n}},
			})},
			Outcome: record.NewFeatureValue(&trial.Outcome{Time: times[n], Units: 1}),
		})
	}
	for i, n := range []string{"1", "2", "4", "16"} {
		try(0, i+1, n)
	}
	try(1, 1, "8")
	_, rows := Rows(e)
	if len(rows) != 2 || !math.IsNaN(rows[0].PredictedRank) {
		t.Fatalf("rows are %+v", rows)
	}
	Rank(e, rows)
	if got := rows[0].PredictedRank; got != 1 && got != 2 {
		t.Errorf("the rank of the predicted best is %v of 5", got)
	}
	if !math.IsNaN(rows[1].PredictedRank) {
		t.Errorf("a model of one trial has the rank %v", rows[1].PredictedRank)
	}
}
