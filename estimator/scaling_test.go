package estimator

import (
	"errors"
	"math"
	"testing"
)

// halves fits every second number of threads, from the first or the second on, and predicts the other numbers. It
// returns the relative errors, and how many intervals hold the measured time.
func halves(t *testing.T, points [][2]float64, from int) (errs []float64, covered int) {
	t.Helper()
	var p Problem
	for i := from; i < len(points); i += 2 {
		p.Samples = append(p.Samples, Sample{Length: 1, Threads: int(points[i][0]), Wall: points[i][1]})
	}
	for i := 1 - from; i < len(points); i += 2 {
		p.Resource = Resource{Threads: int(points[i][0])}
		e, err := Scaling{}.Fit(p)
		if err != nil {
			t.Fatal(err)
		}
		pr := e.Predict(1, 0.9)
		errs = append(errs, pr.Seconds/points[i][1]-1)
		if pr.Low <= points[i][1] && points[i][1] <= pr.High {
			covered++
		}
	}
	return errs, covered
}

// Measured run times of containers by cores, for each number of neighbors: half of the core counts predict the other
// half.
func TestScalingOfContainers(t *testing.T) {
	for from := range 2 {
		var all []float64
		covered := 0
		for _, name := range []string{"contention", "contention-v2", "contention-v4"} {
			curves := map[float64][][2]float64{}
			var order []float64
			for _, r := range numbers(t, "tf_containers/Scripts_times_"+name+".csv") {
				k := r["Containers"]
				if curves[k] == nil {
					order = append(order, k)
				}
				curves[k] = append(curves[k], [2]float64{r["Cores_Per_C"], r["Time"]})
			}
			for _, k := range order {
				errs, c := halves(t, curves[k], from)
				all, covered = append(all, errs...), covered+c
			}
		}
		mae := 0.0
		for _, e := range all {
			mae += 100 * math.Abs(e) / float64(len(all))
		}
		t.Logf("from %d: mean absolute error %.1f%% over %d, %d covered", from, mae, len(all), covered)
		if mae > 10 {
			t.Errorf("the other half of the core counts is told with an error of %.1f%%", mae)
		}
		if share := float64(covered) / float64(len(all)); share < 0.85 {
			t.Errorf("the 90%% interval covers %.1f%%", 100*share)
		}
	}
}

func TestScalingFindsTheLaw(t *testing.T) {
	for _, want := range []Curve{{Sigma: 0.1}, {Sigma: 0.05, Kappa: 0.002}, {Sigma: 0.02, Limit: 8}} {
		var p Problem
		for _, n := range []int{1, 2, 4, 8, 16, 32, 64} {
			p.Samples = append(p.Samples, Sample{Length: 1, Threads: n, Wall: 100 / want.Speedup(float64(n))})
		}
		p.Resource = Resource{Threads: 24}
		e, err := Scaling{}.Fit(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Predict(1, 0.9).Seconds; math.Abs(got*want.Speedup(24)/100-1) > 0.02 {
			t.Errorf("%s: %g s on 24 threads, want %g; fitted %+v", want.Law(), got, 100/want.Speedup(24), e.Curve)
		}
		if e.Curve.Law() != want.Law() {
			t.Errorf("%+v was fitted by %+v", want, e.Curve)
		}
	}
	if _, err := (Scaling{}).Fit(Problem{Samples: []Sample{{Length: 1, Threads: 2, Wall: 1}}}); !errors.Is(err, ErrUnfit) {
		t.Errorf("one number of threads gives %v", err)
	}
}

// The job has two thread pools, each with a serial part.
func TestScalingOfPools(t *testing.T) {
	pace := func(inter, intra int) float64 {
		return 50 / Curve{Sigma: 0.05}.Speedup(float64(intra)) / Curve{Sigma: 0.6}.Speedup(float64(inter))
	}
	var p Problem
	for _, inter := range []int{1, 2, 4} {
		for _, intra := range []int{1, 4} {
			p.Samples = append(p.Samples, Sample{
				Length: 1, Threads: 16, Inter: inter, Intra: intra, Wall: pace(inter, intra),
			})
		}
	}
	p.Resource = Resource{Threads: 16, Inter: 2, Intra: 8}
	e, err := Scaling{}.Fit(p)
	if err != nil {
		t.Fatal(err)
	}
	want := pace(2, 8)
	if got := e.Predict(1, 0.9).Seconds; math.Abs(got/want-1) > 0.05 {
		t.Errorf("%g s, want %g", got, want)
	}
}
