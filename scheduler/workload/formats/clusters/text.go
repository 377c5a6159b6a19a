// Package clusters is the formats of the logs of published clusters and of batch systems, and of the files of other
// simulators.
package clusters

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// decimal writes a time in seconds, with as many decimals as it needs.
func decimal(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimRight(textfile.Seconds(d), "0"), ".")
}

// exact writes a time for a reader that keeps it as a floating-point number of
// seconds: the shortest that is rounded to the same nanosecond.
func exact(d time.Duration) string {
	return strconv.FormatFloat(math.Round(float64(d))/1e9, 'f', -1, 64)
}

// requested returns the run time that a job's user requested, or else its run
// time, which is then taken for it.
func requested(j *scheduler.Job, run time.Duration) time.Duration {
	if j.Predicted > 0 {
		return j.Predicted
	}
	return max(run, 1)
}

// numbers cuts a prefix from the names of jobs; ok is false unless each name is the prefix and a number.
func numbers(jobs []scheduler.Job, prefix string) (list []string, ok bool) {
	list = make([]string, len(jobs))
	for i := range jobs {
		rest, ok := strings.CutPrefix(jobs[i].Name, prefix)
		if n, err := strconv.Atoi(rest); !ok || err != nil || n < 0 || strconv.Itoa(n) != rest {
			return nil, false
		}
		list[i] = rest
	}
	return list, true
}
