package strategies

import (
	"github.com/tfexp/tfexp/stages/servers/rental"
)

var _ = byDeadline("uniform_progress", "Uniform progress", "spot servers, and servers on demand while the job is behind even "+
	"progress to its deadline", 5, 2, UniformProgress)

// UniformProgress changes to a server on demand if the job is behind even progress to the deadline and no spot server
// is available. It stays there until the job is ahead by two starts (Z. Wu and others, Can't Be Late, 2024).
func UniformProgress(v rental.View) rental.Market {
	choice := SpotOnly(v)
	if pace(v, v.Now) < 0 && !v.Available {
		choice = rental.OnDemand
	}
	if v.Held == rental.OnDemand {
		if !v.Available || pace(v, v.Now+2*v.Overhead) <= 0 {
			choice = rental.OnDemand
		}
	}
	return inTime(v, choice)
}
