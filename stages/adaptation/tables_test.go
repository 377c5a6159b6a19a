package adaptation

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Controllers that decided in real training are in the same files as the others, and are marked.
func TestTables(t *testing.T) {
	dir := t.TempDir()
	a := Tables{
		Ranking:     []RankingRow{{Controller: "x", Where: OnTable}},
		RealRanking: []RankingRow{{Controller: "y", Where: InTraining}},
		Choices:     []ChoiceRow{{Controller: "x", Where: OnTable}},
		RealChoices: []ChoiceRow{{Controller: "y", Where: InTraining}},
		Sequences:   []SequenceRow{{Sequence: "0 1", Times: []float64{1, 2.5}, Expected: []float64{0.5}}},
		Objectives:  []ObjectiveRow{{Controller: "x", Episode: 3, Objective: 0.5}},
		Trainings:   []TrainingRow{{Controller: "x", Seconds: 2}},
		Courses:     []CourseRow{{Controller: "y", Times: []float64{1, 2}, Told: []float64{-0.5}}},
	}
	if err := a.Write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := ReadTables(dir)
	if err != nil || len(got.Ranking) != 1 || got.Ranking[0].Controller != "x" || len(got.RealRanking) != 1 ||
		got.RealRanking[0].Controller != "y" || len(got.Choices) != 1 || len(got.RealChoices) != 1 ||
		got.RealChoices[0].Controller != "y" || len(got.Objectives) != 1 || len(got.Trainings) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if d := cmp.Diff(a.Sequences, got.Sequences); d != "" {
		t.Error(d)
	}
	if c := got.Courses; len(c) != 1 || !cmp.Equal(c[0].Times, []float64{1, 2}) || !cmp.Equal(c[0].Told, []float64{-0.5}) {
		t.Errorf("%+v", c)
	}
	if err := (Tables{}).Write(dir); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("tables without rows stay: %v, %v", left, err)
	}
	if err := os.WriteFile(filepath.Join(dir, Sequences.File), []byte("times\n1 x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadTables(dir); err == nil {
		t.Error("a list with a word among its numbers is no error")
	}
}
