package tuning

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/tuning/trial"
)

// searched returns an experiment with trials of two settings. Only lr affects the accuracy.
func searched(t *testing.T, least float64) *record.Experiment {
	t.Helper()
	e := &record.Experiment{Dir: t.TempDir(), Plan: record.Plan{Replicates: 1, Seed: 1}}
	one := trial.Tuning{Name: "digits", Job: "digits", Hardware: "here", Method: "bo", Objective: "accuracy", Trials: 9,
		Settings: []trial.TunedSetting{
			{Name: "lr", Values: []string{"0.1", "0.2", "0.3"}, Numeric: true},
			{Name: "batch", Values: []string{"8", "16", "32"}, Numeric: true},
		},
		Constraints: []trial.Constraint{{Outcome: "accuracy", Min: &least}},
	}
	trial.Asked.Set(&e.Plan, []trial.Tuning{one})
	for i, lr := range one.Settings[0].Values {
		for k, batch := range one.Settings[1].Values {
			accuracy := []float64{0.5, 0.9, 0.7}[i]
			ref := trial.Ref{Number: 3*i + k + 1, Settings: []record.Setting{{Name: "lr", Value: lr}, {Name: "batch", Value: batch}}}
			c := record.Cell{CellRef: record.CellRef{Cell: fmt.Sprint("c", i, k), Hardware: "here", Replicate: 1, Beyond: record.NewFeatureValue(&ref)},
				Outcome: record.NewFeatureValue(&trial.Outcome{Time: 600, Accuracy: &accuracy})}
			e.Beyond = append(e.Beyond, c)
		}
	}
	return e
}

// The headline of a search has the best settings with their results, the number of trials until then, and the settings
// that matter.
func TestHeadline(t *testing.T) {
	e := searched(t, 0.6)
	_, rows := Rows(e)
	h := headline(e, rows, nil)
	want := "The best settings found for digits are lr=0.2, batch=8: accuracy 0.900, as with 2 other settings; trial 4 of 9 was the " +
		"first within 10% of it."
	if h.Sentence != want || !strings.HasPrefix(h.Note, "Settings by importance: lr ") {
		t.Errorf("%s\nwant %s\n%s", h.Sentence, want, h.Note)
	}
	if list := importances(e, &trial.Asked.Of(&e.Plan)[0]); len(list) != 2 || list[0].name != "lr" || list[0].part < 0.9 {
		t.Errorf("importance: %+v", list)
	}
	if len(h.Table.Rows) != 8 || strings.Join(h.Table.Rows[0], " ") != "4 0.2 8 done 0.900 10" ||
		h.Table.Columns[5].Name != "time (min)" {
		t.Errorf("%+v", h.Table)
	}
}

// If no trial keeps the constraints, the headline has the nearest trial.
func TestHeadlineOfNothing(t *testing.T) {
	e := searched(t, 0.95)
	_, rows := Rows(e)
	h := headline(e, rows, nil)
	want := "No trial of digits reached accuracy of at least 0.95; the nearest trial had accuracy 0.900 with lr=0.2, batch=8."
	if !strings.HasPrefix(h.Sentence, want) || h.Table.Rows[0][3] != trial.TrialInfeasible {
		t.Errorf("%s\n%+v", h.Sentence, h.Table.Rows[0])
	}
}

// If no program reports the objective, the headline says so.
func TestHeadlineOfAnUnreportedObjective(t *testing.T) {
	e := searched(t, 0.6)
	trial.Asked.Of(&e.Plan)[0].Constraints = nil
	for i := range e.Beyond {
		e.Beyond[i].Outcome = record.NewFeatureValue(&trial.Outcome{Time: 600})
	}
	_, rows := Rows(e)
	want := "No trial of digits has an outcome; no trial reported an accuracy: "
	if h := headline(e, rows, nil); !strings.HasPrefix(h.Sentence, want) {
		t.Error(h.Sentence)
	}
}

// After a job was tuned while it trained, the headline has the settings that it ended with, and those that it began with.
func TestHeadlineOfAJobThatChanged(t *testing.T) {
	e := searched(t, 0.6)
	trial.Asked.Of(&e.Plan)[0].Mode = trial.Online
	e.Beyond = e.Beyond[3:4]
	o := record.FeatureValueOf[trial.Outcome](e.Beyond[0].Outcome)
	end := []record.Setting{{Name: "lr", Value: "0.3"}, {Name: "batch", Value: "32"}}
	o.Stretches = []trial.Stretch{{Settings: record.FeatureValueOf[trial.Ref](e.Beyond[0].Beyond).Settings}, {Settings: end}}
	e.Beyond[0].Outcome = record.NewFeatureValue(o)
	_, rows := Rows(e)
	h := headline(e, rows, nil)
	want := "The best run of digits ended with lr=0.3, batch=32, and began with lr=0.2, batch=8: accuracy 0.900"
	if !strings.HasPrefix(h.Sentence, want) || strings.Join(h.Table.Rows[0][1:3], " ") != "0.3 32" {
		t.Errorf("%s\n%v\nwant %s", h.Sentence, h.Table.Rows, want)
	}
}

// The runs of the same settings in several replicates are one row.
func TestTrialsOfSeveralReplicates(t *testing.T) {
	e := searched(t, 0.6)
	e.Plan.Replicates = 2
	for _, c := range e.Beyond[:9:9] {
		c.Replicate = 2
		e.Beyond = append(e.Beyond, c)
	}
	_, rows := Rows(e)
	h := headline(e, rows, nil)
	if len(h.Table.Rows) != 8 || strings.Join(h.Table.Rows[0], " ") != "2 0.2 8 done 0.900 10" || h.Table.Columns[0].Name != "runs" {
		t.Errorf("%+v", h.Table)
	}
}
