package strategies_test

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/stages/servers/rental"
	"github.com/tfexp/tfexp/stages/servers/strategies"
)

func rows(t *testing.T, name string) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join(os.Getenv("TFEXP_DATA"), "spot_traces", name))
	if err != nil {
		t.Skipf("the record %s is not here; TFEXP_DATA names the folder that has it", name)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all[1:]
}

func provisionNumber(t *testing.T, s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// windows are the records of one instance: for each window the availability by tick.
func windows(t *testing.T, instance string) map[int][]bool {
	w := map[int][]bool{}
	for _, r := range rows(t, "us-west-2a.csv") {
		if r[0] != instance {
			continue
		}
		i := int(provisionNumber(t, r[1]))
		for range int(provisionNumber(t, r[3])) {
			w[i] = append(w[i], r[4] == "1")
		}
	}
	return w
}

const onDemand, spot = 3.06, 0.9731

func replay(s rental.Strategy, deadline float64, available []bool) (cost float64, out rentalOutcome) {
	v := rental.View{Deadline: time.Duration(deadline * float64(time.Hour)), Work: 48 * time.Hour,
		Overhead: 12 * time.Minute, Tick: 10 * time.Minute}
	out = replayRental(s, v, func(tick int) bool { return tick < len(available) && available[tick] })
	return out.OnDemand.Hours()*onDemand + out.Spot.Hours()*spot, out
}

// TestCostsOfTheAuthorsSimulator holds all 120 costs of the published simulator.
func TestCostsOfTheAuthorsSimulator(t *testing.T) {
	strategies := map[string]rental.Strategy{
		"on_demand": strategies.Func(strategies.Always), "greedy": strategies.Func(strategies.Greedy), "uniform_progress": strategies.Func(strategies.UniformProgress),
	}
	w := windows(t, "v100_1")
	checked := 0
	for _, r := range rows(t, "expected_us-west-2a_v100_1.csv") {
		cost, out := replay(strategies[r[3]], provisionNumber(t, r[1]), w[int(provisionNumber(t, r[0]))])
		if want := provisionNumber(t, r[4]); math.Abs(cost-want) > 1e-3 || !out.Met {
			t.Errorf("window %s, deadline %s h, %s: %.4f $, met %t; want %.4f", r[0], r[1], r[3], cost, out.Met, want)
		}
		checked++
	}
	if checked != 120 {
		t.Errorf("%d costs were checked, want 120", checked)
	}
}

// TestPatientOnDrawnProcesses: over many windows of each drawn market, patient is never dearer than uniform progress by more
// than 1%, and 3% cheaper in the mean over markets and settings. Markets have drawn mean times, heavy tails, days and nights,
// or hardly any spot servers. No deadline is missed.
func TestPatientOnDrawnProcesses(t *testing.T) {
	t.Parallel()
	type process = func(*rand.Rand, []bool) // draws the availability of a window
	type between = func(low, high float64) float64
	const hour = 6 // ticks
	renewal := func(there, away func(*rand.Rand) float64) process {
		return func(rng *rand.Rand, window []bool) {
			skip, available, end := rng.IntN(3000), rng.IntN(2) == 0, 0.0
			for i := range skip + len(window) {
				for end <= float64(i) { // the next spell
					if available = !available; available {
						end += there(rng)
					} else {
						end += away(rng)
					}
				}
				if i >= skip {
					window[i-skip] = available
				}
			}
		}
	}
	exponential := func(mean float64) func(*rand.Rand) float64 {
		return func(rng *rand.Rand) float64 { return mean * rng.ExpFloat64() }
	}
	lognormal := func(median, sd float64) func(*rand.Rand) float64 {
		return func(rng *rand.Rand) float64 { return median * math.Exp(sd*rng.NormFloat64()) }
	}
	markets := []func(between between) process{
		func(between between) process {
			return renewal(exponential(between(0.3*hour, 40*hour)), exponential(between(0.3*hour, 40*hour)))
		},
		func(between between) process { // heavy tails
			sd := between(0.5, 2)
			return renewal(lognormal(between(0.3*hour, 15*hour), sd), lognormal(between(0.3*hour, 15*hour), sd))
		},
		func(between between) process { // short spells among long ones
			mixed := func(short, long, part float64) func(*rand.Rand) float64 {
				return func(rng *rand.Rand) float64 {
					if rng.Float64() < part {
						return short * rng.ExpFloat64()
					}
					return long * rng.ExpFloat64()
				}
			}
			return renewal(mixed(between(1, 5), between(3*hour, 30*hour), between(0.3, 0.9)),
				mixed(between(1, 5), between(3*hour, 30*hour), between(0.3, 0.9)))
		},
		func(between between) process { // several kinds of days, one after the other
			lasts, fast, slow := between(3*hour, 30*hour), between(1, 4), between(2*hour, 20*hour)
			return func(rng *rand.Rand, window []bool) {
				mean := func() float64 { return fast * math.Pow(slow/fast, rng.Float64()) }
				there, away, available := mean(), mean(), rng.IntN(2) == 0
				for i := range window {
					if rng.Float64() < 1/lasts {
						there, away = mean(), mean()
					}
					if p := rng.Float64(); available {
						available = p >= 1/there
					} else {
						available = p < 1/away
					}
					window[i] = available
				}
			}
		},
		func(between between) process { // rare
			there := between(1, 2*hour)
			return renewal(exponential(there), exponential(there*between(8, 60)))
		},
		func(between between) process { // short spells
			return renewal(exponential(between(1, 5)), exponential(between(1, 30)))
		},
		func(between between) process { // scarce on the days of work
			there, day, night := between(3*hour, 40*hour), between(2*hour, 40*hour), between(0.3*hour, 5*hour)
			return func(rng *rand.Rand, window []bool) {
				available, at := rng.IntN(2) == 0, rng.IntN(7*24)*hour
				for i := range window {
					stays, away := there, night
					if n := (at + i) / hour; n/24%7 < 5 && n%24 >= 8 && n%24 < 18 {
						stays, away = there/4, day
					}
					if p := rng.Float64(); available {
						available = p >= 1/stays
					} else {
						available = p < 1/away
					}
					window[i] = available
				}
			}
		},
	}
	settings := []struct{ work, deadline, overhead time.Duration }{
		{48 * time.Hour, 50 * time.Hour, 12 * time.Minute}, {48 * time.Hour, 52 * time.Hour, 3 * time.Minute},
		{48 * time.Hour, 52 * time.Hour, 36 * time.Minute}, {48 * time.Hour, 70 * time.Hour, 12 * time.Minute},
		{48 * time.Hour, 70 * time.Hour, 36 * time.Minute}, {12 * time.Hour, 15 * time.Hour, 12 * time.Minute},
	}
	windows := need.Cases(10, 100)
	sum, cells := 0.0, 0
	for m, market := range markets {
		rng := rand.New(rand.NewPCG(uint64(m), 0))
		draws := market(func(low, high float64) float64 { return low * math.Pow(high/low, rng.Float64()) })
		drawn := make([][600]bool, windows)
		for i := range drawn {
			draws(rng, drawn[i][:])
		}
		for _, s := range settings {
			v := rental.View{Work: s.work, Deadline: s.deadline, Overhead: s.overhead, Tick: 10 * time.Minute,
				SpotShare: spot / onDemand}
			cost := func(f strategies.Func) (cost float64) {
				for i := range drawn {
					out := replayRental(f, v, func(tick int) bool { return drawn[i][tick] })
					if cost += out.OnDemand.Hours()*onDemand + out.Spot.Hours()*spot; !out.Met {
						t.Fatalf("market %d, %+v: the deadline is missed", m, s)
					}
				}
				return cost
			}
			ratio := cost(strategies.Patient) / cost(strategies.UniformProgress)
			if sum, cells = sum+ratio, cells+1; ratio > 1.01 {
				t.Errorf("market %d, %+v: patient costs %.4f of uniform progress", m, s, ratio)
			}
		}
	}
	if mean := sum / float64(cells); mean > 0.97 {
		t.Errorf("patient costs %.4f of uniform progress in the mean", mean)
	} else {
		t.Logf("patient costs %.4f of uniform progress in the mean of %d cells", mean, cells)
	}
}

// TestNobodyMissesADeadline draws availability at random, and deadlines that can be met.
func TestNobodyMissesADeadline(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tick := 10 * time.Minute
		work := time.Duration(rapid.IntRange(1, 60).Draw(t, "work")) * time.Hour / 2
		overhead := time.Duration(rapid.IntRange(0, 30).Draw(t, "overhead")) * time.Minute
		slack := time.Duration(rapid.IntRange(0, 40).Draw(t, "slack")) * time.Hour / 2
		v := rental.View{Work: work, Overhead: overhead, Tick: tick, Deadline: work + 2*overhead + 2*tick + slack}
		available := rapid.SliceOfN(rapid.Bool(), 1, need.Cases(60, 400)).Draw(t, "available")
		at := func(i int) bool { return available[i%len(available)] }
		for name, s := range map[string]strategies.Func{
			"always": strategies.Always, "greedy": strategies.Greedy, "uniform_progress": strategies.UniformProgress, "patient": strategies.Patient,
		} {
			if out := replayRental(s, v, at); !out.Met {
				t.Fatalf("%s: done at %s, deadline %s", name, out.Done, v.Deadline)
			}
		}
	})
}
