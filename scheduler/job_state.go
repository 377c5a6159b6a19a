package scheduler

import "time"

// jobState is the state of a job that decisions read. Fields that each event reads come first, so that they share
// cache lines. Other counts of the job are in its Result.
type jobState struct {
	since time.Duration // start of the present period of waiting or running
	timer time.Duration // instant of the job's timer, or Never; other timers of the job are ignored
	// As in Result; they count only periods that have ended.
	waiting, service, coreTime time.Duration
	preemptions, alternative   int32

	request int32 // requested cores; for a started rigid job, the cores of its start
	slot    int32 // index in runningJobs.all
	level   int32 // effective level; 0 is best
	number  int32
	state   State
	booked  bool // memory is reserved for it
	plain   bool // Job.Plain
	yields  bool // its quantum is over; it runs on until dispatch has decided
	arrival time.Duration
	first   time.Duration // instant of its first start, or Never
	cores   int32         // cores of the grant at its first start
	asked   int32         // cores that the workload requests
	held    int32         // number of cores in grant
	grant   Grant         // present grant; for a paused job, its last one
	end     time.Duration // expected end of a running job
	job     *Job
}

// newState sets f to the state of a job that has not arrived.
func (l *loop) newState(number int32, f *jobState) {
	j := l.job(number)
	*f = jobState{} // a literal with values would be built elsewhere and copied
	f.number, f.job = number, j
	f.state, f.timer, f.first = Pending, Never, Never
	f.request, f.asked, f.level = int32(j.Threads), int32(j.Threads), int32(max(j.Priority, 0))
	f.plain, f.arrival = j.Plain(), j.Arrival
}

func (l *loop) state(j int32) *jobState { return l.states.At(j) }

// open returns the state of a job that has arrived and is not over; nil for other jobs.
func (l *loop) open(j int32) *jobState { return l.states.Look(j) }

// result returns the counts of an open job that jobState does not have.
func (l *loop) result(j *jobState) *Result { return l.outcomes.Of(j.number) }

// hold sets the grant of a job.
func (f *jobState) hold(g Grant) { f.grant, f.held = g, int32(g.Cores.Count()) }

// settle copies the counts of the state to the job's result.
func (f *jobState) settle(r *Result) {
	r.State, r.Waiting, r.Service, r.CoreTime = f.state, f.waiting, f.service, f.coreTime
	r.FirstStart, r.Cores = f.first, int(f.cores)
	r.Preemptions, r.Alternative = int(f.preemptions), int(f.alternative)
}
