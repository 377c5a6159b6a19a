package progress

import (
	"math"
	"testing"
)

func TestLossThatIsNotFinite(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if !math.IsInf(lossOf(v), 1) {
			t.Errorf("a loss of %g is reported as %g", v, lossOf(v))
		}
	}
}
