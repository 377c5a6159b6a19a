// Package clusters has the formats of published cluster logs, of logs of batch systems, and of files of other
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

// decimal returns a time in seconds, with as many decimals as needed.
func decimal(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimRight(textfile.Seconds(d), "0"), ".")
}

// exact returns a time in seconds for a reader that parses floating-point numbers: the shortest text that it reads
// as the same nanosecond.
func exact(d time.Duration) string {
	return strconv.FormatFloat(math.Round(float64(d))/1e9, 'f', -1, 64)
}

// requested returns the run time that the user requested, or else the true run time.
func requested(j *scheduler.Job, run time.Duration) time.Duration {
	if j.Predicted > 0 {
		return j.Predicted
	}
	return max(run, 1)
}

// numbers returns the names of jobs without a prefix. ok is false unless each name is the prefix and a number.
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
