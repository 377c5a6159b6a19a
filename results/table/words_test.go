package table

import (
	"math"
	"slices"
	"testing"

	"github.com/tfexp/tfexp/results/stats"
)

func TestNumbersAtTheirBounds(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 999: "999", 1000: "1,000", 999.4: "999", -1234567: "−1,234,567", 0.001: "0.00100", 0.00099: "0.00099", 12.345: "12.3",
		math.Inf(1): "–", 5: "5", -2.5: "−2.50", -2: "−2", -0.0005: "−0.0005",
	} {
		if got := Number(v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
	for p, want := range map[float64][2]string{
		0.0001: {"0.0001", "p = 0.0001"}, 0.00009: {"< 0.0001", "p < 0.0001"}, 0.00099: {"0.0010", "p = 0.0010"},
		0.001: {"0.001", "p = 0.001"}, 0.012: {"0.012", "p = 0.012"}, 0.5: {"0.50", "p = 0.50"}, 1: {"1.00", "p = 1.00"},
	} {
		if P(p) != want[0] || PValue(p) != want[1] {
			t.Errorf("%g: %s, %s; want %s", p, P(p), PValue(p), want)
		}
	}
	if P(math.NaN()) != "–" || PValue(math.NaN()) != "p unknown" {
		t.Error("an unknown p-value")
	}
	for v, want := range map[float64]string{0.12: "+12%", -0.008: "−0.8%", 0: "0%", 0.0002: "0%", 0.995: "+99.5%", 1.005: "+100%", 0.1: "+10%", 0.099: "+9.9%"} {
		if got := Signed(v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
	for _, c := range []struct {
		i    stats.Interval
		want string
	}{
		{stats.Interval{Mean: 12.345, Low: 11.925, High: 12.765}, "12.35 ± 0.42"},
		{stats.Interval{Mean: 1234, Low: 1200, High: 1268}, "1,234 ± 34"},
		{stats.Interval{Mean: 5, Low: 5, High: 5}, "5 ± 0"},
		{stats.Interval{Mean: 5, Low: math.NaN(), High: 6}, "5"},
		{stats.Interval{Mean: math.NaN(), Low: 1, High: 6}, "–"},
		{stats.Interval{Mean: 0.00012, Low: 0.00011, High: 0.00013}, "0.000 ± 0.000"},
	} {
		if got := Interval(c.i); got != c.want {
			t.Errorf("%+v: %s, want %s", c.i, got, c.want)
		}
	}
}

func TestTableWithoutAColumn(t *testing.T) {
	full := Table{Columns: []Column{{Name: "a", Kind: AsText}, {Name: "b", Kind: AsNumber, Metric: "x"},
		{Name: "c", Kind: AsNumber, Metric: "y"}, {Name: "d", Kind: AsNumber, Metric: "z"}}, Rows: [][]string{{"1", "2", "3", "4"}}}
	got := full.Without(func(c Column) bool { return c.Metric == "y" })
	if !slices.Equal(got.Header(), []string{"a", "b", "d"}) || !slices.Equal(got.Rows[0], []string{"1", "2", "4"}) ||
		got.Left() != 1 || got.Columns[1].Metric != "x" || got.Columns[2].Metric != "z" {
		t.Errorf("%+v", got)
	}
	if len(full.Columns) != 4 || len(full.Without(func(Column) bool { return false }).Rows[0]) != 4 {
		t.Errorf("the table itself has changed: %+v", full)
	}
}

// PlainDurations shortens durations to the form that people use.
func TestPlainDurations(t *testing.T) {
	for text, want := range map[string]string{
		"rounds 6m0s, demotion 16h0m0s": "rounds 6m, demotion 16h",
		"every 1h30m0s from 10m5s":      "every 1h30m from 10m5s",
		"at 0s, 1h0m10s, 10s":           "at 0s, 1h0m10s, 10s",
		`exponential("1h0m0s")`:         `exponential("1h")`,
	} {
		if got := PlainDurations(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
