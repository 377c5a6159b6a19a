package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/tell"
)

// kept says how well the real trainings of an adaptation kept their budgets, and what programs took to be left
// of them; "" without any that say so.
func kept(courses []record.CourseRow, adaptation string) string {
	var over, steps, told []float64
	for _, c := range courses {
		if c.Adaptation != adaptation {
			continue
		}
		if stats.Finite(c.Trained) && stats.Finite(c.Step) {
			over, steps = append(over, c.Trained-c.Budget), append(steps, c.Step)
		}
		for _, d := range c.Told {
			told = append(told, math.Abs(d))
		}
	}
	text := ""
	if len(over) > 0 {
		slices.Sort(over)
		slices.Sort(steps)
		text = fmt.Sprintf("In %s programs stopped %s the end of their budget in the median, and %s it at the "+
			"latest; a step takes %s in the median of the trainings, and %s in the slowest.", tell.Plural(len(over),
			"real training"),
			around(stats.Quantile(over, 0.5)), around(over[len(over)-1]), millis(stats.Quantile(steps, 0.5)),
			millis(steps[len(steps)-1]))
	}
	if len(told) > 0 {
		slices.Sort(told)
		if text != "" {
			text += " "
		}
		text += fmt.Sprintf("At %s, the time left of the budget as the program has it differs from that of the "+
			"scheduler by %s in the median, %s at 95%%, and %s at most: the way of the report is part of it.",
			tell.Plural(len(told), "report"),
			millis(stats.Quantile(told, 0.5)), millis(stats.Quantile(told, 0.95)), millis(told[len(told)-1]))
	}
	return text
}

// millis writes seconds as milliseconds.
func millis(seconds float64) string { return fmt.Sprintf("%.1f ms", 1000*seconds) }

// around says how long after an instant something was, or before it.
func around(seconds float64) string {
	if seconds < 0 {
		return millis(-seconds) + " before"
	}
	return millis(seconds) + " after"
}
