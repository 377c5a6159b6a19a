package results

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// TestAppendNumber: the fast way gives the digits of strconv.
func TestAppendNumber(t *testing.T) {
	values := []float64{0, math.Copysign(0, -1), -1.5, 1e-7, 5e-7, 4.9999999e-7, 1e12, 1e300, 0.1, 2.5e-6, 1.0000005, 1099511.627776, 123456789.123456}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		v := rng.Float64() * math.Pow(10, float64(rng.IntN(14)-7))
		values = append(values, v, math.Round(v*1e6)/1e6, (math.Floor(v*1e6)+0.5)/1e6)
	}
	for _, v := range values {
		want := strconv.FormatFloat(v, 'f', decimals, 64)
		if v == 0 {
			want = "0.000000"
		}
		if got := string(appendNumber(nil, v)); got != want {
			t.Fatalf("%b: %s instead of %s", v, got, want)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := appendNumber(nil, v); len(got) > 0 {
			t.Errorf("%v: %s instead of an empty field", v, got)
		}
	}
}

// TestQuoteField: fields are quoted as by encoding/csv.
func TestQuoteField(t *testing.T) {
	for _, s := range []string{"a", "", `\.`, " a", "a ", "\ta", "a,b", `say "a"`, "a\nb", "a\rb", "\u00a0a", "ä"} {
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		if err := w.Write([]string{"x", s}); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		got := "x," + string(quoteField([]byte(s), 0)) + "\n"
		if got != b.String() {
			t.Errorf("%q: %q instead of %q", s, got, b.String())
		}
	}
}

// TestAppendLines: events and decisions are the lines that encoding/json makes
// of their rows.
func TestAppendLines(t *testing.T) {
	jobs := []scheduler.Job{{Name: "short-1", Alternatives: []scheduler.Alternative{{Name: "cpu"}, {Name: "gpu:V100"}}}, {Name: `"ä <b>`}, {Name: "c\u2028\x01\\"}}
	sets := []scheduler.CoreSet{nil, {{Lo: 3, Hi: 4}}, {{Lo: 0, Hi: 4}, {Lo: 7, Hi: 8}, {Lo: 1000, Hi: 1024}}}
	instants := []time.Duration{0, 1, 500, time.Microsecond, 1500 * time.Microsecond, time.Second, 100 * time.Hour,
		1234567891 * time.Microsecond, 1e6 * time.Hour, scheduler.Never}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		instants = append(instants, time.Duration(rng.Int64N(1<<rng.IntN(62)+1)))
	}
	for i, at := range instants {
		e := scheduler.Event{At: at, Kind: scheduler.Start, Job: i % 3, Cores: sets[i%3], GPUs: sets[i/3%3]}
		if i%4 == 0 {
			e.Reason = jobs[i%3].Name + " & more"
		}
		e.Alternative = i % 2
		switch i % 7 {
		case 1:
			e.Kind, e.Request = scheduler.Request, 1+i%5
		case 2:
			e.Kind, e.Levels = scheduler.Level, scheduler.Levels{From: int32(i % 3), To: int32(i%3) - 1}
		case 3:
			e.Kind, e.Prediction = scheduler.Predict, &scheduler.Prediction{Done: i, Total: 2 * i, Left: at, Before: scheduler.Never}
		}
		same(t, appendEvent(nil, e, &jobs[e.Job]), eventRow(e, jobs))
		d := scheduler.Decision{At: at, Kind: scheduler.Resume, Job: i % 3, Cores: e.Cores, Reason: e.Reason, PassedMore: i % 2}
		for k := range i % 3 {
			d.Passed = append(d.Passed, scheduler.Passed{Job: k, Reason: "needs 4 cores, 1 are free"})
		}
		same(t, appendDecision(nil, d, jobs), decisionRow(d, jobs))
	}
}

func same(t *testing.T, got []byte, row any) {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(row); err != nil {
		t.Fatal(err)
	}
	if string(got) != b.String() {
		t.Fatalf("%sinstead of\n%s", got, b.String())
	}
}

func eventRow(e scheduler.Event, jobs []scheduler.Job) EventRow {
	row := EventRow{
		At: toMicros(e.At).seconds(), Event: e.Kind, Job: jobs[e.Job].Name,
		Cores: e.Cores, GPUs: e.GPUs, Reason: e.Detail(), Request: e.Request,
	}
	if e.Kind == scheduler.Level {
		row.Levels = &LevelsRow{From: int(e.Levels.From), To: int(e.Levels.To)}
	}
	if p := e.Prediction; p != nil {
		row.Prediction = &PredictionRow{Done: p.Done, Total: p.Total, Left: span(p.Left), Before: span(p.Before)}
	}
	if ways := jobs[e.Job].Alternatives; e.Kind == scheduler.Start && len(ways) > 0 {
		row.Resource = ways[e.Alternative].Name
	}
	return row
}

func span(d time.Duration) *float64 {
	if d == scheduler.Never {
		return nil
	}
	s := toMicros(d).seconds()
	return &s
}

func decisionRow(d scheduler.Decision, jobs []scheduler.Job) DecisionRow {
	row := DecisionRow{
		At: toMicros(d.At).seconds(), Decision: d.Kind, Job: jobs[d.Job].Name,
		Cores: d.Cores, Reason: d.Reason, PassedMore: d.PassedMore,
	}
	for _, p := range d.Passed {
		row.Passed = append(row.Passed, PassedRow{Job: jobs[p.Job].Name, Reason: p.Reason})
	}
	return row
}
