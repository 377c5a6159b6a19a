package market_test

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/tfexp/tfexp/stages/servers/market"
)

// table reads a measured table, column by name.
func table(t *testing.T, path ...string) (rows [][]string, column func(row []string, name string) string) {
	t.Helper()
	f, err := os.Open(filepath.Join(append([]string{os.Getenv("TFEXP_DATA")}, path...)...))
	if err != nil {
		t.Skipf("the measurements %s are not here; TFEXP_DATA names the folder that has them", filepath.Join(path...))
	}
	defer f.Close()
	rows, err = csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	header := rows[0]
	return rows[1:], func(row []string, name string) string { return row[slices.Index(header, name)] }
}

// lives reads the lives of one type of machine in one zone.
func lives(t *testing.T, machine, zone string) (seen []market.Observation) {
	rows, column := table(t, "vm_lifetimes", "gce_2019.csv")
	for _, r := range rows {
		if column(r, "machine_type") == machine && column(r, "zone") == zone {
			s, err := strconv.ParseFloat(column(r, "lifetime_s"), 64)
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, market.Observation{Time: time.Duration(s * 1e9), Taken: column(r, "ended_by") == "revoked"})
		}
	}
	return seen
}

func TestKaplanMeierOnMeasuredLives(t *testing.T) {
	for _, c := range []struct {
		machine, zone string
		count         int
		want          [4]float64 // survival at 1, 3, 12 and 23 hours
	}{
		{"n1-highcpu-2", "us-east1-b", 133, [4]float64{0.9682, 0.8361, 0.7718, 0.7075}},
		{"n1-highcpu-32", "us-central1-c", 321, [4]float64{0.7194, 0.5973, 0.4434, 0.3393}},
	} {
		seen := lives(t, c.machine, c.zone)
		if len(seen) != c.count {
			t.Fatalf("%s: %d lives, want %d", c.machine, len(seen), c.count)
		}
		m, err := market.KaplanMeier(c.machine, seen)
		if err != nil {
			t.Fatal(err)
		}
		for i, hours := range []float64{1, 3, 12, 23} {
			if got := m.Survival(time.Duration(hours * float64(time.Hour))); math.Abs(got-c.want[i]) > 5e-5 {
				t.Errorf("%s: S(%g h) is %.4f, want %.4f", c.machine, hours, got, c.want[i])
			}
		}
		if c.machine == "n1-highcpu-32" {
			if got := m.Quantile(0.5).Hours(); math.Abs(got-10.395) > 5e-4 {
				t.Errorf("the median is %.4f h, want 10.395", got)
			}
		}
		b, rms, err := market.BathtubOf(m)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %s, root mean square difference %.4f", c.machine, b, rms)
		if rms > 0.05 {
			t.Errorf("%s: the bathtub is %.4f away from the measured curve", c.machine, rms)
		}
	}
}

// TestKaplanMeierByHand is six lives worked out on paper: 5 taken, 6 given back, 7
// taken and given back, 9 and 10 taken: 5/6, then 4 are seen at 7, 2 at 9, 1 at 10.
func TestKaplanMeierByHand(t *testing.T) {
	s := func(n int, taken bool) market.Observation {
		return market.Observation{Time: time.Duration(n) * time.Second, Taken: taken}
	}
	m, err := market.KaplanMeier("", []market.Observation{s(7, false), s(5, true), s(10, true), s(6, false), s(7, true),
		s(9, true)})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[int]float64{4: 1, 5: 5. / 6, 6: 5. / 6, 7: 5. / 8, 9: 5. / 16, 10: 0} {
		if got := m.Survival(time.Duration(at) * time.Second); math.Abs(got-want) > 1e-12 {
			t.Errorf("S(%d s) is %v, want %v", at, got, want)
		}
	}
	if got := m.Quantile(0.9); got != 10*time.Second {
		t.Errorf("nine of ten are taken after %s, want 10s", got)
	}
}

// TestQuantilesInvertSurvival holds for every distribution.
func TestQuantilesInvertSurvival(t *testing.T) {
	for _, l := range []market.Life{
		market.Exponential{Mean: time.Hour},
		market.Weibull{Shape: 0.6, Scale: 2 * time.Hour},
		market.Bathtub{A: 0.4, Tau1: time.Hour, Tau2: 48 * time.Minute, End: 24 * time.Hour},
	} {
		before := time.Duration(-1)
		for u := 0.05; u < 1; u += 0.05 {
			q := l.Quantile(u)
			if q < before {
				t.Errorf("%s: the quantile of %g is %s, after %s", l, u, q, before)
			}
			if got := 1 - l.Survival(q); math.Abs(got-u) > 1e-6 {
				t.Errorf("%s: F(quantile of %g) is %g", l, u, got)
			}
			before = q
		}
	}
}

func TestCurvesThatCannotBe(t *testing.T) {
	h := func(n ...int) (d []time.Duration) {
		for _, v := range n {
			d = append(d, time.Duration(v)*time.Hour)
		}
		return d
	}
	for name, c := range map[string]struct {
		times []time.Duration
		s     []float64
	}{
		"increases":    {h(1, 2), []float64{0.5, 0.6}},
		"above one":    {h(1), []float64{1.1}},
		"negative":     {h(1), []float64{-0.1}},
		"twice":        {h(1, 1), []float64{0.9, 0.8}},
		"out of order": {h(2, 1), []float64{0.9, 0.8}},
		"no number":    {h(1), []float64{math.NaN()}},
	} {
		if _, err := market.NewMeasured("", c.times, c.s); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestBilling(t *testing.T) {
	p := market.Price{Times: []time.Duration{0, time.Hour}, PerHour: []float64{1, 3}}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		billing          market.Billing
		created, up, end time.Duration
		want             float64
	}{
		{market.Billing{Startup: true}, 0, 10 * time.Minute, 2 * time.Hour, 4},
		{market.Billing{}, 0, 30 * time.Minute, 2 * time.Hour, 3.5},
		{market.Billing{Startup: true, Minimum: time.Hour}, 0, time.Minute, 2 * time.Minute, 1},
		{market.Billing{}, 0, 2 * time.Hour, time.Hour, 0}, // taken before it could be used
		{market.Billing{Unit: time.Hour}, 0, 0, time.Hour, 1},
		{market.Billing{Unit: time.Hour}, 0, 0, time.Hour + 1, 4},
		{market.Billing{}, time.Hour, time.Hour, 3 * time.Hour, 6},
		{market.Billing{}, -time.Hour, -time.Hour, 0, 1}, // before the first value there is that value
	} {
		if got := c.billing.Cost(p, c.created, c.up, c.end); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v from %s, up %s, to %s: %g $, want %g", c.billing, c.created, c.up, c.end, got, c.want)
		}
	}
	for at, want := range map[time.Duration]float64{0: 1, time.Hour - 1: 1, time.Hour: 3, 2 * time.Hour: 3} {
		if got := p.At(at); got != want {
			t.Errorf("the price at %s is %g, want %g", at, got, want)
		}
	}
	if err := market.Fixed(0).Check(); err != nil {
		t.Errorf("what costs nothing: %v", err)
	}
	for name, p := range map[string]market.Price{
		"negative":     market.Fixed(-1),
		"no number":    market.Fixed(math.NaN()),
		"nothing":      {},
		"late":         {Times: []time.Duration{1}, PerHour: []float64{1}},
		"twice":        {Times: []time.Duration{0, 0}, PerHour: []float64{1, 2}},
		"uneven":       {Times: []time.Duration{0, 1}, PerHour: []float64{1}},
		"out of order": {Times: []time.Duration{0, 2, 1}, PerHour: []float64{1, 1, 1}},
	} {
		if p.Check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestMeansAndShortLives: a life may be 0, but not negative. A life longer than the largest duration is Forever.
func TestMeansAndShortLives(t *testing.T) {
	if m, err := market.KaplanMeier("", []market.Observation{{Taken: true}, {Time: time.Second, Taken: true}}); err != nil ||
		m.Survival(0) != .5 {
		t.Errorf("a server that is taken at once: %v, %v", m, err)
	}
	if _, err := market.KaplanMeier("", []market.Observation{{Time: -1}}); err == nil {
		t.Error("a life may be negative")
	}
	if _, err := market.KaplanMeier("", nil); err == nil {
		t.Error("a curve of no lives")
	}
	m, err := market.NewMeasured("", []time.Duration{0, time.Hour}, []float64{1, .25})
	if err != nil {
		t.Fatal(err)
	}
	for u, want := range map[float64]time.Duration{0: time.Hour, .75: time.Hour, .76: market.Forever} {
		if got := m.Quantile(u); got != want {
			t.Errorf("by %s a share of %g is taken, want by %s", got, u, want)
		}
	}
	if got := (market.Exponential{Mean: 1 << 62}).Quantile(.9); got != market.Forever {
		t.Errorf("longer than can be counted: %s", got)
	}
	if got := market.Mean(market.Exponential{Mean: time.Hour}, 100*time.Hour); math.Abs(got.Hours()-1) > 1e-3 {
		t.Errorf("the mean of an exponential life of an hour is %s", got)
	}
	never := market.Bathtub{Tau1: time.Hour, Tau2: time.Hour, End: time.Hour}
	if got := never.Quantile(.5); got != market.Forever {
		t.Errorf("nobody is ever taken, and half of them by %s", got)
	}
}

// TestBathtubsAreFound: BathtubOf finds the parameters of a bathtub from points of its curve.
func TestBathtubsAreFound(t *testing.T) {
	truth := market.Bathtub{A: 0.4, Tau1: time.Hour, Tau2: 48 * time.Minute, End: 24 * time.Hour}
	m := &market.Measured{}
	for at := 5 * time.Minute; truth.Survival(at) > 0.02; at += 5 * time.Minute {
		m.Times, m.Survivals = append(m.Times, at), append(m.Survivals, truth.Survival(at))
	}
	b, rms, err := market.BathtubOf(m)
	if err != nil || rms > 0.01 || math.Abs(b.A-.4) > .02 || math.Abs(b.Tau1.Hours()-1) > .1 ||
		math.Abs(b.Tau2.Hours()-.8) > .1 || math.Abs(b.End.Hours()-24) > .2 {
		t.Errorf("%s, %g away, %v; want %s", b, rms, err, truth)
	}
	short := &market.Measured{Times: m.Times[:3], Survivals: m.Survivals[:3]}
	if _, _, err := market.BathtubOf(short); err == nil {
		t.Error("a bathtub through three points")
	}
	short = &market.Measured{Times: m.Times[:4], Survivals: m.Survivals[:4]}
	if _, _, err := market.BathtubOf(short); err != nil {
		t.Errorf("a bathtub through four points: %v", err)
	}
}

// TestCurvesOfLives: the curve of a formula ends when one server of a hundred is left, but not after a day or after the
// longest life. A measured curve has its own points, and a fitted bathtub.
func TestCurvesOfLives(t *testing.T) {
	for _, c := range []struct {
		mean, most time.Duration
		end        float64 // seconds
	}{
		{time.Hour, 0, 3600 * math.Log(100)}, {100 * time.Hour, 0, 86400}, {time.Hour, time.Minute, 60},
		{time.Hour, 100 * time.Hour, 3600 * math.Log(100)},
	} {
		got := market.CurveOf("a", market.Exponential{Mean: c.mean}, c.most)
		last := len(got.Seconds) - 1
		if got.Measured || got.Seconds[0] != 0 || got.Survival[0] != 1 || math.Abs(got.Seconds[last]-c.end) > 1e-3 ||
			math.Abs(got.Survival[last]-math.Exp(-got.Seconds[last]/c.mean.Seconds())) > 1e-9 {
			t.Errorf("%+v: from (%g, %g) to (%g, %g)", c, got.Seconds[0], got.Survival[0], got.Seconds[last],
				got.Survival[last])
		}
	}
	m := &market.Measured{Name: "x", Times: []time.Duration{1e9, 2e9, 3e9, 4e9}, Survivals: []float64{.9, .8, .7, .1}}
	got := market.CurveOf("a", m, 0)
	if !got.Measured || !slices.Equal(got.Seconds, []float64{0, 1, 2, 3, 4}) ||
		!slices.Equal(got.Survival, []float64{1, .9, .8, .7, .1}) || len(got.Fitted) != 5 || got.FittedLaw == "" ||
		math.Abs(got.Fitted[3]-.75) > .2 {
		t.Errorf("%+v", got)
	}
	m.Times, m.Survivals = m.Times[:2], m.Survivals[:2]
	if got := market.CurveOf("a", m, 0); len(got.Seconds) != 3 || got.Fitted != nil {
		t.Errorf("two points: %+v", got)
	}
}
