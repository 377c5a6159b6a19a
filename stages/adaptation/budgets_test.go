package adaptation

import (
	"math"
	"testing"
)

func TestBudgetsKept(t *testing.T) {
	rows := []CourseRow{
		{Adaptation: "net", Budget: 5, Trained: 5.002, Step: .004, Told: []float64{.001, -.003}},
		{Adaptation: "net", Budget: 5, Trained: 5.006, Step: .006, Told: []float64{.002}},
		{Adaptation: "net", Budget: 5, Trained: math.NaN(), Step: .004},
	}
	const want = "In 2 real trainings programs stopped 4.0 ms after the end of their budget in the median, and 6.0 " +
		"ms after it at the latest; a step takes 5.0 ms in the median of the trainings, and 6.0 ms in the slowest. " +
		"At 3 reports, the time left of the budget as the program has it differs from that of the scheduler by 2.0 " +
		"ms in the median, 2.9 ms at 95%, and 3.0 ms at most: the way of the report is part of it."
	if got := kept(rows[:3]); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := kept(nil); got != "" {
		t.Error(got)
	}
}
