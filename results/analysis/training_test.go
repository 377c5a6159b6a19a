package analysis

import (
	"math"
	"testing"
)

func TestMeanTraining(t *testing.T) {
	of := func(finished bool, points ...Accuracy) Training { return Training{points, finished} }
	jobs := []Training{
		of(true, Accuracy{0, 0}, Accuracy{10, 1}),
		of(true, Accuracy{0, 0.5}, Accuracy{10, 0.5}),
		of(false, Accuracy{0, 0.1}), // counts for nothing
	}
	mean := MeanTraining(jobs)
	if n := len(mean); n == 0 || mean[0] != (Accuracy{0, 0.25}) || mean[n-1] != (Accuracy{10, 0.75}) ||
		math.Abs(mean[n/2].Value-0.5) > 0.01 {
		t.Errorf("the mean is %v", mean)
	}
	if m := MeanTraining(jobs[:1]); m != nil {
		t.Errorf("the mean of one job is %v", m)
	}
	late := []Training{of(true, Accuracy{0, 0}, Accuracy{4, 0.4}), of(true, Accuracy{0, 0}, Accuracy{2, 0.8})}
	if m := MeanTraining(late); math.Abs(m[len(m)-1].Value-0.6) > 1e-9 || m[len(m)-1].At != 4 {
		t.Errorf("a job that has ended keeps its last: %v", m[len(m)-1])
	}
}
