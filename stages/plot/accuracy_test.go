package plot

import (
	"math"
	"testing"
)

func TestMeanTraining(t *testing.T) {
	of := func(finished bool, points ...report) training { return training{points, finished} }
	jobs := []training{
		of(true, report{0, 0}, report{10, 1}),
		of(true, report{0, 0.5}, report{10, 0.5}),
		of(false, report{0, 0.1}), // counts for nothing
	}
	mean := meanTraining(jobs)
	if n := len(mean); n == 0 || mean[0] != (report{0, 0.25}) || mean[n-1] != (report{10, 0.75}) ||
		math.Abs(mean[n/2].accuracy-0.5) > 0.01 {
		t.Errorf("the mean is %v", mean)
	}
	if m := meanTraining(jobs[:1]); m != nil {
		t.Errorf("the mean of one job is %v", m)
	}
	late := []training{of(true, report{0, 0}, report{4, 0.4}), of(true, report{0, 0}, report{2, 0.8})}
	if m := meanTraining(late); math.Abs(m[len(m)-1].accuracy-0.6) > 1e-9 || m[len(m)-1].at != 4 {
		t.Errorf("a job that has ended keeps its last: %v", m[len(m)-1])
	}
}
