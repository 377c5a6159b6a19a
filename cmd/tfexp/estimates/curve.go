package estimates

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// Timings are run times of one program on different numbers of threads, with all other settings equal.
type Timings struct {
	// File is the name of the table. Group names the settings that the rows share, such as "Containers=8".
	File, Group string
	Points      []Timing
}

// Timing is a run time in seconds on a number of threads.
type Timing struct {
	Threads int
	Seconds float64
}

var threadColumns = []string{"threads", "cores", "coresperc", "numthreads", "cpus", "n"}

// ReadTimings reads a table with a column of threads (or cores) and a column of seconds. Rows that differ in another
// column belong to different groups. The error joins a *textfile.LineError for each malformed line.
func ReadTimings(r io.Reader, file string) ([]Timings, error) {
	var groups []Timings
	var header []string
	var threads, at int
	_, err := textfile.EachRow(file, r, false, func(columns []string) error {
		header, threads, at = slices.Clone(columns), pick(columns, threadColumns), pick(columns, timeColumns)
		if threads < 0 || at < 0 {
			return fmt.Errorf("there is no column of threads (threads, cores) or of seconds (seconds, time) among %s",
				strings.Join(header, ", "))
		}
		return once(header, threads, at)
	}, func(_ int, record []string) error {
		n, err := strconv.Atoi(strings.TrimSpace(record[threads]))
		if err != nil || n < 1 {
			return fmt.Errorf("%s %q is not a whole number of at least 1", header[threads], record[threads])
		}
		s, err := strconv.ParseFloat(strings.TrimSpace(record[at]), 64)
		if err != nil || !(s > 0) || math.IsInf(s, 0) {
			return fmt.Errorf("%s %q is not a time above 0 in seconds", header[at], record[at])
		}
		var rest []string
		for i, h := range header {
			if i != threads && i != at {
				rest = append(rest, strings.TrimSpace(h)+"="+strings.TrimSpace(record[i]))
			}
		}
		group := strings.Join(rest, " ")
		i := slices.IndexFunc(groups, func(g Timings) bool { return g.Group == group })
		if i < 0 {
			i, groups = len(groups), append(groups, Timings{File: file, Group: group})
		}
		groups[i].Points = append(groups[i].Points, Timing{n, s})
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		slices.SortStableFunc(g.Points, func(a, b Timing) int { return a.Threads - b.Threads })
	}
	return groups, nil
}

// CurvePoint is the fitted and the measured run time on a number of threads, in seconds. A negative measured time is
// unknown. Held reports whether the point was excluded from the fit.
type CurvePoint struct {
	Threads int
	estimator.Prediction
	Measured float64
	Held     bool
}

// CurveFit is a speed-up curve fitted to run times.
type CurveFit struct {
	Timings
	Curve  estimator.Curve
	Points []CurvePoint
}

// FitCurve fits a curve to timings, and predicts the run time for their numbers of threads and those in more. With
// half, the fit uses only every second number of threads.
func FitCurve(t Timings, more []int, half bool, level float64) (CurveFit, error) {
	p := estimator.Problem{}
	distinct := -1
	for i, x := range t.Points {
		if i == 0 || x.Threads != t.Points[i-1].Threads {
			distinct++
		}
		if !half || distinct%2 == 0 {
			p.Samples = append(p.Samples, estimator.Sample{Length: 1, Threads: x.Threads, Wall: x.Seconds})
		}
	}
	f := CurveFit{Timings: t}
	predict := func(threads int, measured float64) error {
		p.Resource = estimator.Resource{Threads: threads}
		e, err := estimator.Scaling{}.Fit(p)
		if err != nil {
			return err
		}
		f.Curve = e.Curve
		known := slices.ContainsFunc(p.Samples, func(s estimator.Sample) bool { return s.Threads == threads })
		f.Points = append(f.Points, CurvePoint{threads, e.Predict(1, level), measured, measured > 0 && !known})
		return nil
	}
	for _, x := range t.Points {
		if err := predict(x.Threads, x.Seconds); err != nil {
			return f, fmt.Errorf("%s %s: %w", t.File, t.Group, err)
		}
	}
	for _, n := range more {
		if err := predict(n, -1); err != nil {
			return f, fmt.Errorf("%s %s: %w", t.File, t.Group, err)
		}
	}
	return f, nil
}
