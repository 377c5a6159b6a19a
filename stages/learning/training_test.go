package learning

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/tfexp/tfexp/results/record"
)

func TestMedianTraining(t *testing.T) {
	of := func(finished bool, points ...point) training { return training{"", points, finished} }
	jobs := []training{
		of(true, point{0, 0}, point{10, 1}),
		of(true, point{0, 0.5}, point{10, 0.5}),
		of(false, point{0, 0.1}), // not finished: ignored
	}
	median := medianTraining(jobs)
	if n := len(median); n == 0 || median[0] != (point{0, 0.25}) || median[n-1] != (point{10, 0.75}) ||
		math.Abs(median[n/2].Value-0.5) > 0.01 {
		t.Errorf("the median is %v", median)
	}
	if m := medianTraining(jobs[:1]); !reflect.DeepEqual(m, jobs[0].Points) {
		t.Errorf("the median of one job is %v", m)
	}
	late := []training{of(true, point{0, 0}, point{4, 0.4}), of(true, point{0, 0}, point{2, 0.8})}
	if m := medianTraining(late); math.Abs(m[len(m)-1].Value-0.6) > 1e-9 || m[len(m)-1].At != 4 {
		t.Errorf("a job that has ended keeps its last: %v", m[len(m)-1])
	}
}

// Times of reports count from the job's start. Reports without accuracy are ignored, and so are jobs without any.
func TestTrainings(t *testing.T) {
	e := &record.Experiment{Dir: t.TempDir()}
	c := record.Cell{CellRef: record.CellRef{Cell: "c"}}
	if jobs, err := trainings(e, c); err != nil || jobs != nil {
		t.Errorf("no reports: %v, %v", jobs, err)
	}
	dir := filepath.Join(e.Dir, record.CellsDir, "c")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w, err := record.Progress.Live(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []record.ProgressRow{
		{At: 3, Job: "a", Accuracy: 0.5}, {At: 3, Job: "b", Accuracy: math.NaN()}, {At: 4, Job: "c", Accuracy: 0.1},
		{At: 5, Job: "a", Accuracy: math.NaN()}, {At: 7, Job: "a", Accuracy: 0.75},
	} {
		w.Add(r)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := []training{{Points: []point{{3, 0.5}, {7, 0.75}}}, {Points: []point{{4, 0.1}}}}
	if jobs, err := trainings(e, c); err != nil || !reflect.DeepEqual(jobs, want) {
		t.Errorf("without a table of jobs: %v, %v", jobs, err)
	}
	table := "job,class,first_start_s,state\na,x,2,finished\nb,x,0,finished\nc,y,-1,failed\n"
	if err := os.WriteFile(filepath.Join(dir, record.Jobs.File), []byte(table), 0o644); err != nil {
		t.Fatal(err)
	}
	want = []training{{"x", []point{{1, 0.5}, {5, 0.75}}, true}, {"y", []point{{4, 0.1}}, false}}
	if jobs, err := trainings(e, c); err != nil || !reflect.DeepEqual(jobs, want) {
		t.Errorf("%v, %v, want %v", jobs, err, want)
	}
}

// Between reports, accuracy is interpolated linearly. Before the first and after the last report it is constant.
func TestAccuracyBetweenReports(t *testing.T) {
	job := training{Points: []point{{1, 0.2}, {3, 0.6}, {3, 0.4}, {5, 0.8}}}
	for at, want := range map[float64]float64{0: 0.2, 1: 0.2, 2: 0.4, 3: 0.6, 4: 0.6, 5: 0.8, 9: 0.8} {
		if got := job.value(at); math.Abs(got-want) > 1e-12 {
			t.Errorf("at %g: %g, want %g", at, got, want)
		}
	}
	// All jobs have reported at 2 s, and half of the four jobs have ended at 8 s.
	var jobs []training
	for i := range 4 {
		jobs = append(jobs, training{"", []point{{float64(i) - 1, 0.1}, {4 + 2*float64(i), 0.1}}, true})
	}
	median := medianTraining(jobs)
	if n := len(median); n != 81 || median[0].At != 2 || median[n-1].At != 8 {
		t.Errorf("the median is from %v to %v", median[0], median[len(median)-1])
	}
	jobs[0].Points[0].At, jobs[3].Points[0].At = 8, 8
	if median := medianTraining(jobs); median != nil {
		t.Errorf("nothing lies between: %v", median)
	}
}
