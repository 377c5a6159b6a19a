package estimator

import (
	"errors"
	"math/rand/v2"
	"testing"
)

func TestAutoChooses(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	run := func(n int, startup float64) Sample {
		s := Sample{Length: n, Threads: 2, Wall: startup}
		for range n {
			u := 0.1 * (1 + 0.02*r.NormFloat64())
			s.Units, s.Wall = append(s.Units, u), s.Wall+u
		}
		return s
	}
	curve := Curve{Sigma: 0.1}
	var threads []Sample
	for _, n := range []int{1, 2, 4, 8} {
		threads = append(threads, Sample{Length: 5, Threads: n, Wall: 100 / curve.Speedup(float64(n))})
	}
	runs := make([]Run, 8)
	for i := range runs { // every run slows down to half after its fifth unit
		runs[i] = Run{Job: "slows down", Resource: Resource{Threads: 2}, Length: 40, Seconds: 3 + 35*0.2 + 0.5}
	}
	for _, test := range []struct {
		name string
		p    Problem
		want string
	}{
		{"start-up matters", Problem{Samples: []Sample{run(3, 5), run(6, 5)}}, "linear"},
		{"other threads", Problem{Samples: threads, Resource: Resource{Threads: 6}}, "scaling"},
		{"past runs know better", Problem{Job: "slows down", Samples: []Sample{run(5, 3)}, History: runs}, "history"},
	} {
		e, err := Auto{}.Fit(test.p)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else if e.Model != test.want {
			t.Errorf("%s: %s was chosen, want %s", test.name, e.Model, test.want)
		}
	}
	if _, err := (Auto{}).Fit(Problem{}); !errors.Is(err, ErrUnfit) {
		t.Errorf("nothing gives %v", err)
	}
}
