package estimates

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/estimator/marks"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// shape returns the names of runs with their marks, such as "a 0@0 10@5".
func shape(runs []LoggedRun) []string {
	var all []string
	for _, r := range runs {
		s := r.Name
		for _, m := range r.Marks {
			s += fmt.Sprintf(" %d@%g", r.First+m.Done, m.At)
		}
		all = append(all, strings.TrimSpace(s))
	}
	return all
}

func TestReadLogOfManyForms(t *testing.T) {
	for _, test := range []struct {
		name, log string
		want      []string
	}{
		{"TensorBoard", "Wall time,Step,Value\n100.5,0,1\n110.5,50,1\n", []string{"0@0 50@10"}},
		{"underscores", "global_step,wall_time\n10,1\n20,3\n", []string{"10@0 20@2"}},
		{"epochs", "epoch,elapsed_s,loss\n1,2,0.5\n2,4,0.4\n", []string{"1@0 2@2"}},
		{"byte order mark, CRLF, spaces", "\ufeffStep, Time\r\n0, 5\r\n10, 7\r\n", []string{"0@0 10@2"}},
		{"runs", "Time,Step,Run\n0,0,1\n5,10,1\n9,0,2\n11,10,2\n", []string{"1 0@0 10@5", "2 0@0 10@2"}},
		{"runs side by side", "Time,Step,Run\n0,0,1\n1,0,2\n5,10,1\n7,10,2\n", []string{"1 0@0 10@5", "2 0@0 10@6"}},
		{"a name that comes again", "Time,Step,Zone,Run\n0,0,a,1\n5,10,a,1\n9,0,b,1\n10,10,b,1\n20,0,a,1\n21,10,a,1\n",
			[]string{"a/1 0@0 10@5", "b/1 0@0 10@1", "a/1#2 0@0 10@1"}},
		{"unsorted", "Time,Step\n7,20\n0,0\n5,10\n", []string{"0@0 10@5 20@7"}},
		{"a restart from a checkpoint is the same run", "Time,Step\n0,0\n5,10\n9,20\n15,10\n20,20\n",
			[]string{"0@0 10@5 20@9 10@15 20@20"}},
	} {
		runs, _, err := ReadLog(strings.NewReader(test.log), "log", false)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if diff := cmp.Diff(test.want, shape(runs)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestReadLogRefuses(t *testing.T) {
	for _, test := range []struct{ name, log, want string }{
		{"nothing", "", "empty"},
		{"a header alone", "Step,Time\n", "no rows"},
		{"no time", "Step,Loss\n1,2\n", "no column of times"},
		{"prose", "hello\nworld\n", "must be CSV"},
		{"a broken time-writer line", "<TIME_WRITTER_OUTPUT>[1, x, 2]</TIME_WRITTER_OUTPUT>\n", "log: line 1"},
		{"a quote", "Step,Time\n1,\"2\n", "log:2"},
		{"a quote in the first column", "Step,Time\n\"0,0\n1,10\n", "log:2"},
		{"later than any clock", "Step,Time\n0,0\n1,1e308\n", `log:3: Time "1e308" is not a time`},
		{"below zero", "Step,Time\n-1,2\n", `log:2: Step "-1" is not a whole number of at least 0`},
		{"not finite", "Step,Time\n1,NaN\n", `log:2: Time "NaN" is not a time`},
	} {
		_, _, err := ReadLog(strings.NewReader(test.log), "log", false)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.name, err, test.want)
		}
	}
	_, _, err := ReadLog(strings.NewReader("Step,Time\n1\n2,x\n"), "log", false)
	var line *textfile.LineError
	if !errors.As(err, &line) || line.Line != 2 || line.File != "log" {
		t.Errorf("%v does not name the line", err)
	}
	many := "Step,Time\n" + strings.Repeat("x,1\n", 50)
	_, _, err = ReadLog(strings.NewReader(many), "log", false)
	if err == nil || strings.Count(err.Error(), "\n") != textfile.MaxErrors-1 {
		t.Errorf("50 malformed lines are reported as %v", err)
	}
	_, warnings, err := ReadLog(strings.NewReader(many+"1,1\n"), "log", true)
	if n := len(warnings); err != nil || n != textfile.MaxErrors+1 || warnings[n-1] != "log: 30 more malformed lines (skipped)" {
		t.Errorf("50 malformed lines are skipped with %q, %v", warnings, err)
	}
	runs, warnings, err := ReadLog(strings.NewReader("Step,Time\n0,1\nx,1\n5,3\n"), "log", true)
	if err != nil || len(runs) != 1 || len(runs[0].Marks) != 2 || len(warnings) != 1 {
		t.Errorf("leniently: %+v, %q, %v", runs, warnings, err)
	}
}

// An error of the reader is returned, and is not mistaken for an empty log.
func TestReadLogTellsWhyItCannotRead(t *testing.T) {
	broken := errors.New("the disk is gone")
	_, _, err := ReadLog(iotest.ErrReader(broken), "log", false)
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

func TestReadLogWarnsOfAClockThatGoesBack(t *testing.T) {
	for log, want := range map[string]int{
		"Step,Time\n0,0\n1,10\n2,5\n3,20\n":    1,
		"Step,Time\n0,0\n5,10\n3,15\n6,20\n":   0, // the run returned to a checkpoint
		"Step,Time\n0,0\n1,10\n0,20\n1,30\n":   0, // another run begins
		"Step,Time\n3,30\n2,20\n1,10\n0,0\n":   0, // the latest row is first
		"Step,Time\n0,0\n1,10\n1,10\n2,20\n":   0,
		"Step,Time\n0,50\n10,60\n20,5\n30,9\n": 1,
	} {
		_, warnings, err := ReadLog(strings.NewReader(log), "log", false)
		if err != nil || len(warnings) != want {
			t.Errorf("%q: warnings %q, %v; want %d", log, warnings, err, want)
		}
	}
}

// The prediction uses only the prefix of a run. Other data after the prefix, of the run itself or of other runs, do not
// change the prediction.
func TestPredictLogsLooksAtThePrefixAlone(t *testing.T) {
	log := func(later string) []LoggedRun {
		text := "Time,Step,Run\n"
		for _, run := range []string{"1", "2", "3"} {
			text += "0,0," + run + "\n9,10," + run + "\n2" + run + ",20," + run + "\n" + strings.ReplaceAll(later, "RUN", run)
		}
		runs, _, err := ReadLog(strings.NewReader(text), "log", false)
		if err != nil {
			t.Fatal(err)
		}
		return runs
	}
	o := LogOptions{Total: 100, Fraction: 0.2, Model: "auto", Level: 0.9}
	a, err := PredictLogs(log("100,60,RUN\n200,100,RUN\n"), nil, o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := PredictLogs(log("30,60,RUN\n5000,100,RUN\n"), nil, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a {
		if a[i].Err != nil || a[i].Prediction != b[i].Prediction {
			t.Errorf("run %d: %+v, and with other ends %+v (%v)", i, a[i].Prediction, b[i].Prediction, a[i].Err)
		}
		if a[i].Actual != 200 || b[i].Actual != 5000 {
			t.Errorf("run %d: actual %g and %g", i, a[i].Actual, b[i].Actual)
		}
	}
}

func TestLengthIsARoundNumber(t *testing.T) {
	for last, want := range map[int]int{64006: 64000, 999: 999, 10: 10, 1000: 1000, 1234567: 1230000} {
		runs := []LoggedRun{{Marks: []marks.Mark{{Done: 0, At: 0}, {Done: last, At: 1}}}}
		if got := (LogOptions{}).Length(runs); got != want {
			t.Errorf("the length of runs of %d is taken to be %d, want %d", last, got, want)
		}
	}
}

// These are the accuracies of `tfexp estimate --from-log` on real training logs.
func TestPredictRealLogs(t *testing.T) {
	dir := os.Getenv("TFEXP_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	var runs []LoggedRun
	for _, c := range []string{"2-demand/", "4-demand/", "4-spot/4-spot-", "k80-demand/", "p100/"} {
		f, err := os.Open(filepath.Join(dir, "transient_training", filepath.FromSlash(c)+"train_data.csv"))
		if err != nil {
			t.Skipf("the training logs are not here; TFEXP_DATA names the folder that has them (%v)", err)
		}
		logged, _, err := ReadLog(f, c, false)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, logged...)
	}
	for _, test := range []struct {
		fraction float64
		alone    bool
		history  []LoggedRun
		linear   float64
		most     float64
	}{
		{0.0625, true, nil, 9.05, 9.1},
		{0.0625, false, nil, 9.05, 6},
		{0.125, false, nil, 4.39, 3.5},
		{0.125, false, runs, 4.39, 2.5},
	} {
		o := LogOptions{Fraction: test.fraction, Model: "auto", Level: 0.9, Alone: test.alone}
		predictions, err := PredictLogs(runs, test.history, o)
		if err != nil {
			t.Fatal(err)
		}
		s := SummarizeLogs(predictions)
		t.Logf("%+v: %+v", o, s)
		if s.Runs != 94 {
			t.Errorf("%d complete runs, want 94", s.Runs)
		}
		if d := s.LinearMeanAbs - test.linear; d < -0.05 || d > 0.05 {
			t.Errorf("from %g plain extrapolation errs by %.2f%%, want %g%%", test.fraction, s.LinearMeanAbs, test.linear)
		}
		if s.MeanAbs > test.most {
			t.Errorf("from %g runs are predicted with an error of %.2f%%, want at most %g%%", test.fraction, s.MeanAbs,
				test.most)
		}
		if s.Coverage < 85 || s.Coverage > 95 {
			t.Errorf("from %g the 90%% interval covers %.1f%%", test.fraction, s.Coverage)
		}
	}
}
