package estimates

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/estimator/marks"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// LogOptions are the options for predicting runs from logs.
type LogOptions struct {
	// Total is the length of a whole run in steps. 0 means the last step in the logs, rounded down to three digits.
	Total int
	// Fraction is the part of Total that is used of each predicted run. 0 means all rows of unfinished runs, and
	// defaultFraction of finished ones.
	Fraction float64
	Model    string
	Level    float64 // of the prediction interval, between 0 and 1
	// Alone predicts each run from its own rows only. Otherwise the other runs of the file are used as well, up to the
	// same step.
	Alone bool
	// Tick is the resolution of the log's clock, as in marks.Problem.
	Tick float64
}

const (
	defaultFraction = 0.0625
	// slack extends the used fraction by 2%: in logs, the same row has slightly different steps from run to run.
	slack = 1.02
)

// LogPrediction is the predicted total time of a run. Times are in seconds from the run's first row.
type LogPrediction struct {
	Run LoggedRun
	// Rows and Steps count the rows and steps that were used.
	Rows, Steps int
	Model       string
	estimator.Prediction
	// Linear is a plain linear extrapolation and Median the median of the finished runs in the history; models are
	// compared with them. Actual is the actual run time. Each is negative where unknown.
	Linear, Median, Actual float64
	// Err is the reason why the run could not be predicted.
	Err      error
	Warnings []string
}

// LogSummary summarizes the prediction errors of the runs whose actual run time is known. An error is 100 × (predicted
// − actual) / actual.
type LogSummary struct {
	Runs     int     `json:"runs"`
	MeanAbs  float64 `json:"mean_absolute_error_pct"`
	SD       float64 `json:"sd_pct"`
	Bias     float64 `json:"bias_pct"`
	Coverage float64 `json:"coverage_pct"` // intervals that contain the actual run time
	// LinearMeanAbs and MedianMeanAbs are the mean absolute errors of Linear and Median; negative where unknown.
	LinearMeanAbs float64 `json:"linear_mean_absolute_error_pct"`
	MedianMeanAbs float64 `json:"median_mean_absolute_error_pct"`
}

// Length returns the length of a whole run in steps: Total if it is set, else the value from the logs.
func (o LogOptions) Length(runs []LoggedRun) int {
	if o.Total > 0 {
		return o.Total
	}
	last := 0
	for _, r := range runs {
		last = max(last, r.Last())
	}
	digit := 1
	for last/digit >= 1000 {
		digit *= 10
	}
	return last / digit * digit
}

// PredictLogs predicts each run. Finished runs in history count as whole runs. A run is never its own history, and a
// file that is in both lists is history only for its own runs. It returns an error if the model does not exist or an
// option is invalid. A run that cannot be predicted has its own error.
func PredictLogs(runs, history []LoggedRun, o LogOptions) ([]LogPrediction, error) {
	if err := knownModel(o.Model); err != nil {
		return nil, err
	}
	total := o.Length(runs)
	if total <= 0 {
		return nil, errors.New("predict: no run has finished a step: give the length of a whole run (--total)")
	}
	begins := make([]LoggedRun, len(runs))
	ticks := map[string]float64{} // the resolution of each file's clock, in seconds
	for i, r := range runs {
		begins[i] = r.begin(o.limit(r, total))
	}
	for _, r := range runs {
		if _, ok := ticks[r.File]; ok {
			continue
		}
		ticks[r.File] = o.Tick
		if o.Tick == 0 {
			var seen [][]marks.Mark
			for i, b := range begins {
				if runs[i].File == r.File {
					seen = append(seen, b.Marks)
				}
			}
			ticks[r.File] = marks.FindTick(seen)
		}
	}
	out := make([]LogPrediction, len(runs))
	for i, r := range runs {
		p := logProblem{
			Problem: estimator.Problem{Job: "logged", Samples: []estimator.Sample{begins[i].sample()}},
			rows:    marks.Problem{Own: begins[i].Marks, Tick: ticks[r.File]},
		}
		var totals []float64
		var known []LoggedRun // runs of the history that are whole
		for _, h := range history {
			_, both := ticks[h.File] // such a file is history only for its own runs
			if whole, ok := h.whole(total); ok && !h.is(r) && (h.File == r.File || !both) {
				p.History, p.units = append(p.History, whole), p.units || len(h.Units) > 0
				p.rows.Others = append(p.rows.Others, marks.Run{Marks: h.Marks, Length: whole.Length, Seconds: whole.Seconds})
				known = append(known, h)
				totals = append(totals, whole.Seconds)
			}
		}
		for j, b := range begins {
			if j != i && !o.Alone && runs[j].File == r.File && !slices.ContainsFunc(known, runs[j].is) && len(b.Marks) > 1 {
				p.rows.Others = append(p.rows.Others, marks.Run{Marks: b.Marks, Length: total - b.First})
			}
		}
		out[i] = predictLog(o.Model, p, r, begins[i], total, o.Level)
		if len(totals) > 0 {
			out[i].Median = estimator.Median(totals)
		}
	}
	return out, nil
}

// is reports whether both are the same run of the same file.
func (r LoggedRun) is(o LoggedRun) bool { return r.File == o.File && r.Name == o.Name }

// limit returns the last step of a run that a prediction may use.
func (o LogOptions) limit(r LoggedRun, total int) int {
	fraction := o.Fraction
	if fraction == 0 {
		if r.Last() < total {
			return math.MaxInt
		}
		fraction = defaultFraction
	}
	return int(fraction * float64(total) * slack)
}

// logProblem has the data for a prediction: this run, and other runs. Other runs have the seconds of each epoch or rows
// of a log.
type logProblem struct {
	estimator.Problem
	rows  marks.Problem
	units bool // whether other runs have the seconds of each epoch
}

// alone returns the problem without the other runs.
func (p logProblem) alone() logProblem {
	p.History, p.rows.Others, p.units = nil, nil, false
	return p
}

// fit returns an estimate by a model. If the run has no seconds of epochs, it is fitted to the log's rows.
func (p logProblem) fit(model string) (estimator.Estimate, error) {
	if len(p.Samples[0].Units) == 0 {
		e, known, err := marks.Fit(model, p.rows)
		if known && (err == nil || !p.units) {
			return e, err
		}
	}
	m, err := estimator.ByName(model)
	if err != nil {
		return estimator.Estimate{}, fmt.Errorf("fit %s: it needs rows of a log: %w", model, estimator.ErrUnfit)
	}
	return m.Fit(p.Problem)
}

// modelNames lists the models for logged runs.
func modelNames() []string { return schema.AddOnce(estimator.Names(), marks.Pooled) }

// knownModel returns an error if the model does not exist.
func knownModel(name string) error {
	if name == marks.Pooled {
		return nil
	}
	_, err := estimator.ByName(name)
	return err
}

func predictLog(model string, p logProblem, r, begin LoggedRun, total int, level float64) LogPrediction {
	out := LogPrediction{
		Run: r, Rows: max(len(begin.Marks), len(begin.Units)), Steps: begin.Last() - r.First,
		Prediction: estimator.Prediction{Seconds: -1, Low: -1, High: -1}, Linear: -1, Median: -1, Actual: -1,
	}
	if whole, ok := r.whole(total); ok {
		out.Actual = whole.Seconds
	}
	if e, err := p.alone().fit("linear"); err == nil {
		out.Linear = e.Predict(total-r.First, level).Seconds
	}
	e, err := p.fit(model)
	if err != nil {
		out.Err = err
		return out
	}
	out.Model, out.Warnings = e.Model, e.Warnings
	out.Prediction = e.Predict(total-r.First, level)
	return out
}

// begin returns the run's beginning, up to a step.
func (r LoggedRun) begin(limit int) LoggedRun {
	b := r
	n := 0
	for n < len(r.Marks) && r.First+r.Marks[n].Done <= limit {
		n++
	}
	b.Marks, b.Units = r.Marks[:n], r.Units[:min(len(r.Units), limit)]
	if len(r.Units) > 0 && len(b.Units) == 0 { // keep at least one epoch
		b.Units = r.Units[:1]
	}
	return b
}

// sample returns the run as input of a model. Start-up and saving are assumed to take as long as in the whole run.
func (r LoggedRun) sample() estimator.Sample {
	if len(r.Units) > 0 {
		s := estimator.Sample{Length: len(r.Units), Units: r.Units, Wall: r.Startup + r.Save}
		for _, u := range r.Units {
			s.Wall += u
		}
		return s
	}
	var s estimator.Sample
	if n := len(r.Marks); n > 0 {
		s.Length, s.Wall = r.Marks[n-1].Done, r.Marks[n-1].At
	}
	return s
}

// whole returns the run from its first row to the first row with all steps. ok is false if the run did not reach it.
func (r LoggedRun) whole(total int) (run estimator.Run, ok bool) {
	run = estimator.Run{Job: "logged", Length: total - r.First}
	if len(r.Units) >= total && total > 0 {
		run.Seconds = r.Startup + r.Save
		for _, u := range r.Units[:total] {
			run.Seconds += u
		}
		return run, true
	}
	for _, m := range r.Marks {
		if m.Done >= run.Length && m.At > 0 {
			run.Seconds = m.At
			return run, true
		}
	}
	return run, false
}

// ErrorPct returns 100 × (predicted − actual) / actual. ok is false if either time is unknown.
func (p LogPrediction) ErrorPct() (pct float64, ok bool) { return errorPct(p.Seconds, p.Actual) }

func errorPct(predicted, actual float64) (pct float64, ok bool) {
	return 100 * (predicted/actual - 1), predicted >= 0 && actual > 0
}

// SummarizeLogs sums up the runs whose actual run time is known.
func SummarizeLogs(predictions []LogPrediction) LogSummary {
	s := LogSummary{LinearMeanAbs: -1, MedianMeanAbs: -1}
	var errs, linear, median []float64
	for _, p := range predictions {
		e, ok := p.ErrorPct()
		if !ok {
			continue
		}
		errs = append(errs, e)
		if p.Low <= p.Actual && p.Actual <= p.High {
			s.Coverage++
		}
		if e, ok := errorPct(p.Linear, p.Actual); ok {
			linear = append(linear, math.Abs(e))
		}
		if e, ok := errorPct(p.Median, p.Actual); ok {
			median = append(median, math.Abs(e))
		}
	}
	s.Runs = len(errs)
	if s.Runs == 0 {
		return s
	}
	for _, e := range errs {
		s.MeanAbs += math.Abs(e) / float64(s.Runs)
	}
	s.Bias, s.Coverage = stat.Mean(errs, nil), 100*s.Coverage/float64(s.Runs)
	if s.Runs > 1 {
		s.SD = stat.StdDev(errs, nil)
	}
	if len(linear) > 0 {
		s.LinearMeanAbs = stat.Mean(linear, nil)
	}
	if len(median) > 0 {
		s.MedianMeanAbs = stat.Mean(median, nil)
	}
	return s
}

// Why returns the reason why a run could not be predicted, with advice; empty for a predicted run.
func (p LogPrediction) Why() string {
	if p.Err == nil {
		return ""
	}
	if p.Rows < 2 {
		return fmt.Sprintf("only %d row within the fraction: use a larger fraction (--fraction)", p.Rows)
	}
	return p.Err.Error()
}

// LoggedRun is a training run in a log. Its marks count steps and seconds from the first row.
type LoggedRun struct {
	// File is the path of the log. Name is the run's name in it; empty if the log has one run.
	File, Name string
	// First is the step of the first row.
	First int
	Marks []marks.Mark
	// Units are the seconds of each epoch, if the log has them. Startup and Save are the seconds before the first and
	// after the last epoch; 0 if the log lacks them.
	Units         []float64
	Startup, Save float64
}

// Last returns the step of the last row.
func (r LoggedRun) Last() int {
	if n := len(r.Marks); n > 0 {
		return r.First + r.Marks[n-1].Done
	}
	return len(r.Units)
}

// mostSeconds is the largest accepted time in a log. Some clocks count milliseconds since 1970. In larger sums, float64
// would lose whole seconds.
const mostSeconds = 1e15

// The recognized names of columns, in the form of columnName.
var (
	stepColumns = []string{"step", "steps", "globalstep", "iteration", "iterations", "iter", "epoch", "epochs", "batch"}
	timeColumns = []string{"walltime", "time", "times", "elapsed", "elapseds", "elapsedseconds", "elapsedtime", "seconds",
		"timestamp", "timesec", "relativetime", "relative"}
	// Rows of the same run have equal values in these columns.
	runColumns = []string{"run", "runid", "trial", "replicate", "repetition", "seed", "job", "zone",
		"region", "host",
		"node", "name"}
)

// columnName returns a column's name in lower case without spaces, underscores and hyphens.
func columnName(s string) string {
	return strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToLower(strings.TrimSpace(s)))
}

// ReadLog reads the runs of a training log. A log is a CSV file with a header, or the output of a program that follows
// the job contract. The error joins a *textfile.LineError for each malformed line; with lenient they become warnings. A
// log without steps and times is an error.
func ReadLog(r io.Reader, file string, lenient bool) (runs []LoggedRun, warnings []string, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	start, err := in.Peek(4096)
	switch {
	case err != nil && err != io.EOF:
		return nil, nil, fmt.Errorf("read %s: %w", file, err)
	case len(start) == 0:
		return nil, nil, fmt.Errorf("read %s: the log is empty", file)
	}
	header, _, _ := strings.Cut(string(start), "\n")
	if names := strings.Split(strings.TrimPrefix(strings.TrimSpace(header), "\ufeff"), ","); len(names) > 1 &&
		pick(names, stepColumns) >= 0 {
		return readCSV(in, file, lenient)
	}
	report, err := contract.Parse(in, contract.Longest)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", file, err)
	}
	for _, w := range report.Warnings {
		warnings = append(warnings, file+": "+w)
	}
	if len(warnings) > 0 && !lenient {
		return nil, nil, errors.New(strings.Join(warnings, "\n"))
	}
	units := report.Epochs
	if len(units) == 0 {
		units = report.Steps
	}
	if len(units) == 0 {
		return nil, warnings, fmt.Errorf("read %s: it has no steps and times: it must be CSV whose header names a "+
			"step and a time column, or lines of the job contract", file)
	}
	return []LoggedRun{{File: file, Units: units, Startup: max(0, report.Startup), Save: max(0, report.Save)}}, warnings,
		nil
}

// pick returns the index of the first wanted name that the header has; -1 if it has none.
func pick(header, wanted []string) int {
	for _, w := range wanted {
		if i := slices.IndexFunc(header, func(h string) bool { return columnName(h) == w }); i >= 0 {
			return i
		}
	}
	return -1
}

// once returns an error if one of these columns has the same name as another column.
func once(header []string, columns ...int) error {
	for _, i := range columns {
		if i < 0 {
			continue
		}
		if _, err := textfile.Column(header, strings.TrimSpace(header[i])); err != nil {
			return err
		}
	}
	return nil
}

// csvRow is a row of a log.
type csvRow struct {
	step int
	at   float64
}

// csvLog collects the rows of a log by run. Maps are by the run's name.
type csvLog struct {
	file     string
	step, at int   // column numbers of steps and times
	by       []int // numbers of the columns that identify a run

	names []string
	rows  map[string][]csvRow
	again map[string]int     // how often a run began again under the name
	until map[string]float64 // the latest time of the run
	back  []int              // lines with an earlier time but a later step than the line before
	// Pauses in which no step was trained: their number, and their total length in seconds.
	pauses int
	paused float64

	bad []error // errors of malformed lines
}

func readCSV(in io.Reader, file string, lenient bool) (runs []LoggedRun, warnings []string, err error) {
	l := &csvLog{file: file, rows: map[string][]csvRow{}, again: map[string]int{}, until: map[string]float64{}}
	var header []string
	l.bad, err = textfile.EachRow(file, in, lenient, func(columns []string) error {
		header, l.step, l.at = slices.Clone(columns), pick(columns, stepColumns), pick(columns, timeColumns)
		if l.at < 0 {
			return fmt.Errorf("there is no column of times (wall_time, time, elapsed_s, seconds) among %s",
				strings.Join(header, ", "))
		}
		for i, h := range header {
			if i != l.step && i != l.at && slices.Contains(runColumns, columnName(h)) {
				l.by = append(l.by, i)
			}
		}
		return once(header, l.step, l.at)
	}, func(line int, record []string) error {
		row, err := readRow(record, l.step, l.at, header)
		if err == nil {
			l.add(line, record, row)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if runs = l.runs(); len(runs) == 0 {
		return nil, nil, fmt.Errorf("read %s: there are no rows below the header", file)
	}
	return runs, l.warnings(), nil
}

// add adds a row to its run.
func (l *csvLog) add(line int, record []string, row csvRow) {
	id := schema.Each(l.by, func(i int) string { return record[i] })
	name := strings.Join(id, "/")
	key := name
	if n := l.again[name]; n > 0 {
		key = fmt.Sprintf("%s#%d", name, n+1)
	}
	// The step starts again while the time increases: this is the next run under the same name.
	if v := l.rows[key]; len(v) > 1 && row.step <= v[0].step && row.at >= l.until[key] {
		l.again[name]++
		key = fmt.Sprintf("%s#%d", name, l.again[name]+1)
	}
	if l.rows[key] == nil {
		l.names = append(l.names, key)
		l.until[key] = row.at
	}
	if v := l.rows[key]; len(v) > 0 && row.at < l.until[key] && row.step > v[len(v)-1].step {
		l.back = append(l.back, line)
	}
	l.until[key] = max(l.until[key], row.at)
	l.rows[key] = append(l.rows[key], row)
}

// runs returns the runs in the order of the file, each with its rows sorted by time.
func (l *csvLog) runs() []LoggedRun {
	var runs []LoggedRun
	for _, name := range l.names {
		v := l.rows[name]
		slices.SortStableFunc(v, func(a, b csvRow) int { return cmp.Compare(a.at, b.at) })
		run := LoggedRun{File: l.file, Name: name, First: v[0].step}
		longest, paused := longestGap(v), 0.0
		for i, x := range v {
			if i > 0 && x.step == v[i-1].step && x.at-v[i-1].at > pauseGaps*longest && longest > 0 {
				paused += x.at - v[i-1].at
				l.pauses++
				continue
			}
			run.Marks = append(run.Marks, marks.Mark{Done: x.step - run.First, At: x.at - v[0].at - paused})
		}
		l.paused += paused
		runs = append(runs, run)
	}
	return runs
}

// pauseGaps is the least length of a pause, as a multiple of the longest time between two rows with progress. Shorter
// repetitions of a step come from watchers of a slow program.
const pauseGaps = 2

// longestGap returns the longest time between two consecutive rows with different steps.
func longestGap(rows []csvRow) float64 {
	longest := 0.0
	for i := 1; i < len(rows); i++ {
		if rows[i].step > rows[i-1].step {
			longest = max(longest, rows[i].at-rows[i-1].at)
		}
	}
	return longest
}

// warnings describes the problems of the log that do not prevent predictions.
func (l *csvLog) warnings() []string {
	var warnings []string
	for _, e := range l.bad[:min(len(l.bad), textfile.MaxErrors)] {
		warnings = append(warnings, e.Error()+" (skipped)")
	}
	if more := len(l.bad) - textfile.MaxErrors; more > 0 {
		warnings = append(warnings, fmt.Sprintf("%s: %d more malformed lines (skipped)", l.file, more))
	}
	if l.pauses > 0 {
		warnings = append(warnings, fmt.Sprintf("%s: a step is written again after a pause (%d times): the %.0f s of the pauses "+
			"do not count", l.file, l.pauses, l.paused))
	}
	if len(l.back) > 0 {
		warnings = append(warnings, fmt.Sprintf("%s:%d: the time decreases while the steps increase "+
			"(%d such lines): rows are sorted by time", l.file, l.back[0], len(l.back)))
	}
	return warnings
}

func readRow(record []string, step, at int, header []string) (csvRow, error) {
	s, err := strconv.ParseFloat(strings.TrimSpace(record[step]), 64)
	if err != nil || s != math.Trunc(s) || s < 0 || s > math.MaxInt32 {
		return csvRow{}, fmt.Errorf("%s %q is not a whole number of at least 0", header[step], record[step])
	}
	t, err := strconv.ParseFloat(strings.TrimSpace(record[at]), 64)
	if err != nil || math.IsNaN(t) || math.Abs(t) > mostSeconds {
		return csvRow{}, fmt.Errorf("%s %q is not a time in seconds", header[at], record[at])
	}
	return csvRow{int(s), t}, nil
}
