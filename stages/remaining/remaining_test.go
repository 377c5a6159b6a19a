package remaining

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfexp/tfexp/estimator/losscurve"
	"github.com/tfexp/tfexp/results/record"
)

// falling returns reports of a loss of 2·0.9^n after each epoch n. An epoch takes two seconds; 0.7 is reached after the
// tenth.
func falling(epochs int) (lines []record.ProgressRow) {
	for n := 1; n <= epochs; n++ {
		lines = append(lines, record.ProgressRow{Epoch: n, Step: 10 * n, Loss: 2 * math.Pow(0.9, float64(n)), Seconds: 2})
	}
	return lines
}

func units(c curve) (all []int) {
	for _, p := range c.points {
		all = append(all, int(p.Step))
	}
	return all
}

// A curve ends where the target is reached. If a restarted job repeats reports, the last ones count.
func TestTrained(t *testing.T) {
	target := Target{Loss: 0.7, Units: 40}
	c := trained(falling(20), target)
	if got := units(c); !slices.Equal(got, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) || len(c.seconds) != 10 {
		t.Errorf("the units are %v", got)
	}
	steps := target
	steps.Steps = true
	if got := units(trained(falling(3), steps)); !slices.Equal(got, []int{10, 20, 30}) {
		t.Errorf("the steps are %v", got)
	}
	again := []record.ProgressRow{
		{Epoch: 0, Loss: 9, Seconds: 9}, {Epoch: 1, Loss: 5, Seconds: 1}, {Epoch: 2, Loss: math.NaN(), Seconds: 9}, {Epoch: 2, Loss: 4, Seconds: 2},
		{Epoch: 3, Loss: 3, Seconds: 3}, {Epoch: 2, Loss: 4.5, Seconds: 4, Rate: 0.1}, {Epoch: 3, Loss: 3.5, Seconds: 5}, {Epoch: 4, Loss: 0.7, Seconds: 6},
		{Epoch: 5, Loss: 0.1, Seconds: 7},
	}
	c = trained(again, target)
	want := []losscurve.Point{{Step: 1, Loss: 5}, {Step: 2, Loss: 4.5, Rate: 0.1}, {Step: 3, Loss: 3.5}, {Step: 4, Loss: 0.7}}
	if !slices.Equal(c.points, want) || !slices.Equal(c.seconds, []float64{1, 4, 5, 6}) {
		t.Errorf("the points are %v, in %v", c.points, c.seconds)
	}
}

// A run is predicted after each part of it that has enough reports for a prediction.
func TestOfJob(t *testing.T) {
	target := Target{Class: "net", Loss: 0.7, Units: 40}
	whole := trained(falling(20), target)
	rows := ofJob(whole, RemainingRow{Cell: "c", Job: "j"}, target)
	models := len(losscurve.Models())
	parts := map[float64]int{}
	for _, r := range rows {
		parts[r.Part]++
		if r.Cell != "c" || r.Job != "j" || r.Class != "net" || r.Target != 0.7 || r.Level != 0.9 || !r.Reached || r.Loss != whole.points[9].Loss {
			t.Errorf("%+v", r)
		}
		cut := max(int(math.Round(10*r.Part)), losscurve.Least)
		if r.Done != cut || r.Actual != float64(10-cut) || r.ActualSeconds != 2*float64(10-cut) {
			t.Errorf("of %g: %d done, %g and %g s left", r.Part, r.Done, r.Actual, r.ActualSeconds)
		}
		if math.IsNaN(r.Predicted) {
			continue
		}
		if error := 100 * (r.Predicted/r.Actual - 1); math.Abs(r.ErrorPct-error) > 1e-9 || math.Abs(r.PredictedSeconds-2*r.Predicted) > 1e-9 ||
			r.Covered != (r.Low <= r.Actual && r.Actual <= r.High) {
			t.Errorf("%s of %g: %+v", r.Model, r.Part, r)
		}
	}
	for _, part := range Parts {
		want := models
		if parts[part] != want {
			t.Errorf("%d predictions after %g of the run, want %d", parts[part], part, want)
		}
	}
	if rows := ofJob(trained(falling(losscurve.Least), target), RemainingRow{}, target); rows != nil {
		t.Errorf("as few points as a prediction needs leave nothing to predict: %v", rows)
	}
	short := ofJob(trained(falling(losscurve.Least+1), target), RemainingRow{}, target)
	if len(short) == 0 || short[0].Done != losscurve.Least {
		t.Errorf("one point more: %+v", short)
	}
	for _, r := range short {
		if r.Reached || !math.IsNaN(r.Actual) || r.ActualSeconds != -1 || !math.IsNaN(r.ErrorPct) || r.Covered {
			t.Errorf("a target that was not reached has come: %+v", r)
		}
	}
	// If ten steps are reported at once, a report counts as ten steps.
	target.Steps, target.Units = true, 400
	for _, r := range ofJob(trained(falling(20), target), RemainingRow{}, target) {
		if !math.IsNaN(r.Predicted) && math.Abs(r.PredictedSeconds-0.2*r.Predicted) > 1e-9 {
			t.Errorf("%s: %g steps take %g s", r.Model, r.Predicted, r.PredictedSeconds)
		}
	}
}

// The table has the finished jobs of real cells. Without a target there is no table.
func TestRewrite(t *testing.T) {
	e := &record.Experiment{Dir: t.TempDir()}
	Targets.Set(&e.Plan, []Target{{Class: "net", Loss: 0.7, Units: 40}, {Class: "other", Loss: 0.7, Units: 40}})
	real := record.Cell{CellRef: record.CellRef{Cell: "real", Engine: "process"}}
	if err := os.MkdirAll(filepath.Join(e.Dir, record.CellsDir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(e.Dir, record.CellsDir, "real", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if rows, err := ofCell(e, real.CellRef); rows != nil || err != nil {
		t.Errorf("a cell without files: %v, %v", rows, err)
	}
	write(record.Jobs.File, "job,class,state\na,net,finished\nb,net,failed\nc,third,finished\n")
	if rows, err := ofCell(e, real.CellRef); rows != nil || err != nil {
		t.Errorf("a cell without reports: %v, %v", rows, err)
	}
	w, err := record.Progress.Live(filepath.Join(e.Dir, record.CellsDir, "real"))
	if err != nil {
		t.Fatal(err)
	}
	for _, job := range []string{"a", "b", "c"} {
		for _, line := range falling(20) {
			line.Job = job
			w.Add(line)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	rows, err := ofCell(e, real.CellRef)
	if err != nil || len(rows) != len(Parts)*len(losscurve.Models()) {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	for _, r := range rows {
		if r.Job != "a" || r.Cell != "real" || r.Class != "net" {
			t.Errorf("%+v", r)
		}
	}
	write(record.Progress.File, "t_s,job\n\"a\"x,y\n")
	if _, err := ofCell(e, real.CellRef); err == nil {
		t.Error("damaged reports are no error")
	}
	write(record.Jobs.File, "job,class\n\"a\"x,y\n")
	if _, err := ofCell(e, real.CellRef); err == nil {
		t.Error("a damaged table of jobs is no error")
	}
}

// Recorded losses of simulated jobs are evaluated once, without times.
func TestRecordedLosses(t *testing.T) {
	net := Target{Class: "net", Loss: 0.25, Units: 40}
	for i := range 40 {
		net.Losses = append(net.Losses, 2/float64(i+1))
	}
	rows := ofRecorded("sim", []Target{net, {Class: "other", Loss: 0.7, Units: 40}})
	if len(rows) == 0 || len(rows)%len(losscurve.Models()) != 0 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		if r.Cell != "sim" || r.Class != "net" || !r.Reached || r.Actual != float64(8-r.Done) || !math.IsNaN(r.ActualSeconds) {
			t.Errorf("%+v", r)
		}
	}
}
