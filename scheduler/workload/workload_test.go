package workload

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/scheduler"
)

func batch(class string, count int, a Arrivals) Submit {
	return Submit{Job: scheduler.Job{Class: class, Threads: 1}, Count: count, Arrivals: a}
}

func TestRealise(t *testing.T) {
	s := time.Second
	jobs, err := Realise("mixed", []Submit{
		batch("long", 2, Arrivals{Kind: At, Times: []time.Duration{3 * s}}),
		batch("short", 3, Arrivals{Kind: Every, Start: s, Mean: 2 * s}),
		batch("long", 2, Arrivals{Kind: At, Times: []time.Duration{5 * s, 4 * s}}),
		{Job: scheduler.Job{Class: "due", Deadline: 10 * s}, Count: 1, Arrivals: Arrivals{Start: s}},
	}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, j := range jobs {
		if j.Number != i {
			t.Errorf("job %d has number %d", i, j.Number)
		}
		got = append(got, fmt.Sprint(j.Name, " ", j.Arrival))
	}
	want := []string{"long-1 3s", "long-2 3s", "short-1 1s", "short-2 3s", "short-3 5s", "long-3 5s", "long-4 4s",
		"due-1 1s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if jobs[7].Deadline != 11*s || jobs[0].Deadline != scheduler.Never {
		t.Errorf("deadlines %s and %s", jobs[7].Deadline, jobs[0].Deadline)
	}
}

func TestArrivalsHaveTheirDistribution(t *testing.T) {
	const n = 20000
	for _, c := range []struct {
		a  Arrivals
		sd float64 // of a gap
	}{
		{Arrivals{Kind: Exponential, Mean: time.Second}, 1},
		{Arrivals{Kind: Normal, Mean: time.Second, SD: 200 * time.Millisecond}, 0.2},
	} {
		jobs, err := Realise("w", []Submit{batch("a", n, c.a)}, 7, nil)
		if err != nil {
			t.Fatal(err)
		}
		last, sum, squares := time.Duration(0), 0.0, 0.0
		for _, j := range jobs {
			gap := (j.Arrival - last).Seconds()
			if gap < 0 {
				t.Fatal("arrivals go back")
			}
			last = j.Arrival
			sum += gap
			squares += gap * gap
		}
		mean := sum / n
		sd := math.Sqrt(squares/n - mean*mean)
		if math.Abs(mean-1) > 4*c.sd/math.Sqrt(n) || math.Abs(sd/c.sd-1) > 0.05 {
			t.Errorf("%s: mean gap %.4f s, standard deviation %.4f", c.a.Kind, mean, sd)
		}
	}
}

// The draws of one batch depend only on the seed, the workload and its place.
func TestStreamsAreIndependent(t *testing.T) {
	exp := Arrivals{Kind: Exponential, Mean: time.Second}
	draw := func(name string, seed int64, first int) []scheduler.Job {
		jobs, err := Realise(name, []Submit{batch("a", first, exp), batch("b", 5, exp)}, seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range jobs {
			jobs[i].Number = 0
		}
		return jobs[first:]
	}
	same := draw("w", 1, 3)
	if !reflect.DeepEqual(same, draw("w", 1, 3)) || !reflect.DeepEqual(same, draw("w", 1, 30)) {
		t.Error("the second batch depends on the first")
	}
	if reflect.DeepEqual(same, draw("w", 2, 3)) || reflect.DeepEqual(same, draw("v", 1, 3)) {
		t.Error("the draws do not depend on the seed and the name")
	}
	if Stream(1, "a", "b").Uint64() == Stream(1, "ab").Uint64() || Stream(1, "a/b").Uint64() == Stream(1, "a",
		"b").Uint64() {
		t.Error("different paths are the same stream")
	}
}

func TestRealiseRefuses(t *testing.T) {
	for want, s := range map[string]Submit{
		"a count of -1":                  batch("a", -1, Arrivals{}),
		"2 arrival times for 3 jobs":     batch("a", 3, Arrivals{Kind: At, Times: make([]time.Duration, 2)}),
		"an arrival at -1ns":             batch("a", 1, Arrivals{Kind: At, Times: []time.Duration{-1}}),
		`unknown kind of arrivals "now"`: batch("a", 1, Arrivals{Kind: "now"}),
		"is negative":                    batch("a", 1, Arrivals{Kind: Normal, SD: -1}),
		"is out of range":                batch("a", 9, Arrivals{Kind: Every, Mean: math.MaxInt64 / 4}),
	} {
		if _, err := Realise("w", []Submit{s}, 1, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
}
