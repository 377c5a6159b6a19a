package estimator

import (
	"errors"
	"strings"
	"testing"
)

// walls returns samples of a program that reports no units, with their lengths and wall times.
func walls(pairs ...float64) []Sample {
	var s []Sample
	for i := 0; i < len(pairs); i += 2 {
		s = append(s, Sample{Length: int(pairs[i]), Wall: pairs[i+1], Threads: 1})
	}
	return s
}

// If all samples take equally long, longer samples are needed: these show whether the program ignores its length or has
// a long start-up.
func TestLonger(t *testing.T) {
	tf := func(length int, fixed float64) Sample {
		s := Sample{Length: length, Threads: 1, Wall: fixed}
		for range length {
			s.Units = append(s.Units, 0.5)
			s.Wall += 0.5
		}
		return s
	}
	same := walls(3, 0.6, 6, 0.6)
	same[0].Reported, same[1].Reported = 10, 10
	for _, c := range []struct {
		name    string
		samples []Sample
		total   int
		want    int
	}{
		{"none", nil, 100, 0},
		{"in proportion", walls(3, 0.6, 6, 1.2), 100, 0},
		{"too short to tell", walls(3, 0.02, 6, 0.02), 1000, 0},
		{"a start-up that can be told", walls(3, 1, 6, 1.1), 100, 0},
		{"alike", walls(3, 0.6, 6, 0.61), 1000, 24},
		{"alike, of a short job", walls(3, 0.6, 6, 0.61), 10, 10},
		{"alike, the whole job", walls(3, 0.6, 6, 0.61), 6, 0},
		{"alike still", walls(3, 0.6, 6, 0.61, 24, 0.6), 1000, 96},
		{"alike for good", walls(3, 0.6, 6, 0.61, 24, 0.6, 96, 0.6), 1000, 0},
		{"one length", walls(3, 0.6, 3, 0.6), 1000, 0},
		{"lengths that hardly differ", walls(5, 0.6, 6, 0.6), 1000, 0},
		{"reports the same each time", same, 1000, 0},
		{"a long start-up", []Sample{tf(1, 5), tf(2, 5)}, 100, 11},
		{"a long start-up of a short job", []Sample{tf(1, 5), tf(2, 5)}, 30, 5},
		{"a long start-up, all there is", []Sample{tf(1, 5), tf(2, 5)}, 12, 0},
		{"a long start-up, seen enough", []Sample{tf(1, 5), tf(2, 5), tf(11, 5)}, 100, 0},
		{"a short start-up", []Sample{tf(1, 0.9), tf(2, 0.9)}, 100, 0},
	} {
		if got := Longer(c.samples, c.total); got != c.want {
			t.Errorf("%s: Longer = %d, want %d", c.name, got, c.want)
		}
	}
}

// No model fits a program that ignores the requested length. A program that may just have a long start-up is fitted.
func TestAProgramThatIgnoresItsLengthIsNotFitted(t *testing.T) {
	reporting := walls(3, 0.6, 6, 0.6)
	reporting[0].Reported, reporting[1].Reported = 10, 10
	for _, samples := range [][]Sample{reporting, walls(3, 0.6, 6, 0.61, 24, 0.6, 96, 0.62)} {
		for _, m := range []Model{Linear{}, Scaling{}, Auto{}} {
			_, err := m.Fit(Problem{Samples: samples})
			if !errors.Is(err, ErrUnfit) {
				t.Errorf("%s fits %+v: %v", m.Name(), samples, err)
			}
		}
	}
	_, err := Linear{}.Fit(Problem{Samples: reporting})
	if want := "samples of 3 and 6 epochs or steps took 0.6 and 0.6 s, and report 10 each time: the program does not " +
		"do the requested work"; !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
	if _, err := (Linear{}).Fit(Problem{Samples: walls(3, 0.6, 6, 0.61, 24, 0.6)}); err != nil {
		t.Error(err)
	}
}
