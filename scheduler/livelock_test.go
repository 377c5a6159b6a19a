package scheduler

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// A run stalls if only pauses happen between two checks, and the remaining work is the same at both.
func TestStalls(t *testing.T) {
	looks := 0
	left := 5.0
	look := func() float64 { looks++; return left }
	var g livelockDetector
	stalls := func(pauses int) error {
		g.Pauses = pauses
		return g.Stalls(time.Second, 10, 3, look)
	}
	if err := stalls(4*10 + 255); err != nil || looks != 0 {
		t.Fatalf("it looks after few pauses: %v", err)
	}
	if err := stalls(4*10 + 256); err != nil || looks != 1 || g.Pauses != 0 {
		t.Fatalf("the first look: %v, %d looks", err, looks)
	}
	left = 4.9
	if err := stalls(1000); err != nil {
		t.Fatalf("less is left: %v", err)
	}
	g.Progressed()
	if err := stalls(1000); err != nil {
		t.Fatalf("something has happened since: %v", err)
	}
	if err := stalls(1000); !errors.Is(err, ErrLivelock) || !strings.Contains(err.Error(), "until 1s, 7 jobs were paused 1000 times") {
		t.Fatalf("as much is left: %v", err)
	}
	g = livelockDetector{Pauses: 1000}
	for range 2 {
		if err := g.Stalls(0, 1, 0, nil); err != nil || g.Pauses != 0 {
			t.Fatalf("an engine that cannot say what is left: %v", err)
		}
		g.Pauses = 1000
	}
}

// An engine that returns too often in a row without a notice is an error.
func TestIdles(t *testing.T) {
	var g livelockDetector
	for range 2 {
		for i := range maxIdle {
			if err := g.Idles(0, false); err != nil {
				t.Fatalf("after %d times: %v", i+1, err)
			}
		}
		if err := g.Idles(0, true); err != nil {
			t.Fatal(err)
		}
	}
	for range maxIdle {
		_ = g.Idles(0, false)
	}
	if err := g.Idles(0, false); err == nil {
		t.Error("it may come back with nothing for ever")
	}
}

// Each job must have ended, and its waiting and service times must add up to its completion time.
func TestAccounted(t *testing.T) {
	jobs := []Job{{Name: "a", Arrival: 2}}
	for _, c := range []struct {
		result Result
		closed bool
		want   string
	}{
		{Result{State: Finished, Waiting: 3, Service: 4, Finish: 9}, false, ""},
		{Result{State: Failed, Waiting: 3, Service: 4, Finish: 9}, false, ""},
		{Result{State: Stopped, Waiting: 3, Service: 4, Finish: 9}, false, ""},
		{Result{State: Finished, Waiting: 3, Service: 5, Finish: 9}, false, "waiting time 3ns and service time 5ns do not add up to its completion time 7ns"},
		{Result{State: Pending}, true, ""},
		{Result{State: Pending}, false, "has no result"},
		{Result{State: Running}, true, "has no result"},
	} {
		err := accounted(jobs, []Result{c.result}, c.closed)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.result, err, c.want)
		}
	}
}

// Jobs starve if at many checks in a row nothing runs and no job is still to arrive.
func TestStarves(t *testing.T) {
	var g livelockDetector
	for range 2 {
		for i := range maxStarve {
			if g.Starves(true) {
				t.Fatalf("jobs starve at look %d", i)
			}
		}
		if g.Starves(false) {
			t.Fatal("jobs starve while one runs")
		}
	}
	for range maxStarve {
		g.Starves(true)
	}
	if !g.Starves(true) {
		t.Errorf("no job starves after %d looks", maxStarve+1)
	}
}
