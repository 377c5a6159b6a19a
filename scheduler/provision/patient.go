package provision

// patience is the part of the slack, the deadline less the work, by which a job may be
// behind even progress at its beginning.
const patience = 0.15

// Patient goes on demand later than UniformProgress, and comes back sooner: without a
// spot server it waits until the job is behind even progress by a part of the slack that
// shrinks to nothing towards the deadline, and on demand it takes every spot server
// whose start the deadline allows.
//
// The patience was chosen among 0, 0.1, 0.15, 0.2 and 0.4 by the mean cost of 20 recorded
// windows of one instance type in one zone at two deadlines; on another type it is
// cheaper than UniformProgress as well.
func Patient(v View) Market {
	choice := SpotOnly(v)
	slack := float64(v.Deadline - v.Work)
	allowed := patience * slack * (1 - float64(v.Now)/float64(v.Deadline))
	if !v.Available && (v.behind(v.Now) > allowed || v.Held == OnDemand && v.behind(v.Now) >= 0) {
		choice = OnDemand
	}
	if v.Available && v.Held == OnDemand && v.Deadline-v.Now-v.left() < 2*v.Overhead {
		choice = OnDemand
	}
	return v.inTime(choice)
}
