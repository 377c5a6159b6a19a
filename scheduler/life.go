package scheduler

import "time"

// life is the state of a job that decisions are made on. What each event looks at comes first, to
// lie together; what else has become of the job is in its Result.
type life struct {
	since time.Duration // beginning of the present stretch of waiting or running
	timer time.Duration // instant of the timer that counts, or Never
	// As in Result.
	waiting, service, coreTime time.Duration
	preemptions, alternative   int32

	request int32 // cores; of a rigid job that has started, what it started with
	slot    int32 // index in running
	level   int32 // effective level
	state   State
	booked  bool // its memory is taken
	plain   bool // it asks for cores of one node and nothing else: see Job.Plain
	yields  bool // its turn is over: it runs on until dispatch has decided
	arrival time.Duration
	first   time.Duration // when it first started, or Never
	cores   int32         // what it was granted then
	asked   int32         // cores, by the workload
	held    int32         // cores of the grant
	grant   Grant         // held; of a paused job, what it held last
	end     time.Duration // expected end while running
}

// newLife sets out the life of a job that is still to come.
func (l *loop) newLife(number int32, f *life) {
	j := &l.Jobs[number]
	*f = life{
		state: Pending, timer: Never, first: Never,
		request: int32(j.Threads), asked: int32(j.Threads), level: int32(max(j.Priority, 0)),
		plain: j.Plain(), arrival: j.Arrival,
	}
}

func (l *loop) life(j int32) *life { return l.lives.At(j) }

// result has what is counted of an open job beside its life.
func (l *loop) result(j int32) *Result { return l.fates.Of(j) }

// hold notes what a job is given.
func (f *life) hold(g Grant) { f.grant, f.held = g, int32(g.Cores.Count()) }

// settle writes what is counted in a life down in the job's result.
func (f *life) settle(r *Result) {
	r.State, r.Waiting, r.Service, r.CoreTime = f.state, f.waiting, f.service, f.coreTime
	r.FirstStart, r.Cores = f.first, int(f.cores)
	r.Preemptions, r.Alternative = int(f.preemptions), int(f.alternative)
}
