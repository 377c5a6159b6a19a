package adaptation

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfexp/tfexp/stages/adaptation/deepening"
)

// The table of trainings has the name of its adaptation if there are several; an existing one is read, unless the
// adaptation has one from a file.
func TestTablesOfTrainings(t *testing.T) {
	dir := t.TempDir()
	table := []byte("scenario,a1,timeleft1,totaltime,acc\ncalm,0,8,10,0.5\ncalm,1,8,10,0.75\n")
	exhaustive := func(name string) *deepening.Study {
		return &deepening.Study{Name: name, Real: &deepening.RealTrainings{Decisions: 1, Blocks: 1, Exhaustive: true}}
	}
	one, two, decided := exhaustive("one"), exhaustive("two"), &deepening.Study{Name: "three",
		Real: &deepening.RealTrainings{}}
	fromFile := &deepening.Study{Name: "file", File: "t.csv", Real: &deepening.RealTrainings{Decisions: 1, Blocks: 1}}
	if got := tableOf([]*deepening.Study{one, decided, fromFile}, one); got != TableFile {
		t.Errorf("the only table is %s", got)
	}
	if got := tableOf([]*deepening.Study{one, two}, two); got != "table-two.csv" {
		t.Errorf("one of two tables is %s", got)
	}
	if err := os.WriteFile(filepath.Join(dir, TableFile), table, 0o644); err != nil {
		t.Fatal(err)
	}
	has := exhaustive("has")
	has.Real.Exhaustive, has.Tables = false, []*deepening.OutcomeTable{{Name: "own"}}
	all := studies(dir, &world{studies: []*deepening.Study{one, fromFile, {Name: "recorded"}, has}})
	if len(all) != 4 || len(one.Tables) != 1 || one.Tables[0].Accuracy[1] != 0.75 || len(one.Digest) != 64 {
		t.Errorf("the trained table is %+v", one)
	}
	if fromFile.Tables != nil || all[2].Tables != nil || has.Tables[0].Name != "own" {
		t.Errorf("the others have %v, %v and %v", fromFile.Tables, all[2].Tables, has.Tables)
	}
	if err := addTrainedTable(two, []byte("scenario,a1,timeleft1,totaltime,acc\ncalm,0,8,10,0.5\n")); err == nil ||
		two.Tables != nil {
		t.Errorf("a table that lacks a sequence: %v, %v", err, two.Tables)
	}
}

func TestBudgetsKept(t *testing.T) {
	rows := []CourseRow{
		{Adaptation: "net", Budget: 5, Trained: 5.002, Step: .004, Told: []float64{.001, -.003}},
		{Adaptation: "net", Budget: 5, Trained: 5.006, Step: .006, Told: []float64{.002}},
		{Adaptation: "net", Budget: 5, Trained: math.NaN(), Step: .004},
	}
	const want = "In 2 real trainings programs stopped 4.0 ms after the end of their budget in the median, and 6.0 " +
		"ms after it at the latest; a step takes 5.0 ms in the median of the trainings, and 6.0 ms in the slowest. " +
		"At 3 reports, the program and the scheduler differ in the time left of the budget, by 2.0 " +
		"ms in the median, 2.9 ms at 95%, and 3.0 ms at most. This includes the time that a report takes to arrive."
	if got := budgetSentence(rows[:3]); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := budgetSentence(nil); got != "" {
		t.Error(got)
	}
}
