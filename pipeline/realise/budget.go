package realise

import (
	"math"

	"github.com/tfexp/tfexp/hardware/simulated"
)

// openWork is the work of a job that trains until its budget is used up: more than
// there is time for.
var openWork = simulated.Scaling{Scaled: math.MaxInt64 / 4, Threads: 1}
