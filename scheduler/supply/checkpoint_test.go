package supply_test

import (
	"math"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler/supply"
)

func TestIntervals(t *testing.T) {
	const m, cost, restart, work = time.Hour, 10 * time.Second, time.Minute, 10 * time.Hour
	daly := supply.DalyInterval(cost, m)
	for name, c := range map[string]struct{ got, want float64 }{
		"young":    {supply.YoungInterval(cost, m).Seconds(), 268.328},
		"daly":     {daly.Seconds(), 261.7029},
		"expected": {supply.ExpectedCheckpointCost(work, daly, cost, restart, m).Seconds(), 39474.65},
	} {
		if math.Abs(c.got-c.want) > 0.005 {
			t.Errorf("%s: %v s, want %v", name, c.got, c.want)
		}
	}
	if got := supply.DalyInterval(2*m, m); got != m {
		t.Errorf("a checkpoint that costs more than losses are apart: every %s, want every %s", got, m)
	}
}
