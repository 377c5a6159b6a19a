package scheduler

import "time"

// JobView is a job as a policy sees it, at this instant.
type JobView struct {
	l      *loop
	number int32
}

func (j JobView) life() *life { return j.l.life(j.number) }

// Number returns the job's number.
func (j JobView) Number() int32 { return j.number }

// Job returns the job as it was given to the run; while it waits, with the
// request and the prediction of the alternative with which it is looked at.
func (j JobView) Job() *Job { return &j.l.Jobs[j.number] }

// State returns the state of the job.
func (j JobView) State() State { return j.life().state }

// Request returns the cores that the job asks for now.
func (j JobView) Request() int32 { return j.life().request }

// Level returns the effective level.
func (j JobView) Level() int32 { return j.life().level }

// Turn returns a number that is greater each time that a job begins to wait: that
// of the last one.
func (j JobView) Turn() int64 { return j.l.arrivals }

// Held returns what a running job holds.
func (j JobView) Held() Grant { return j.life().grant }

// Since returns when the present stretch of waiting or running began, as far as
// it is not added to the job's times yet.
func (j JobView) Since() time.Duration { return j.life().since }

// Yields reports whether a running job's turn is over: its cores count as free,
// and it stands in the queue.
func (j JobView) Yields() bool { return j.life().yields }

// CoreTime returns the core time of the stretches that have ended.
func (j JobView) CoreTime() time.Duration { return j.life().coreTime }

// Attained returns the core time that the job has had up to now.
func (j JobView) Attained() time.Duration { return j.l.attained(j.number) }

// Began returns when a running job would have begun, had it run for its whole service time at a stretch.
func (j JobView) Began() time.Duration { return j.life().since - j.life().service }

// Service returns the service time of a running job up to now.
func (j JobView) Service() time.Duration { return j.l.service(j.number) }

// ServiceOf returns the service time up to now, times the number of devices by which it
// is counted.
func (j JobView) ServiceOf(devices int) time.Duration {
	if f := j.life(); f.state != Running {
		return CoreTime(f.service, devices)
	}
	return CoreTime(j.l.service(j.number), devices)
}

// Predicted returns the predicted run time on the full request; 0 without one.
func (j JobView) Predicted() time.Duration { return j.l.predicted(j.number) }

// Remaining returns the predicted run time that is left on the full request, and
// Never without a prediction.
func (j JobView) Remaining() time.Duration { return j.l.remaining(j.number) }

// Length is Remaining on so many cores.
func (j JobView) Length(cores int32) time.Duration { return j.l.length(j.number, cores) }

// Least returns the least number of cores that a waiting job can start with.
func (j JobView) Least() int32 { return j.l.atLeast(j.number) }

// Sized reports whether the number of cores is not to be chosen: the job is a
// gang, or rigid and has started.
func (j JobView) Sized() bool { return j.l.sized(j.number) }

// Training returns what an elastic job knows of its own speed; nil for another job.
func (j JobView) Training() Training {
	if engine, ok := j.l.Engine.(Trainer); ok {
		return engine.Training(int(j.number))
	}
	return nil
}

// Needs returns what the job needs of each of its nodes on so many cores, and the
// number of nodes. A paused job has its memory already.
func (j JobView) Needs(cores int32) (Room, int) { return j.l.needs(j.number, cores) }

// FitsIn is Fits where so much is free, by node, at another time perhaps. The nodes are
// appended to a slice.
func (j JobView) FitsIn(rooms []Room, cores int32, nodes []int32) (_ []int32, ok bool) {
	return j.l.fitIn(rooms, j.number, cores, nodes)
}

// HeldBy reports whether rooms have what the job needs on these nodes.
func (j JobView) HeldBy(rooms []Room, cores int32, nodes []int32) bool {
	held := true
	j.l.eachNeed(j.number, cores, nodes, func(v int32, need Room) {
		held = held && rooms[v].Holds(need)
		rooms[v].Sub(need) // parts may share a node
	})
	j.PutBack(rooms, cores, nodes)
	return held
}

// NeedOn returns what a job of one node needs of this one on so many cores; ok is false
// where it may not go on there.
func (j JobView) NeedOn(node, cores int32) (need Room, ok bool) {
	if home := j.l.home(j.number); home != nil && home[0] != node && !j.l.movable(j.number) {
		return Room{}, false
	}
	j.l.scratch.node[0] = node
	j.l.eachNeed(j.number, cores, j.l.scratch.node[:], func(_ int32, n Room) { need = n })
	return need, true
}

// TakeFrom takes what the job needs on these nodes out of rooms.
func (j JobView) TakeFrom(rooms []Room, cores int32, nodes []int32) {
	j.l.eachNeed(j.number, cores, nodes, func(v int32, need Room) { rooms[v].Sub(need) })
}

// PutBack undoes TakeFrom.
func (j JobView) PutBack(rooms []Room, cores int32, nodes []int32) {
	j.l.eachNeed(j.number, cores, nodes, func(v int32, need Room) { rooms[v].Add(need) })
}

// FitsAnew is FitsIn without a preference for the nodes that the job has been on.
func (j JobView) FitsAnew(rooms []Room, cores int32, nodes []int32) (_ []int32, ok bool) {
	return j.l.fitAnew(rooms, j.number, cores, nodes)
}

// Yield adds to rooms what a running job would give back if it were paused.
func (j JobView) Yield(rooms []Room) { j.l.addHeld(rooms, j.number) }

// Movable reports whether a job that has started may go on on other nodes.
func (j JobView) Movable() bool { return j.l.movable(j.number) }

// Home returns the nodes that a job which has started is bound to, or nil. The
// slice holds until the next call, for any job.
func (j JobView) Home() []int32 { return j.l.home(j.number) }

// Fits finds nodes on which a waiting job can start with so many cores: the first
// that have room. The slice holds until the next call, for any job.
func (j JobView) Fits(cores int32) (nodes []int32, ok bool) { return j.l.fits(j.number, cores) }

// HeldUp reports whether a waiting job could not start even if all running jobs
// had ended: paused jobs keep the memory that it needs, and they come after it.
func (j JobView) HeldUp() bool { return j.l.heldUp(j.number) }

// Choices returns the alternatives that a waiting job can still choose among;
// none for a job that has none, or that has started.
func (j JobView) Choices() []int32 { return j.l.choices(j.number) }

// ChoicesAnew is Choices, and the alternatives with which a job can go on that is paused, or would be.
func (j JobView) ChoicesAnew() []int32 { return j.l.choicesAnew(j.number) }

// Alternative returns the one with which the job is looked at, or has started.
func (j JobView) Alternative() int32 { return int32(j.life().alternative) }

// GiveBack adds to rooms what a running job would give back if it ended.
func (j JobView) GiveBack(rooms []Room) { j.l.addAll(rooms, j.number) }
