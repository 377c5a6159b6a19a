package clusters

import (
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
)

func TestGavel(t *testing.T) {
	text := "LM (batch size 5)\tpython main.py\tlm\t--steps\t1\t100\t2\t1\t-1.000000\t0\n\n" +
		"A3C\tpython main.py\trl\t--steps\t0\t7\t1\t5\t60\t12.5\n"
	trace, err := formats.Find("gavel").Read("small.trace", strings.NewReader(text), formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, b := trace.Jobs[0], trace.Jobs[1]
	if a.Class != "LM (batch size 5)" || a.GPUs != 2 || a.Threads != 2 || a.Units() != 100 || a.Deadline != scheduler.Never {
		t.Errorf("the first job is %+v", a)
	}
	if b.Arrival != 12500*time.Millisecond || b.Weight() != 5 || b.Deadline != 72500*time.Millisecond {
		t.Errorf("the second job is %+v", b)
	}
	if trace.RunTimes != nil {
		t.Errorf("the run times are %v, but the file has none", trace.RunTimes)
	}
}

// TestGavelOfTwelveFields: a line of twelve fields also has a mode and a duration.
func TestGavelOfTwelveFields(t *testing.T) {
	read := func(class, mode string) (workload.Trace, error) {
		text := strings.Join([]string{class, "c", "d", "-n", "0", "100", "2", mode, "5", "60", "777", "12.5"}, "\t")
		return formats.Find("gavel").Read("twelve.trace", strings.NewReader(text), formats.Options{})
	}
	trace, err := read("LM", "static")
	if err != nil {
		t.Fatal(err)
	}
	if j := trace.Jobs[0]; j.GPUs != 2 || j.Weight() != 5 || j.Arrival != 12500*time.Millisecond || j.Deadline != 72500*time.Millisecond {
		t.Errorf("%+v", j)
	}
	if rule := trace.Jobs[0].BatchRule(); rule != "" {
		t.Errorf("a static batch size changes by %s", rule)
	}
	for mode, want := range map[string]string{"accordion": "accordion", "gns": "gns"} {
		trace, err := read("LM (batch size 5)", mode)
		if err != nil || trace.Jobs[0].BatchRule() != want {
			t.Errorf("%s: %+v, %v", mode, trace.Jobs, err)
		}
	}
	for class, mode := range map[string]string{"LM": "gns", "VGG (batch size 4)": "accordion", "LM (batch size 5)": "Static"} {
		if _, err := read(class, mode); err == nil || !strings.Contains(err.Error(), "batch size") {
			t.Errorf("%s by %s: %v", class, mode, err)
		}
	}
}

func TestGavelRefuses(t *testing.T) {
	line := func(steps, workers, weight, slo, arrival string) string {
		return strings.Join([]string{"LM", "c", "d", "-n", "0", steps, workers, weight, slo, arrival}, "\t")
	}
	for text, want := range map[string]string{
		"LM\t1":                            "2 fields instead of 10",
		line("0", "1", "1", "-1", "0"):     "not a number of steps",
		line("1.5", "1", "1", "-1", "0"):   "not a number of steps",
		line("1", "0", "1", "-1", "0"):     "not a number of workers",
		line("1", "1", "0", "-1", "0"):     "not a weight above 0",
		line("1", "1", "1", "soon", "0"):   "not an SLO",
		line("1", "1", "1", "-1", "never"): "arrival",
	} {
		_, err := formats.Find("gavel").Read("bad.trace", strings.NewReader(text), formats.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
