package policy

import "github.com/tfexp/tfexp/scheduler"

var _ = byDeadline("patient", "Patient", "as `uniform_progress`, but it goes on demand later and comes back to spot servers "+
	"sooner", 7, Patient)

// patience is the part of the slack, the deadline less the work, by which a job may be
// behind even progress at its beginning.
const patience = 0.2

// Patient switches to on-demand servers later than UniformProgress, and returns sooner.
// Without a spot server it waits until the job is behind even progress by a part of the
// slack; this part shrinks to zero towards the deadline. On demand it takes every spot
// server whose start the deadline allows.
//
// The patience was chosen by 20 recorded windows of one instance type in one zone. Elsewhere Patient may cost more than
// UniformProgress, above all where the slack is a few starts long.
func Patient(v scheduler.RentalView) scheduler.RentalMarket {
	choice := SpotOnly(v)
	slack := float64(v.Deadline - v.Work)
	allowed := patience * slack * (1 - float64(v.Now)/float64(v.Deadline))
	if !v.Available && (behind(v, v.Now) > allowed || v.Held == scheduler.OnDemand && pace(v, v.Now) <= 0) {
		choice = scheduler.OnDemand
	}
	if v.Available && v.Held == scheduler.OnDemand && v.Deadline-v.Now-left(v) < 2*v.Overhead {
		choice = scheduler.OnDemand
	}
	return inTime(v, choice)
}
