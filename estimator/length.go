package estimator

import (
	"fmt"
	"math"
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Limits for samples of programs that do not report units. Samples count as equally long if the longest takes at most
// alikeWalls times as long as the shortest, for at least leastRatio times the work. Then longer samples are taken,
// each longerBy times as long. They show whether the program ignores its length, or its start-up hides its work. It
// counts as ignoring its length if it takes the same time for toldApart times the work.
const (
	alikeWalls = 1.05
	leastRatio = 1.5
	leastWall  = 0.3
	longerBy   = 4
	toldApart  = 16
)

// Limits for long start-ups. If the start-up takes at least longStartup seconds, and longer than the work of the
// longest sample, the time of a unit is uncertain. A longer sample is then taken, of at most partOfJob of the job.
const (
	longStartup = 1.0
	partOfJob   = 1.0 / 6
)

// Longer returns the length of an additional sample that the samples of a job on one resource make necessary, or 0.
// total is the length of the job.
func Longer(samples []Sample, total int) int {
	if len(samples) == 0 {
		return 0
	}
	longest := slices.MaxFunc(samples, func(a, b Sample) int { return a.Length - b.Length })
	next := 0
	if ratio, alike := sameTime(samples); alike && ratio < toldApart && !sameReport(samples) {
		next = min(total, longerBy*longest.Length)
	} else if n := len(longest.Units); n > 0 && n == longest.Length {
		work := 0.0
		for _, u := range longest.Units[1:] {
			work += u
		}
		unit := longest.Units[n-1]
		if fixed := longest.Wall - work - unit; fixed >= longStartup && work < fixed && unit > 0 {
			next = min(1+int(math.Ceil(fixed/unit)), int(float64(total)*partOfJob))
		}
	}
	if next <= longest.Length {
		return 0
	}
	return next
}

// sameTime reports whether samples of different lengths took the same time. ratio is the length of the longest
// divided by the shortest length.
func sameTime(samples []Sample) (ratio float64, alike bool) {
	var at []int // the lengths of the samples
	walls := map[int][]float64{}
	for _, s := range samples {
		if s.Length <= 0 || len(s.Units) == s.Length {
			return 0, false
		}
		at = append(at, s.Length)
		walls[s.Length] = append(walls[s.Length], s.Wall)
	}
	if len(at) == 0 {
		return 0, false
	}
	short, long := slices.Min(at), slices.Max(at)
	ratio = float64(long) / float64(short)
	wall := Median(walls[long])
	return ratio, ratio >= leastRatio && wall >= leastWall && wall <= alikeWalls*Median(walls[short])
}

// sameReport reports whether all samples reported the same number of units, whatever their lengths.
func sameReport(samples []Sample) bool {
	return samples[0].Reported > 0 &&
		!slices.ContainsFunc(samples, func(s Sample) bool { return s.Reported != samples[0].Reported })
}

// obeys returns an error if the program ignores the requested length, so that nothing can be fitted.
func obeys(samples []Sample) error {
	ratio, alike := sameTime(samples)
	if !alike || ratio < toldApart && !sameReport(samples) {
		return nil
	}
	var lengths, walls []string
	for _, s := range samples {
		lengths, walls = append(lengths, fmt.Sprint(s.Length)), append(walls, fmt.Sprintf("%.3g", s.Wall))
	}
	does := ""
	if sameReport(samples) {
		does = fmt.Sprintf(", and report %d each time", samples[0].Reported)
	}
	return fmt.Errorf("samples of %s epochs or steps took %s s%s: the program does not do the requested work "+
		"(TFEXP_EPOCHS, TFEXP_STEPS), or its start-up hides it; sample more of it: %w",
		schema.Listed(lengths, "and"), schema.Listed(walls, "and"), does, ErrUnfit)
}
