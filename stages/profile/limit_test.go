//go:build unix

package profile

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
)

// A sample that exceeds its time limit is ended, with its child processes. Its reports so far become the sample.
func TestASampleHasATimeLimit(t *testing.T) {
	log := t.TempDir() + "/log"
	sample := func(limit time.Duration, script string) (estimator.Sample, error) {
		return take(t.Context(), here(Run{Length: 50, Limit: limit, Job: launch.Job{
			Name: "p", Argv: []string{"sh", "-c", script}, Threads: 1, LogPath: log}}), nil)
	}
	if _, err := sample(200*time.Millisecond, "sleep 100 & wait"); !errors.Is(err, ErrTooLong) {
		t.Errorf("a sample that never ends: %v", err)
	}
	var s estimator.Sample
	var err error
	// Until all units are reported.
	for limit := 500 * time.Millisecond; len(s.Units) < 3 && limit < time.Minute; limit *= 2 {
		s, err = sample(limit, `for i in 1 2 3; do echo "{\"tfexp\":{\"epoch\":$i,\"seconds\":0.5}}"; done; sleep 100`)
	}
	if err != nil || s.Length != 3 || len(s.Units) != 3 || len(s.Warnings) != 1 || math.Abs(s.Wall-s.Startup-1.5) > 1e-9 {
		t.Errorf("a sample that is cut: %+v, %v", s, err)
	}
	if _, err := sample(time.Minute, "true"); err != nil {
		t.Errorf("a sample that ends in time: %v", err)
	}
}

// If the program does not report start-up and units, their times come from the arrival of its lines.
func TestArrivals(t *testing.T) {
	tell := func(steps bool, lines ...contract.Progress) *arrivals {
		a := &arrivals{steps: steps}
		for i, p := range lines {
			a.add(0, time.Duration(i+5)*time.Second, p) // the first line arrives after five seconds, then one each second
		}
		return a
	}
	one, two, three, four := contract.Progress{Epoch: 1}, contract.Progress{Epoch: 2}, contract.Progress{Epoch: 3}, contract.Progress{Epoch: 4}

	s := estimator.Sample{Length: 3, Units: []float64{2, 1, 1}}
	tell(false, one, two, three).complete(&s, time.Second)
	if s.Startup != 2 { // 5 s minus 1 s before its beginning and 2 s of its first epoch
		t.Errorf("a start-up of %g s", s.Startup)
	}
	s.Startup = 0.5
	if tell(false, one, two, three).complete(&s, 0); s.Startup != 0.5 {
		t.Error("what the program says itself does not count")
	}

	s = estimator.Sample{Length: 4}
	tell(false, one, two, three, four).complete(&s, 0)
	if len(s.Units) != 4 || s.Units[0] != 1 || s.Units[3] != 1 || s.Startup != 4 {
		t.Errorf("units without seconds: %+v", s)
	}
	for name, a := range map[string]*arrivals{
		"nothing": tell(false), "two of four": tell(false, one, two), "a line that is missing": tell(false, one, two, four,
			four),
		"other units": tell(true, one, two, three, four),
	} {
		s = estimator.Sample{Length: 4}
		if a.complete(&s, 0); s.Units != nil || s.Startup != 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	s = estimator.Sample{Length: 3}
	tell(true, contract.Progress{Step: 1}, contract.Progress{Step: 2}, contract.Progress{Step: 3}).complete(&s, 0)
	if len(s.Units) != 3 {
		t.Errorf("steps: %+v", s)
	}
}
