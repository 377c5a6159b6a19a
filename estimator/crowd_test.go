package estimator

import (
	"cmp"
	"math"
	"slices"
	"testing"
)

// The law fits any number of measurements, and gives plausible slowdowns for other numbers of jobs.
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
		measured = append(measured, Slowed{own, 16 - own, 16, truth.Slowdown(own, 16-own, 16), 0})
	}
	law := FitSlowed(measured)
	for _, others := range []float64{2, 6, 10, 14} {
		if got, want := law.Slowdown(2, others, 16), truth.Slowdown(2, others, 16); math.Abs(got/want-1) > 0.1 {
			t.Errorf("beside %g cores the law says %.3f, it is %.3f", others, got, want)
		}
	}
}

// Copies of a job are compared with the job alone: by their units, or by the whole time if the samples have the same
// length. Both are converted to the same speed of the machine.
func TestSideBySide(t *testing.T) {
	crowd := Sample{Length: 3, Threads: 1, Wall: 6, Units: []float64{3, 1.5, 1.5}, Others: 1, Total: 2}
	alone := []Sample{{Length: 3, Threads: 1, Wall: 4, Units: []float64{9, 1, 1}},
		{Length: 3, Threads: 2, Units: []float64{7, 7, 7}}}
	if got, ok := SideBySide(alone, crowd); !ok || got.Times != 1.5 || got.Own != 1 || got.Others != 1 || got.Total != 2 ||
		math.Abs(got.SD-unitSD/math.Sqrt2) > 1e-9 { // unitSD of one unit, over two equal ones, for the job and its copies
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
}

// A few units of different lengths change the fitted slowdown little: it stays near the prior.
func TestUncertainSlowdown(t *testing.T) {
	alone := []Sample{{Length: 2, Threads: 1, Units: []float64{1, 1}}}
	crowd := Sample{Length: 4, Threads: 1, Units: []float64{1, 0.5, 4.4, 0.5}, Others: 1, Total: 2}
	few, ok := SideBySide(alone, crowd)
	if !ok || math.Abs(few.Times-1.8) > 1e-9 {
		t.Fatalf("%+v, %v", few, ok)
	}
	for range 100 {
		alone[0].Units, crowd.Units = append(alone[0].Units, 1), append(crowd.Units, 1.8)
	}
	many, _ := SideBySide(alone, crowd)
	little := FitSlowed([]Slowed{few}).Slowdown(1, 1, 2)
	much := FitSlowed([]Slowed{many}).Slowdown(1, 1, 2)
	if little > 1.4 || math.Abs(much/1.8-1) > 0.05 {
		t.Errorf("slowdowns %g (of few units, SD %g) and %g (of many, SD %g)", little, few.SD, much, many.SD)
	}
}

// LogSD computes the standard deviation of the logarithm from an interval. Without a valid interval it is guessedSD.
func TestLogSD(t *testing.T) {
	for _, c := range []struct {
		p    Prediction
		want float64
	}{
		{Prediction{Low: 2, High: 2 * math.Exp(2*1.6448536269514722*0.3)}, 0.3},
		{Prediction{Low: 2, High: 2}, guessedSD},
		{Prediction{Low: 0, High: 2}, guessedSD},
		{Prediction{Low: 3, High: 2}, guessedSD},
	} {
		if got := c.p.LogSD(0.9); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: %g, want %g", c.p, got, c.want)
		}
	}
}

// The fitted law is the most likely one: no law on a grid over the prior is much more likely.
func TestFitSlowedIsTheLikeliest(t *testing.T) {
	for _, measured := range [][]Slowed{{{1, 1, 2, 1.2, 0}}, {{2, 6, 8, 1.1, 0}, {2, 2, 8, 1.02, 0}, {4, 4, 8, 1.5, 0}}} {
		law := FitSlowed(measured)
		improbable := func(l Contention) float64 {
			sum := math.Pow((math.Log(l.Serial/(1-l.Serial))+3.9)/1, 2) + math.Pow(math.Log(l.Capacity)/0.5, 2) +
				math.Pow((math.Log(l.Sharpness)-2*math.Ln2)/0.7, 2)
			for _, m := range measured {
				sum += math.Pow(math.Log(m.Times/l.Slowdown(m.Own, m.Others, m.Total))/0.02, 2)
			}
			return sum
		}
		all := []Contention{}
		for a := -6.0; a <= 0; a += 0.2 {
			for b := -2.0; b <= 2; b += 0.1 {
				for c := -0.7; c < 3; c += 0.2 {
					all = append(all, Contention{Serial: 1 / (1 + math.Exp(-a)), Capacity: math.Exp(b), Sharpness: math.Exp(c)})
				}
			}
		}
		best := slices.MinFunc(all, func(a, b Contention) int { return cmp.Compare(improbable(a), improbable(b)) })
		if improbable(law) > improbable(best)+1e-6 {
			t.Errorf("%+v is less likely (%g) than %+v (%g)", law, improbable(law), best, improbable(best))
		}
	}
}
