package law

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// measured reads the shared table of cluster speeds.
func measured(t *testing.T) []Sample {
	t.Helper()
	data := os.Getenv("TFEXP_DATA")
	if data == "" {
		t.Skip("set TFEXP_DATA to the folder of recorded data, with dnn_speed/steps_per_s.csv")
	}
	f, err := os.Open(filepath.Join(data, "dnn_speed", "steps_per_s.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []Sample
	for _, r := range rows[1:] {
		servers, _ := strconv.Atoi(r[2])
		workers, _ := strconv.Atoi(r[3])
		speed, _ := strconv.ParseFloat(r[5], 64)
		out = append(out, Sample{Model: r[0], Device: r[1], Servers: servers, Workers: workers, StepsPerSecond: speed})
	}
	return out
}

// durations are the seconds of 64,000 steps of ResNet-32 with 2 to 8 workers (ICAC 2019).
func durations() []Sample {
	var out []Sample
	for _, d := range []struct {
		device  string
		servers int
		seconds []float64
	}{
		{"V100", 1, []float64{2422, 1840, 1622, 1503, 1514, 1372, 1424}},
		{"V100", 2, []float64{1960, 1358, 1070, 967, 871, 840, 812}},
		{"K80", 1, []float64{6961, 4730, 3464, 2739, 2318, 1955, 1774}},
		{"K80", 2, []float64{6617, 4408, 3342, 2676, 2222, 1907, 1717}},
	} {
		for i, s := range d.seconds {
			out = append(out, Sample{Device: d.device, Servers: d.servers, Workers: i + 2, StepsPerSecond: 64000 / s})
		}
	}
	return out
}

// scores returns the mean absolute errors for the left-out samples, in percent.
func scores(t *testing.T, samples []Sample) (queued, apart, unlimited, linear float64) {
	t.Helper()
	predictions, err := LeaveOut(samples, 5)
	if err != nil {
		t.Fatal(err)
	}
	n := 0.0
	for _, p := range predictions {
		if p.LeftOut {
			n++
			queued, apart = queued+100*p.Error(p.Queued), apart+100*p.Error(p.Apart)
			unlimited, linear = unlimited+100*p.Error(p.Unlimited), linear+100*p.Error(p.Linear)
		}
	}
	return queued / n, apart / n, unlimited / n, linear / n
}

// TestLargerClustersOfMeasurements checks that the speed of left-out clusters with 5 to 8 workers is predicted within
// 10%. Predictions without a limit of parameter servers, and by a straight line, are far worse.
func TestLargerClustersOfMeasurements(t *testing.T) {
	queued, apart, unlimited, linear := scores(t, measured(t))
	t.Logf("mean absolute errors: queued %.2f%%, apart %.2f%%, unlimited %.2f%%, linear %.2f%%", queued, apart,
		unlimited, linear)
	if !(max(queued, apart) <= 10 && 2*queued < min(unlimited, linear)) {
		t.Error("the law misses clusters that were left out")
	}
}

// TestLargerClustersOfDurations checks the same for durations from another study: V100 and K80, with one and two
// parameter servers.
func TestLargerClustersOfDurations(t *testing.T) {
	queued, apart, unlimited, linear := scores(t, durations())
	t.Logf("mean absolute errors: queued %.2f%%, apart %.2f%%, unlimited %.2f%%, linear %.2f%%", queued, apart,
		unlimited, linear)
	if !(queued <= 10 && queued < apart && 2*queued < min(unlimited, linear)) {
		t.Error("the law misses clusters that were left out")
	}
	f, err := Fit(durations(), Queued)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, s := range durations() {
		sum += 100 * math.Abs(f.Predict(s)/s.StepsPerSecond-1)
	}
	t.Logf("fitted to all: %.2f%%, %+v", sum/float64(len(durations())), f)
	if mean := sum / float64(len(durations())); mean > 3 {
		t.Errorf("the law that was fitted to all is %.2f%% off", mean)
	}
}

// TestSpeedByHand compares speeds of both forms of the law with values computed by hand.
func TestSpeedByHand(t *testing.T) {
	l := Law{Form: Apart, Rates: []Rate{{"K80", 4}, {"V100", 12}}, Limit: 20, Exponent: 1, Sharpness: 2}
	for _, c := range []struct {
		name    string
		law     Law
		workers []Worker
		servers int
		want    float64
	}{
		{"without parameter servers", l, Alike("K80", 1), 0, 4},
		{"one", l, Alike("K80", 1), 1, 1 / math.Sqrt(1.0/16+1.0/400)},
		{"mixed", l, append(Alike("K80", 2), Alike("V100", 1)...), 1, 20 / math.Sqrt(2)},
		{"two servers", l, append(Alike("K80", 2), Alike("V100", 1)...), 2, 1 / math.Sqrt(1.0/400+1.0/1600)},
		{"far away", l, []Worker{{"K80", 1}, {"K80", 0.5}}, 0, 6},
		{"unknown", l, Alike("P100", 3), 1, 0},
		{"nobody", l, nil, 1, 0},
		{"queued", Law{Form: Queued, Rates: l.Rates, Limit: 20, Exponent: 1, Sharpness: 1e6}, Alike("K80", 3), 1, 10},
		{"serves itself", Law{Form: Queued, Rates: l.Rates, Limit: 4, Exponent: 1, Sharpness: 2}, Alike("K80", 1), 0,
			2},
		{"no limit", Law{Form: Queued, Rates: l.Rates, Sharpness: 1}, Alike("K80", 3), 1, 12},
	} {
		if got := c.law.Speed(c.workers, c.servers); math.Abs(got-c.want) > 1e-4*c.want {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}

// TestFitFindsALaw checks that a fit to samples of a law returns this law.
func TestFitFindsALaw(t *testing.T) {
	for _, form := range Forms {
		l := Law{Form: form, Rates: []Rate{{"K80", 4.5}, {"V100", 15}}, Limit: 45, Exponent: 0.9, Sharpness: 4}
		var samples []Sample
		for _, r := range l.Rates {
			for servers := 1; servers <= 2; servers++ {
				for workers := 1; workers <= 8; workers++ {
					samples = append(samples, Sample{Model: "m", Device: r.Device, Servers: servers, Workers: workers,
						StepsPerSecond: l.Speed(Alike(r.Device, workers), servers)})
				}
			}
		}
		f, err := Fit(samples, form)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := f.Law("m")
		if !ok || math.Abs(got.Limit-45) > 2 || math.Abs(got.Exponent-0.9) > 0.05 ||
			math.Abs(got.Rates[1].StepsPerSecond-15) > 0.3 {
			t.Errorf("%s: %+v", form, got)
		}
	}
}

// drawnModels returns measured clusters of one to eight workers for random models.
func drawnModels(r *rand.Rand, name string, exponent func() float64, sharpness float64) (out []Sample) {
	for m := range 2 {
		rate := 8 + 12*r.Float64()
		l := Law{Form: Queued, Rates: []Rate{{"V100", rate}}, Limit: rate * (2 + 3*r.Float64()), Exponent: exponent(),
			Sharpness: sharpness}
		for servers := 1; servers <= 2; servers++ {
			for workers := 1; workers <= 8; workers++ {
				out = append(out, Sample{Model: fmt.Sprint(name, m), Device: "V100", Servers: servers, Workers: workers,
					StepsPerSecond: l.Speed(Alike("V100", workers), servers) * (1 + 0.02*r.NormFloat64())})
			}
		}
	}
	return out
}

// TestModelsOfTheirOwn has two models that a second parameter server hardly helps. They do not affect predictions of
// two other models, even if their speed reaches the limit more abruptly. The others' large clusters with two servers
// are predicted from their remaining samples.
func TestModelsOfTheirOwn(t *testing.T) {
	miss := func(samples []Sample) float64 {
		sum, n := 0.0, 0.0
		for _, model := range []string{"usual0", "usual1"} {
			left := func(s Sample) bool { return s.Model == model && s.Workers >= 5 && s.Servers == 2 }
			f, err := Fit(slices.DeleteFunc(slices.Clone(samples), left), Queued)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range samples {
				if left(s) {
					sum, n = sum+100*math.Abs(f.Predict(s)/s.StepsPerSecond-1), n+1
				}
			}
		}
		return sum / n
	}
	for _, sharpness := range []float64{4, 1.5} {
		const draws = 3
		alone, together := 0.0, 0.0
		for draw := range uint64(draws) {
			random := rand.New(rand.NewPCG(draw, 77))
			usual := drawnModels(random, "usual", func() float64 { return 0.8 + 0.2*random.Float64() }, 4)
			odd := drawnModels(random, "odd", func() float64 { return 0.2 * random.Float64() }, sharpness)
			alone, together = alone+miss(usual)/draws, together+miss(append(usual[:len(usual):len(usual)], odd...))/draws
		}
		t.Logf("errors: %.2f%% alone, %.2f%% beside two odd models of sharpness %g", alone, together, sharpness)
		if together > alone+1 {
			t.Error("the others spoil them")
		}
	}
}

// TestFewSamples checks that any set of samples gives a law or an error.
func TestFewSamples(t *testing.T) {
	if _, err := Fit(nil, Queued); !errors.Is(err, ErrNoSamples) {
		t.Errorf("without samples: %v", err)
	}
	if _, err := Fit([]Sample{{Workers: 1, StepsPerSecond: math.Inf(1)}}, Queued); err == nil {
		t.Error("an infinite speed is fitted")
	}
	one := []Sample{{Device: "K80", Servers: 1, Workers: 1, StepsPerSecond: 4}}
	f, err := Fit(one, Queued)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Predict(Sample{Device: "K80", Servers: 1, Workers: 2, StepsPerSecond: 8}); got < 7 || got > 8.5 {
		t.Errorf("two workers from one: %g", got)
	}
	if got := f.Predict(Sample{Device: "V100", Servers: 1, Workers: 2, StepsPerSecond: 8}); !math.IsNaN(got) {
		t.Errorf("of another device: %g", got)
	}
	large := []Sample{{Device: "K80", Servers: 1, Workers: 6, StepsPerSecond: 20}}
	p, err := LeaveOut(large, 5)
	if err != nil || !p[0].LeftOut || !math.IsNaN(p[0].Queued) || !math.IsNaN(p[0].Linear) {
		t.Errorf("nothing is left: %+v, %v", p, err)
	}
}

// TestMoreIsNotSlower checks that another worker or parameter server never reduces the speed, and that no limit is
// exceeded.
func TestMoreIsNotSlower(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := Law{
			Form: rapid.SampledFrom(Forms).Draw(r, "form"), Limit: rapid.Float64Range(0, 1e3).Draw(r, "limit"),
			Exponent: rapid.Float64Range(0, 2).Draw(r, "exponent"), Sharpness: rapid.Float64Range(0.2, 50).Draw(r,
				"sharpness"),
			Rates: []Rate{{"a", rapid.Float64Range(1e-3, 1e3).Draw(r, "rate a")}, {"b", rapid.Float64Range(1e-3,
				1e3).Draw(r, "rate b")}},
		}
		workers := append(Alike("a", rapid.IntRange(0, 9).Draw(r, "a")), Alike("b", rapid.IntRange(1, 9).Draw(r,
			"b"))...)
		servers := rapid.IntRange(1, 5).Draw(r, "servers")
		one := l.Speed(workers, servers)
		if !(one > 0) || one > l.Serves(servers)*(1+1e-9) {
			r.Fatalf("a speed of %g, of at most %g", one, l.Serves(servers))
		}
		if more := l.Speed(append(workers, Worker{"a", 1}), servers); more < one*(1-1e-9) {
			r.Fatalf("a worker more slows %g down to %g", one, more)
		}
		if more := l.Speed(workers, servers+1); more < one*(1-1e-9) {
			r.Fatalf("a parameter server more slows %g down to %g", one, more)
		}
	})
}

// TestLinesByHand checks three predictions: a straight line through the rest of a group, a line through the origin and
// one sample, and the mean speed of a worker. The mean is over the group, or over all clusters of the model and device.
func TestLinesByHand(t *testing.T) {
	at := func(device string, servers, workers int, speed float64) Sample {
		return Sample{Device: device, Servers: servers, Workers: workers, StepsPerSecond: speed}
	}
	rest := []Sample{at("a", 1, 1, 5), at("a", 1, 2, 8), at("a", 1, 3, 14), at("a", 2, 2, 7), at("b", 1, 1, 100)}
	for _, c := range []struct {
		of                Sample
		linear, unlimited float64
	}{
		{at("a", 1, 5, 0), 22.5, 5 * (5 + 4 + 14./3) / 3},             // 0 + 4.5 per worker
		{at("a", 2, 6, 0), 21, 21},                                    // one sample: proportional to workers
		{at("a", 4, 4, 0), math.NaN(), 4 * (5 + 4 + 14./3 + 3.5) / 4}, // no group: the mean of all clusters of the device
		{at("b", 3, 2, 0), math.NaN(), 200}, {at("c", 1, 2, 0), math.NaN(), math.NaN()},
	} {
		got, mean := linear(rest, c.of), unlimited(rest, c.of)
		if same := func(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-9 || math.IsNaN(a) && math.IsNaN(b) }; !same(got,
			c.linear) || !same(mean, c.unlimited) {
			t.Errorf("%+v: %g on the line, %g by the mean; want %g, %g", c.of, got, mean, c.linear, c.unlimited)
		}
	}
}

// TestLeaveOutTheLarge checks that only a group's clusters with at least the given number of workers are left out, all
// together, and predicted from the rest.
func TestLeaveOutTheLarge(t *testing.T) {
	all := durations()
	predictions, err := LeaveOut(all, 7)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range predictions {
		if p.LeftOut != (p.Workers >= 7) || p.LeftOut == math.IsNaN(p.Queued) || p.LeftOut == math.IsNaN(p.Linear) {
			t.Errorf("%+v", p)
		}
		if !p.LeftOut || p.Device != "V100" || p.Servers != 1 {
			continue
		}
		var rest []Sample
		for _, s := range all {
			if s.Device != "V100" || s.Servers != 1 || s.Workers < 7 {
				rest = append(rest, s)
			}
		}
		f, err := Fit(rest, Queued)
		if err != nil || f.Predict(p.Sample) != p.Queued {
			t.Errorf("%+v: the rest says %g, %v", p, f.Predict(p.Sample), err)
		}
	}
}

// TestFitIsTheLikeliest checks that no small change of the fit is more probable, and that parameters that the samples
// do not determine have their prior values.
func TestFitIsTheLikeliest(t *testing.T) {
	for _, samples := range [][]Sample{durations()[:9], {{Device: "a", Servers: 1, Workers: 1, StepsPerSecond: 4}}} {
		p := newProblem(samples, Apart)
		best, least := []float64(nil), math.Inf(1)
		for _, reach := range []float64{1, 3, 10} {
			if at, value := p.descend(p.start(reach)); value < least {
				best, least = at, value
			}
		}
		improbable := func(at []float64) float64 {
			f := p.fitted(at)
			sum := math.Pow((f.Exponent-0.8)/0.3, 2) + math.Pow(math.Log(f.Sharpness/4)/0.7, 2)
			for _, m := range f.Models {
				logs := 0.0
				for _, r := range m.Rates {
					logs += math.Log(r.StepsPerSecond) / float64(len(m.Rates))
				}
				sum += math.Pow(math.Log(m.Limit)-logs-math.Log(6), 2)
			}
			for _, s := range samples {
				law, _ := f.Law(s.Model)
				e := math.Log(s.StepsPerSecond/law.Speed(Alike(s.Device, s.Workers), s.Servers)) / 0.03
				sum += 2 * (math.Sqrt(1+e*e) - 1)
			}
			return sum
		}
		if got := improbable(best); math.Abs(got-least) > 1e-9*(1+least) {
			t.Errorf("what is minimized is %g, not %g", least, got)
		}
		for j := range best {
			for _, by := range []float64{-0.01, 0.01} {
				moved := append([]float64(nil), best...)
				moved[j] += by
				if improbable(moved) < least-1e-6 {
					t.Errorf("%d samples: variable %d moved by %g is more probable: %g < %g", len(samples), j, by, improbable(moved), least)
				}
			}
		}
	}
}

// TestWhatIsNoLaw checks that invalid laws and empty samples are errors.
func TestWhatIsNoLaw(t *testing.T) {
	rates := []Rate{{"a", 1}}
	for name, c := range map[string]struct {
		law Law
		ok  bool
	}{
		"a law":       {Law{Rates: rates, Limit: 2, Exponent: 1, Sharpness: 1}, true},
		"no limit":    {Law{Rates: rates, Sharpness: 1}, true},
		"no rate":     {Law{Sharpness: 1}, false},
		"a limit < 0": {Law{Rates: rates, Limit: -1, Sharpness: 1}, false},
		"not sharp":   {Law{Rates: rates, Limit: 1}, false},
		"an exponent": {Law{Rates: rates, Limit: 1, Exponent: math.NaN(), Sharpness: 1}, false},
		"rate 0":      {Law{Rates: []Rate{{"a", 0}}, Sharpness: 1}, false},
		"rate ∞":      {Law{Rates: []Rate{{"a", math.Inf(1)}}, Sharpness: 1}, false},
	} {
		if err := c.law.Check(); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := (Law{Rates: rates, Limit: 3, Exponent: 2}).Serves(2); got != 12 {
		t.Errorf("two servers serve %g", got)
	}
	for _, s := range []Sample{{Workers: 0, Servers: 1, StepsPerSecond: 1}, {Workers: 1, Servers: -1, StepsPerSecond: 1},
		{Workers: 1, StepsPerSecond: 0}, {Workers: 1, StepsPerSecond: math.NaN()}} {
		if _, err := Fit([]Sample{s}, Queued); err == nil {
			t.Errorf("%+v is fitted", s)
		}
	}
	if _, err := Fit([]Sample{{Workers: 1, StepsPerSecond: 1}}, Queued); err != nil {
		t.Errorf("one worker without parameter servers: %v", err)
	}
	if got := (Law{Rates: rates, Limit: 3, Exponent: 1, Sharpness: 1, Form: Apart}).Speed([]Worker{{"b", 1}, {"a", 0}, {"a", -1}, {"a", 1}}, 0); got != 1 {
		t.Errorf("workers that are unknown or stand still add something: %g", got)
	}
}
