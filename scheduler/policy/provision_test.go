package policy_test

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
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

func replay(s scheduler.RentalStrategy, deadline float64, available []bool) (cost float64, out rentalOutcome) {
	v := scheduler.RentalView{Deadline: time.Duration(deadline * float64(time.Hour)), Work: 48 * time.Hour,
		Overhead: 12 * time.Minute, Tick: 10 * time.Minute}
	out = replayRental(s, v, func(tick int) bool { return tick < len(available) && available[tick] })
	return out.OnDemand.Hours()*onDemand + out.Spot.Hours()*spot, out
}

// TestCostsOfTheAuthorsSimulator holds all 120 costs of the published simulator.
func TestCostsOfTheAuthorsSimulator(t *testing.T) {
	strategies := map[string]scheduler.RentalStrategy{
		"on_demand": policy.RentalFunc(policy.Always), "greedy": policy.RentalFunc(policy.Greedy), "uniform_progress": policy.RentalFunc(policy.UniformProgress),
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

// TestPatientIsCheaperThanUniformProgress also on records that it was not chosen by, at
// deadlines that leave some slack, and no deadline is missed.
func TestPatientIsCheaperThanUniformProgress(t *testing.T) {
	for _, instance := range []string{"v100_1", "k80_1"} {
		w := windows(t, instance)
		for _, deadline := range []float64{49, 50, 52, 60, 70, 92} {
			patient, uniform := 0.0, 0.0
			for i := range len(w) {
				cost, out := replay(policy.RentalFunc(policy.Patient), deadline, w[i])
				if !out.Met {
					t.Errorf("%s, window %d: the deadline of %g h is missed", instance, i, deadline)
				}
				patient += cost / float64(len(w))
				cost, _ = replay(policy.RentalFunc(policy.UniformProgress), deadline, w[i])
				uniform += cost / float64(len(w))
			}
			t.Logf("%s, deadline %g h: patient %.2f $, uniform progress %.2f $", instance, deadline, patient, uniform)
			if deadline >= 52 && patient >= uniform {
				t.Errorf("%s, deadline %g h: patient costs %.2f $, uniform progress %.2f $", instance, deadline, patient, uniform)
			}
		}
	}
}

// TestNobodyMissesADeadline draws availability at random, and deadlines that can be met.
func TestNobodyMissesADeadline(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tick := 10 * time.Minute
		work := time.Duration(rapid.IntRange(1, 60).Draw(t, "work")) * time.Hour / 2
		overhead := time.Duration(rapid.IntRange(0, 30).Draw(t, "overhead")) * time.Minute
		slack := time.Duration(rapid.IntRange(0, 40).Draw(t, "slack")) * time.Hour / 2
		v := scheduler.RentalView{Work: work, Overhead: overhead, Tick: tick, Deadline: work + 2*overhead + 2*tick + slack}
		available := rapid.SliceOfN(rapid.Bool(), 1, 400).Draw(t, "available")
		at := func(i int) bool { return available[i%len(available)] }
		for name, s := range map[string]policy.RentalFunc{
			"always": policy.Always, "greedy": policy.Greedy, "uniform_progress": policy.UniformProgress, "patient": policy.Patient,
		} {
			if out := replayRental(s, v, at); !out.Met {
				t.Fatalf("%s: done at %s, deadline %s", name, out.Done, v.Deadline)
			}
		}
	})
}
