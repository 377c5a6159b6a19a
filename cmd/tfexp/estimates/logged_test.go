package estimates

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/estimator/marks"
)

// even is a run of 100 steps that takes the given seconds, with a row every ten steps.
func even(file, name string, seconds float64) LoggedRun {
	r := LoggedRun{File: file, Name: name}
	for done := 0; done <= 100; done += 10 {
		r.Marks = append(r.Marks, marks.Mark{Done: done, At: seconds * float64(done) / 100})
	}
	return r
}

// The history of a run has complete runs only, and never the run itself. A history file that also has predicted runs is
// history for these runs only.
func TestHistoryOfLoggedRuns(t *testing.T) {
	a1, a2, a3 := even("a", "1", 100), even("a", "2", 200), even("a", "3", 300)
	b1, b2 := even("b", "1", 1000), even("b", "2", 1100)
	short := even("b", "3", 7)
	short.Marks = short.Marks[:10]
	for _, c := range []struct {
		name          string
		runs, history []LoggedRun
		medians       []float64
	}{
		{"none", []LoggedRun{a1, a2}, nil, []float64{-1, -1}},
		{"its own file", []LoggedRun{a1, a2, a3}, []LoggedRun{a1, a2, a3}, []float64{250, 200, 150}},
		{"another file", []LoggedRun{a1}, []LoggedRun{b1, b2, short}, []float64{1050}},
		{"two files, each its own", []LoggedRun{a1, b1}, []LoggedRun{a1, a2, b1, b2}, []float64{200, 1100}},
	} {
		got, err := PredictLogs(c.runs, c.history, LogOptions{Total: 100, Fraction: 0.5, Model: "linear", Level: 0.9})
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range got {
			actual := c.runs[i].Marks[10].At
			if p.Median != c.medians[i] || p.Actual != actual || math.Abs(p.Linear/actual-1) > 0.01 ||
				p.Rows != 6 || p.Steps != 50 {
				t.Errorf("%s: run %d: median %g, want %g; actual %g, linear %g, of %d rows and %d steps", c.name, i, p.Median,
					c.medians[i], p.Actual, p.Linear, p.Rows, p.Steps)
			}
		}
	}
	o := LogOptions{Model: "linear", Level: 0.9}
	if _, err := PredictLogs(nil, nil, o); err == nil || !strings.Contains(err.Error(), "--total") {
		t.Errorf("without runs: %v", err)
	}
	o.Model = "cubic"
	if _, err := PredictLogs([]LoggedRun{a1}, nil, o); err == nil {
		t.Error("an unknown model was accepted")
	}
}

// Begin returns the part of a run that is used: all of an unfinished run, or a fraction of a complete run, with a
// tolerance for rows near the cut.
func TestBeginOfALoggedRun(t *testing.T) {
	r := even("a", "1", 100)
	for _, c := range []struct {
		o     LogOptions
		total int
		want  int
	}{
		{LogOptions{}, 101, math.MaxInt}, {LogOptions{}, 100, 6}, {LogOptions{Fraction: 0.5}, 99, 50},
		{LogOptions{Fraction: 0.5}, 999, 509},
	} {
		if got := c.o.limit(r, c.total); got != c.want {
			t.Errorf("%+v of %d: up to step %d, want %d", c.o, c.total, got, c.want)
		}
	}
	r.First = 5
	for limit, want := range map[int]int{4: 0, 5: 1, 14: 1, 15: 2, 500: 11} {
		if got := len(r.begin(limit).Marks); got != want {
			t.Errorf("%d rows up to step %d, want %d", got, limit, want)
		}
	}
	epochs := LoggedRun{Units: []float64{3, 4, 5}, Startup: 1, Save: 2}
	for limit, want := range map[int]int{0: 1, 1: 1, 2: 2, 3: 3, 9: 3} {
		if got := len(epochs.begin(limit).Units); got != want {
			t.Errorf("%d epochs up to the %dth, want %d", got, limit, want)
		}
	}
	if s := epochs.sample(); s.Length != 3 || s.Wall != 15 {
		t.Errorf("%+v", s)
	}
	if s := r.sample(); s.Length != 100 || s.Wall != 100 {
		t.Errorf("%+v", s)
	}
	if s := (LoggedRun{}).sample(); s.Length != 0 || s.Wall != 0 {
		t.Errorf("%+v", s)
	}
}

// A run is complete if it has a row with all steps, or all epochs with the time before and after them.
func TestWholeLoggedRun(t *testing.T) {
	epochs := LoggedRun{Units: []float64{3, 4, 5}, Startup: 1, Save: 2}
	rows := LoggedRun{First: 10, Marks: []marks.Mark{{}, {Done: 90, At: 50}, {Done: 95, At: 55}}}
	for _, c := range []struct {
		run     LoggedRun
		total   int
		seconds float64 // negative: it did not get there
	}{
		{epochs, 2, 10}, {epochs, 3, 15}, {epochs, 4, -1}, {epochs, 0, -1}, {rows, 100, 50}, {rows, 105, 55}, {rows, 106, -1},
		{rows, 10, 50}, {LoggedRun{}, 1, -1},
	} {
		run, ok := c.run.whole(c.total)
		if ok != (c.seconds >= 0) || ok && run.Seconds != c.seconds {
			t.Errorf("%d steps of %+v: %g s, %v; want %g s", c.total, c.run, run.Seconds, ok, c.seconds)
		}
	}
}

// Mean errors are over the runs whose time is known; mean errors of a baseline are over the runs that have a prediction
// by it.
func TestSummarizeLogs(t *testing.T) {
	p := func(seconds, low, high, linear, median, actual float64) LogPrediction {
		return LogPrediction{Prediction: estimator.Prediction{Seconds: seconds, Low: low, High: high}, Linear: linear,
			Median: median, Actual: actual}
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	s := SummarizeLogs([]LogPrediction{
		p(110, 90, 100, 80, -1, 100), p(90, 100, 120, -1, 150, 100), p(130, 120, 140, -1, -1, 100),
		p(-1, -1, -1, 90, 90, 100), p(10, 5, 20, 90, 90, -1),
	})
	if s.Runs != 3 || !near(s.MeanAbs, 50.0/3) || !near(s.Bias, 10) || !near(s.SD, 20) || !near(s.Coverage, 200.0/3) ||
		!near(s.LinearMeanAbs, 20) || !near(s.MedianMeanAbs, 50) {
		t.Errorf("%+v", s)
	}
	if s := SummarizeLogs([]LogPrediction{p(120, 0, 1, -1, -1, 100)}); s.Runs != 1 || !near(s.MeanAbs, 20) || s.SD != 0 ||
		s.Coverage != 0 || s.LinearMeanAbs != -1 || s.MedianMeanAbs != -1 {
		t.Errorf("of one run: %+v", s)
	}
	if s := SummarizeLogs(nil); s != (LogSummary{LinearMeanAbs: -1, MedianMeanAbs: -1}) {
		t.Errorf("of none: %+v", s)
	}
	for _, c := range []struct {
		predicted, actual float64
		want              bool
	}{{0, 100, true}, {-1, 100, false}, {5, 0, false}} {
		if _, ok := p(c.predicted, 0, 0, 0, 0, c.actual).ErrorPct(); ok != c.want {
			t.Errorf("%g s for %g s have an error: %v", c.predicted, c.actual, ok)
		}
	}
	broken := errors.New("no line through it")
	for want, p := range map[string]LogPrediction{
		"": {Rows: 1}, "only 1 row within the fraction: use a larger fraction (--fraction)": {Rows: 1, Err: broken},
		"no line through it": {Rows: 2, Err: broken},
	} {
		if got := p.Why(); got != want {
			t.Errorf("why: %q, want %q", got, want)
		}
	}
}

// If a step is written again after 1,000 s, this time does not count as training. If a watcher looks every minute and
// sees a step twice, the time counts.
func TestPauseOfALoggedRun(t *testing.T) {
	for _, c := range []struct {
		rows string
		want float64
		warn int
	}{
		{"step,time\n0,0\n100,10\n200,20\n200,1020\n300,1030\n400,1040\n", 40, 1},
		{"step,time\n0,0\n100,60\n100,120\n200,180\n200,240\n300,300\n", 300, 0},
	} {
		runs, warnings, err := ReadLog(strings.NewReader(c.rows), "log.csv", false)
		if err != nil {
			t.Fatal(err)
		}
		marks := runs[0].Marks
		if got := marks[len(marks)-1].At; got != c.want || len(warnings) != c.warn {
			t.Errorf("%q: %g s of training, want %g; %v", c.rows, got, c.want, warnings)
		}
	}
}

func TestReadLogOfAProgram(t *testing.T) {
	runs, warnings, err := ReadLog(strings.NewReader("loading, please wait\n"+
		"<TIME_WRITTER_OUTPUT>[0.5, 1, 2, 0.25]</TIME_WRITTER_OUTPUT>\n"), "log", false)
	if err != nil || len(warnings) > 0 || len(runs) != 1 {
		t.Fatal(runs, warnings, err)
	}
	r := runs[0]
	if r.Startup != 0.5 || r.Save != 0.25 || !slices.Equal(r.Units, []float64{1, 2}) || r.Last() != 2 || r.File != "log" {
		t.Errorf("%+v", r)
	}
	runs, _, err = ReadLog(strings.NewReader(`{"tfexp":{"step":1,"seconds":0.5}}`+"\n"+
		`{"tfexp":{"step":2,"seconds":0.25}}`+"\n"), "log", false)
	if err != nil || len(runs) != 1 || !slices.Equal(runs[0].Units, []float64{0.5, 0.25}) || runs[0].Startup != 0 {
		t.Errorf("steps: %+v, %v", runs, err)
	}
}

// Every second number of threads is left out of the fit, even if each was measured several times.
func TestFitCurveOfRepeats(t *testing.T) {
	timings := Timings{File: "times"}
	for _, n := range []int{1, 2, 4, 8} {
		seconds := 100 / (estimator.Curve{Sigma: 0.1}).Speedup(float64(n))
		timings.Points = append(timings.Points, Timing{n, seconds}, Timing{n, seconds})
	}
	for _, half := range []bool{true, false} {
		f, err := FitCurve(timings, []int{16}, half, 0.9)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range f.Points {
			if p.Held != (half && (p.Threads == 2 || p.Threads == 8)) || (p.Measured < 0) != (p.Threads == 16) {
				t.Errorf("half: %v, %d threads: held out: %v, measured %g s", half, p.Threads, p.Held, p.Measured)
			}
		}
	}
	for table, want := range map[string]string{
		"": "the file is empty", "threads,loss\n1,2\n": "no column", "seconds,loss\n1,2\n": "no column",
		"threads,seconds\n1,Inf\n": ":2: ", "threads,seconds\n1,0\n": ":2: ", "threads,seconds\n1,\"2\n": ":2: ",
	} {
		if _, err := ReadTimings(strings.NewReader(table), "times"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", table, err, want)
		}
	}
}
