package strategies

import (
	"github.com/tfexp/tfexp/stages/servers/rental"
)

var _ = byDeadline("greedy", "Greedy", "spot servers while there are any, and none as long as the deadline allows it", 4, 2,
	Greedy)

// Greedy uses spot servers whenever they are available, and otherwise waits without a server as long as the deadline
// allows (Z. Wu and others, Can't Be Late, 2024).
func Greedy(v rental.View) rental.Market { return inTime(v, SpotOnly(v)) }
