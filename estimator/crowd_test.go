package estimator

import (
	"math"
	"testing"
)

// With any number of measurements, the law fits them, and is plausible for other crowds.
func TestFitSlowed(t *testing.T) {
	if law := FitSlowed(nil); law != (Contention{}) || law.Slowdown(1, 1, 2) != 1 {
		t.Errorf("of nothing: %+v", law)
	}
	for _, times := range []float64{1, 1.1, 1.3, 1.9} {
		law := FitSlowed([]Slowed{{Own: 1, Others: 1, Total: 2, Times: times}})
		if got := law.Slowdown(1, 1, 2); math.Abs(got/times-1) > 0.04 {
			t.Errorf("measured %g, the law says %g (%+v)", times, got, law)
		}
		if got := law.Slowdown(2, 0, 2); got != 1 {
			t.Errorf("a job alone is slowed down %g times", got)
		}
	}
	truth := Contention{Serial: 0.05, Capacity: 0.6, Sharpness: 3}
	var measured []Slowed
	for _, own := range []float64{1, 2, 4} {
		measured = append(measured, Slowed{own, 16 - own, 16, truth.Slowdown(own, 16-own, 16)})
	}
	law := FitSlowed(measured)
	for _, others := range []float64{2, 6, 10, 14} {
		if got, want := law.Slowdown(2, others, 16), truth.Slowdown(2, others, 16); math.Abs(got/want-1) > 0.1 {
			t.Errorf("beside %g cores the law says %.3f, it is %.3f", others, got, want)
		}
	}
}

// Copies are compared with the job alone by their units, or by the whole time of samples of one length, at one speed of
// the machine.
func TestSideBySide(t *testing.T) {
	crowd := Sample{Length: 3, Threads: 1, Wall: 6, Units: []float64{3, 1.5, 1.5}, Others: 1, Total: 2}
	alone := []Sample{{Length: 3, Threads: 1, Wall: 4, Units: []float64{9, 1, 1}},
		{Length: 3, Threads: 2, Units: []float64{7, 7, 7}}}
	if got, ok := SideBySide(alone, crowd); !ok || got != (Slowed{1, 1, 2, 1.5}) {
		t.Errorf("by units: %+v, %v", got, ok)
	}
	alone[0].Units = nil
	if got, ok := SideBySide(alone, crowd); !ok || got.Times != 1.5 {
		t.Errorf("by the whole time: %+v, %v", got, ok)
	}
	alone[0].Length = 2
	if got, ok := SideBySide(alone, crowd); ok {
		t.Errorf("samples of other lengths are compared: %+v", got)
	}
	slow := crowd
	slow.Units = []float64{2, 1.5, 1.5}
	slow.Probe, slow.ProbeCores = 1.5, 1
	slow.Wall = 2
	steady := Sample{Length: 3, Threads: 1, Wall: 2, Units: []float64{1, 1, 1}, SpeedProbe: SpeedProbe{Probe: 1, ProbeCores: 1}}
	if got, _ := SideBySide([]Sample{steady}, slow); math.Abs(got.Times-math.Pow(1.5, 1-follows)) > 1e-9 {
		t.Errorf("a machine that was slower counts wholly as neighbours: %+v", got)
	}
}

// Where other programs take one of two cores, a job on both takes about twice as long, one on a single core hardly
// longer; with another job on the machine it gets half of the rest.
func TestCoresTakenByOtherPrograms(t *testing.T) {
	law := AnyMachine()
	law.Sharpness = 20
	taken := law
	taken.Taken = 1
	for _, c := range []struct{ own, others, want float64 }{{2, 0, 2}, {1, 0, 1}, {1, 1, 2}, {2, 2, 4}} {
		got := taken.Slowdown(c.own, c.others, 2)
		if math.Abs(got/c.want-1) > 0.05 {
			t.Errorf("on %g cores beside %g: %.3g times as long, want %g", c.own, c.others, got, c.want)
		}
		if free := law.Slowdown(c.own, c.others, 2); free > got {
			t.Errorf("on %g cores beside %g: %.3g times as long without other programs, %.3g with them", c.own, c.others, free, got)
		}
	}
	taken.Taken = 5
	if got := taken.Slowdown(1, 0, 2); math.Abs(got-5) > 0.3 {
		t.Errorf("of a full machine a job gets a tenth of two cores, not 1/%.3g", got)
	}
	quiet := Sample{Threads: 2, Wall: 1, Units: []float64{0.5, 0.5}}
	busy := Sample{Threads: 2, Wall: 2, Units: []float64{1, 1}, Busy: 1.02, Machine: 2}
	out := AtOneSpeed([]Sample{quiet, busy})
	if out[0].Wall != 1 || math.Abs(out[1].Wall-1.19) > 0.1 || out[1].Units[0] != out[1].Wall/2 {
		t.Errorf("as without other programs: %+v", out)
	}
	for _, short := range []Sample{{Threads: 2, Wall: 0.1, Busy: 0.2, Machine: 2}, {Threads: 1, Others: 1, Wall: 0.1, Machine: 2}} {
		if f := short.besidePrograms(); f != 1 {
			t.Errorf("%+v: a load within a tick of the counters counts: %g", short, f)
		}
	}
}
