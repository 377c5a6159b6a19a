package realise

import (
	"math"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
)

// openWork is the work of a job that trains until its budget is used up: more than
// there is time for.
var openWork = simulated.Scaling{Scaled: math.MaxInt64 / 4, Threads: 1}

// within is a run time under a budget: at most the budget, and a nanosecond for none
// at all, since 0 stands for a time that is not known. Of an unknown run time, the
// budget is what there is to go by.
func within(budget *time.Duration, d time.Duration) time.Duration {
	if budget == nil || d > 0 && d <= *budget {
		return d
	}
	return max(*budget, 1)
}
