package market_test

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/market"
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

// TestFitsFindWhatWasDrawn draws lives, censors a third of them, and fits.
func TestFitsFindWhatWasDrawn(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	truth := market.Weibull{Shape: 0.7, Scale: 3 * time.Hour}
	var seen []market.Observation
	for range 4000 {
		life, given := market.Draw(truth, r), market.Draw(market.Exponential{Mean: 6 * time.Hour}, r)
		seen = append(seen, market.Observation{Time: min(life, given), Taken: life <= given})
	}
	w, err := market.WeibullOf(seen)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(w.Shape-0.7) > 0.03 || math.Abs(w.Scale.Hours()-3) > 0.25 {
		t.Errorf("fitted %s, drawn from %s", w, truth)
	}
	if _, err := market.ExponentialOf([]market.Observation{{Time: time.Hour}}); err == nil {
		t.Error("nobody was taken away, and yet there is a fit")
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
	} {
		if got := c.billing.Cost(p, c.created, c.up, c.end); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v from %s, up %s, to %s: %g $, want %g", c.billing, c.created, c.up, c.end, got, c.want)
		}
	}
	if market.Fixed(-1).Check() == nil {
		t.Error("a negative price is accepted")
	}
}
