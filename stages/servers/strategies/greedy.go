package strategies

import (
	"github.com/tfexp/tfexp/stages/servers/rental"
)

var _ = byDeadline("greedy", "Greedy", "spot servers; without one, the job waits as long as its deadline allows", 4, 2,
	Greedy)

// Greedy uses spot servers whenever they are available, and otherwise waits without a server as long as the deadline
// allows (Z. Wu and others, Can't Be Late, 2024).
func Greedy(v rental.View) rental.Market { return inTime(v, SpotOnly(v)) }
