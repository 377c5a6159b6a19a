package workload

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestSpeedUps(t *testing.T) {
	table := SpeedUp{Points: []SpeedPoint{{2, 1}, {8, 2}}}
	for _, c := range []struct {
		name    string
		curve   SpeedUp
		threads int
		want    float64
	}{
		{"in proportion", SpeedUp{}, 8, 8},
		{"Amdahl: half of the work on one thread", Amdahl(0.5), 4, 1.6},
		{"nothing is parallel", Amdahl(0), 64, 1},
		{"usl: 4 / (1 + 0.3 + 0.12)", SpeedUp{Sigma: 0.1, Kappa: 0.01}, 4, 4 / 1.42},
		{"a point of the table", table, 8, 2},
		{"twice the speed on four times the threads: a square root", table, 4, math.Sqrt2},
		{"below the table in proportion", table, 1, 0.5},
		{"above the table as at its end", table, 100, 2},
	} {
		if got := c.curve.At(c.threads); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v on %d threads, want %v", c.name, got, c.threads, c.want)
		}
	}
	for want, c := range map[string]SpeedUp{
		"amdahl(0.3)": Amdahl(0.3), "usl(0.1, 0.01)": {Sigma: 0.1, Kappa: 0.01}, "{2 = 1, 8 = 2}": table,
	} {
		if got := c.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, bad := range []SpeedUp{
		{Sigma: 1.1}, {Kappa: -1}, {Sigma: math.NaN()}, {Points: []SpeedPoint{{2, 1}, {2, 2}}}, {Points: []SpeedPoint{{1,
			0}}}, {Points: []SpeedPoint{{0, 1}}},
	} {
		if bad.Check() == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

// A table that grows, by no more than proportion, is read so on every number
// of threads: never slower on more, never faster than proportion would be.
func TestTablesPromiseNoMoreThanProportion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var curve SpeedUp
		threads, speed := rapid.IntRange(1, 8).Draw(t, "first"), 1.0
		for range rapid.IntRange(1, 6).Draw(t, "points") {
			curve.Points = append(curve.Points, SpeedPoint{threads, speed})
			more := rapid.IntRange(1, 30).Draw(t, "more")
			speed *= 1 + rapid.Float64Range(0, 1).Draw(t, "efficiency")*float64(more)/float64(threads)
			threads += more
		}
		if err := curve.Check(); err != nil {
			t.Fatal(err)
		}
		for n := 1; n < 2*threads; n++ {
			now, next := curve.At(n), curve.At(n+1)
			if next < now*(1-1e-12) {
				t.Fatalf("%v: %v on %d threads, %v on one more", curve, now, n, next)
			}
			first := curve.Points[0]
			if now > first.Speed*float64(n)/float64(first.Threads)*(1+1e-12) {
				t.Fatalf("%v: %v on %d threads", curve, now, n)
			}
		}
	})
}
