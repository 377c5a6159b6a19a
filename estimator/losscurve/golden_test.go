package losscurve

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
)

var update = flag.Bool("update", false, "write the golden file of forecasts")

// drawnCurve is a curve of some shape with noise: exponential, inverse or a power, with a floor or without, at even or
// uneven steps, with a drop, a spike or a change of the rate of learning in some.
func drawnCurve(n int) (points []Point, target float64) {
	rng := rand.New(rand.NewPCG(uint64(n), 3))
	floor, each := 0.3*float64(n%3), []float64{1, 10, 0.5}[n%3]
	shape := []func(x float64) float64{
		func(x float64) float64 { return math.Exp(-x / 20) }, func(x float64) float64 { return 1 / (1 + x/8) },
		func(x float64) float64 { return math.Pow(1+x, -0.4) },
	}[n/3%3]
	rate := 0.1
	for i := range 12 + 7*(n%4) {
		x := float64(i + 1)
		if n%5 == 1 {
			x += 0.4 * rng.Float64()
		}
		p := Point{Step: x * each, Loss: (floor + 2*shape(x)) * math.Exp(0.02*rng.NormFloat64())}
		switch {
		case n%6 == 2 && i > 10:
			p.Loss *= 0.8
		case n%6 == 4 && i%9 == 8:
			p.Loss *= 1.5
		case n%6 == 5:
			if i%8 == 7 {
				rate /= 2
			}
			p.Rate = rate
		}
		points = append(points, p)
	}
	return points, floor + 0.6*(points[len(points)-1].Loss-floor)
}

// TestForecastsStay checks that all models still make the forecasts in the golden file, to four digits. After an
// intended change, run the test with -update.
func TestForecastsStay(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round otherwise")
	}
	var b strings.Builder
	for n := range 18 {
		points, target := drawnCurve(n)
		for _, m := range Models() {
			ask := Ask{Target: target, Level: 0.9, Seed: uint64(n)}
			if n%4 == 3 {
				ask.Most = 3 * points[len(points)-1].Step
			}
			f, ok := m.Forecast(points, ask)
			fmt.Fprintf(&b, "%d %s: %v, %.4g in %.4g to %.4g, never %.4g\n", n, m.Name, ok, f.Steps, f.Low, f.High, f.Never)
		}
	}
	schedulertest.Text(t, "testdata/forecasts.txt", b.String(), *update)
}
