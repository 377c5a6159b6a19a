package scheduler

import "time"

// jobState is the state of a job that decisions use. Fields that each event reads come first, to be
// close in memory. The rest of the job's history is in its Result.
type jobState struct {
	since time.Duration // beginning of the present stretch of waiting or running
	timer time.Duration // instant of the timer that counts, or Never
	// As in Result.
	waiting, service, coreTime time.Duration
	preemptions, alternative   int32

	request int32 // cores; for a started rigid job, the cores of its start
	slot    int32 // index in running
	level   int32 // effective level
	number  int32
	state   State
	booked  bool // its memory is taken
	plain   bool // it asks for cores of one node and nothing else: see Job.Plain
	yields  bool // its turn is over: it runs on until dispatch has decided
	arrival time.Duration
	first   time.Duration // when it first started, or Never
	cores   int32         // the cores granted then
	asked   int32         // cores, by the workload
	held    int32         // cores of the grant
	grant   Grant         // held; for a paused job, its last grant
	end     time.Duration // expected end while running
	job     *Job
}

// newState fills in the state of a job that has not arrived.
func (l *loop) newState(number int32, f *jobState) {
	j := l.job(number)
	*f = jobState{} // and then its fields: a whole value would be made elsewhere and copied
	f.number, f.job = number, j
	f.state, f.timer, f.first = Pending, Never, Never
	f.request, f.asked, f.level = int32(j.Threads), int32(j.Threads), int32(max(j.Priority, 0))
	f.plain, f.arrival = j.Plain(), j.Arrival
}

func (l *loop) state(j int32) *jobState { return l.states.At(j) }

// open is state for a job that has arrived and is not over.
func (l *loop) open(j int32) *jobState { return l.states.Look(j) }

// result returns the counts of an open job that are not in its state.
func (l *loop) result(j *jobState) *Result { return l.outcomes.Of(j.number) }

// hold records the grant of a job.
func (f *jobState) hold(g Grant) { f.grant, f.held = g, int32(g.Cores.Count()) }

// settle copies the counts of a state into the job's result.
func (f *jobState) settle(r *Result) {
	r.State, r.Waiting, r.Service, r.CoreTime = f.state, f.waiting, f.service, f.coreTime
	r.FirstStart, r.Cores = f.first, int(f.cores)
	r.Preemptions, r.Alternative = int(f.preemptions), int(f.alternative)
}
