package tuning

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/record"
	pictures "github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/plottest"
	"github.com/tfexp/tfexp/stages/steering"
	"github.com/tfexp/tfexp/stages/tuning/trial"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// experiment returns two methods on one problem, in three replicates each. One method's first trial is infeasible in
// all of them, so its regret is unknown there.
func experiment(t *testing.T, trials int) *record.Experiment {
	t.Helper()
	e := &record.Experiment{Dir: t.TempDir()}
	e.Plan.Replicates = 3
	least, best := 0.9, 1.0
	for m, method := range []string{"bo", "random"} {
		trial.Asked.Set(&e.Plan, append(trial.Asked.Of(&e.Plan), trial.Tuning{
			Name: "t", Job: "j", Hardware: "h", Method: method, Objective: "time", Trials: trials, Best: &best,
			Constraints: []trial.Constraint{{Outcome: "accuracy", Min: &least}},
			Settings: []trial.TunedSetting{
				{Name: "workers", Values: []string{"1", "2", "4", "8"}, Numeric: true, Log: true, Initial: "1"},
				{Name: "type", Values: []string{"small", "large"}, Initial: "small"},
				{Name: "rate", Min: 0.1, Max: 10, Numeric: true, Log: true, Initial: "0.1"},
			},
		}))
		for r := 1; r <= 3; r++ {
			for n := 1; n <= trials; n++ {
				accuracy := 0.95
				if m == 1 && n == 1 {
					accuracy = 0.5
				}
				workers := []string{"1", "2", "4", "8"}[(n+r)%4]
				e.Beyond = append(e.Beyond, record.Cell{
					CellRef: record.CellRef{Cell: fmt.Sprint(m, r, n), Replicate: r, Beyond: record.NewFeatureValue(&trial.Ref{
						Tuning: m, Number: n, Settings: []record.Setting{{Name: "workers", Value: workers},
							{Name: "type", Value: []string{"small", "large"}[n%2]}, {Name: "rate", Value: fmt.Sprint(0.1 * float64(n))}},
					})},
					Outcome: record.NewFeatureValue(&trial.Outcome{Time: 1 + 5*math.Abs(float64(n-3)), Units: 1, Accuracy: &accuracy}),
				})
			}
		}
	}
	rows, tunings := Rows(e)
	if err := errors.Join(Trials.Replace(e.Dir, rows), Tunings.Replace(e.Dir, tunings)); err != nil {
		t.Fatal(err)
	}
	return e
}

func drawAll(t *testing.T, e *record.Experiment) []record.Picture {
	t.Helper()
	for _, kind := range []string{Regret, Surrogate} {
		e.Plan.Plots = append(e.Plan.Plots, record.Plot{Kind: kind})
	}
	list, err := pictures.Draw(context.Background(), e, t.TempDir(), pictures.Options{Formats: []string{"svg"}})
	if err != nil {
		t.Fatal(err)
	}
	plottest.Check(t, list)
	return list
}

// TestPictureOfOneSetting: its only panel is as wide as the picture.
func TestPictureOfOneSetting(t *testing.T) {
	e := experiment(t, 8)
	one := trial.Asked.Of(&e.Plan)[:1]
	one[0].Settings = one[0].Settings[:1]
	trial.Asked.Set(&e.Plan, one)
	e.Beyond = slices.DeleteFunc(e.Beyond, func(c record.Cell) bool {
		return record.FeatureValueOf[trial.Ref](c.Beyond).Tuning > 0
	})
	for _, c := range trial.Cells(e) {
		c.Trial.Settings = c.Trial.Settings[:1]
	}
	for _, p := range drawAll(t, e) {
		if p.Name != "surrogate-t" {
			continue
		}
		raw, err := os.ReadFile(p.SVG)
		if err != nil {
			t.Fatal(err)
		}
		plottest.Same(t, "surrogate-one-setting.svg", raw, *update)
		return
	}
	t.Error("no surrogate-t")
}

// TestPictures draws the regret of both methods in one picture, and the model and its plane for each.
func TestPictures(t *testing.T) {
	list := drawAll(t, experiment(t, 8))
	var names []string
	for _, p := range list {
		names = append(names, p.Name)
	}
	want := []string{"regret-t", "surrogate-t-1-bo", "surrogate-plane-t-1-bo", "surrogate-t-2-random",
		"surrogate-plane-t-2-random"}
	if !slices.Equal(names, want) {
		t.Errorf("the pictures are %q, want %q", names, want)
	}
	plottest.Golden(t, list, *update)
}

// TestFewTrials: there is no model to draw after three trials.
func TestFewTrials(t *testing.T) {
	if got := plottest.Names(drawAll(t, experiment(t, 3))); got != "regret-t" {
		t.Errorf("the pictures are %s", got)
	}
	if got := drawAll(t, &record.Experiment{Dir: t.TempDir()}); len(got) != 0 {
		t.Errorf("without a tuning there are %s", plottest.Names(got))
	}
}

// A job that was tuned while it trained has a picture of its losses and changes; a job without progress has no such
// picture.
func TestChanges(t *testing.T) {
	e := experiment(t, 2)
	trial.Asked.Of(&e.Plan)[0].Mode = trial.Online
	dir := filepath.Join(e.Dir, record.CellsDir, e.Beyond[0].Cell)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w, err := record.Progress.Live(dir)
	if err != nil {
		t.Fatal(err)
	}
	for k := 1; k <= 9; k++ {
		w.Add(record.ProgressRow{At: float64(k), Job: "j-1", Epoch: k, Loss: 1 / float64(k)})
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := steering.Decisions.Write(dir, []steering.Row{
		{At: 2, Job: "j-1", After: "workers=2 type=small rate=1", How: "in place"},
		{At: 2.2, Job: "j-1", After: "workers=4 type=large rate=1", How: "restart"},
		{At: 8.8, Job: "j-1", After: "workers=1 type=large rate=1", How: "refused"},
	}); err != nil {
		t.Fatal(err)
	}
	e.Plan.Plots = []record.Plot{{Kind: Changes}}
	list, err := pictures.Draw(context.Background(), e, t.TempDir(), pictures.Options{Formats: []string{"svg"}})
	if err != nil || len(list) != 1 || list[0].Skipped != "" || !strings.Contains(list[0].Caption, "the 2 changes") {
		t.Errorf("%v, %+v", err, list)
	}
	plottest.Golden(t, list, *update)
}
