package states

import (
	"fmt"
	"math"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/live"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// ProgressJobs counts a cell's jobs by state: "3/10 jobs done, 2 running, 1 waiting".
func ProgressJobs(s *record.CellProgress) string {
	t := fmt.Sprintf("%d/%d jobs done", s.Done, s.Jobs)
	for _, part := range []struct {
		n    int
		what string
	}{{s.Running, "running"}, {s.Waiting, "waiting"}, {s.Failed, "failed"}} {
		if part.n > 0 {
			t += fmt.Sprintf(", %d %s", part.n, part.what)
		}
	}
	return t
}

// ProgressSimulated formats the simulated time of a cell; at is in seconds.
func ProgressSimulated(at float64) string {
	return "at " + ProgressSpan(time.Duration(at*float64(time.Second))) + " of its time"
}

// ProgressStanding describes a running cell: "3/10 jobs done, 2 running, 1 waiting, at 12 min 05 s of its time".
// virtual adds the simulated time.
func ProgressStanding(s *record.CellProgress, virtual bool) string {
	text := ProgressJobs(s)
	if virtual && s.At < math.MaxInt64/float64(time.Second) {
		text += ", " + ProgressSimulated(s.At)
	}
	return text
}

// ProgressSpan formats a time that may be long. It works as live.Duration; from two days on it returns "3 d 04 h".
func ProgressSpan(d time.Duration) string {
	const day = 24 * time.Hour
	if d < 2*day {
		return live.Duration(d)
	}
	d = d.Truncate(time.Hour)
	return fmt.Sprintf("%d d %02d h", d/day, d%day/time.Hour)
}

// Headline returns the question and the answer of an experiment, from its files alone.
func Headline(e *record.Experiment) (h table.Headline, err error) {
	rows, err := analysis.Comparisons(e)
	if err != nil {
		return h, err
	}
	contents, err := analysis.Parts(e)
	if err != nil {
		return h, err
	}
	return analysis.HeadlineOf(e, rows, contents)
}
