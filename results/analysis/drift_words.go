package analysis

import (
	"fmt"

	"github.com/tfexp/tfexp/results/tell"
)

// driftSentence is how much a machine's speed differed: "The speed of 2 cores differed by 8% (standard deviation) between 12
// moments; the slowest took 1.3 times as long as the fastest."
func driftSentence(s Speeds) string {
	cores := "one core"
	if s.Cores > 1 {
		cores = fmt.Sprintf("%d cores", s.Cores)
	}
	return fmt.Sprintf("The speed of %s differed by %s%% (standard deviation) between %d moments; at the slowest, a "+
		"fixed piece "+
		"of work took %s times as long as at the fastest. Predictions are compared at the speed that the machine had.",
		cores, tell.Number(100*s.SD), s.Moments, tell.Number(s.Range))
}
