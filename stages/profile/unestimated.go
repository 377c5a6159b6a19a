package profile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/stages"
)

// unestimated are the jobs that have no estimate for one reason.
type unestimated struct {
	reason string // without the name of a sample
	first  string // the reason of the first job, with the name of its sample
	jobs   []string
}

// without notes that a job has no estimate, because its sample failed with err; hint says what to do.
func (s *sampling) without(unit *stages.Unit, t task, err error, hint string) {
	reason := strings.TrimPrefix(err.Error(), "sample "+sampleName(unit, t)+": ") + hint
	i := slices.IndexFunc(s.noEstimate, func(u unestimated) bool { return u.reason == reason })
	if i < 0 {
		i = len(s.noEstimate)
		s.noEstimate = append(s.noEstimate, unestimated{reason: reason, first: err.Error() + hint})
	}
	s.noEstimate[i].jobs = append(s.noEstimate[i].jobs, unit.Name)
}

// namedJobs is how many jobs a warning names; it counts the others.
const namedJobs = 3

// warnNoEstimate warns of the jobs that have no estimate, once for each reason.
func (s *sampling) warnNoEstimate() {
	for _, u := range s.noEstimate {
		text := fmt.Sprintf("no estimate for job %s: %s", u.jobs[0], u.first)
		if n := len(u.jobs); n > 1 {
			names := strings.Join(u.jobs[:min(n, namedJobs)], ", ")
			if n > namedJobs {
				names += fmt.Sprintf(" and %d more", n-namedJobs)
			}
			text = fmt.Sprintf("no estimate for %d jobs (%s), for the same reason: %s", n, names, u.reason)
		}
		s.Warn("no_estimate", "", text)
	}
}
