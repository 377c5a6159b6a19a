package scheduler

import (
	"context"
	"errors"
	"fmt"

	"github.com/tfexp/tfexp/scheduler/queue"
)

// finish handles the end of a job.
func (l *loop) finish(e *Notice) error {
	if e.Job < 0 || e.Job >= l.jobs.Len() {
		return fmt.Errorf("engine reported the end of job number %d, which does not exist", e.Job)
	}
	j := l.state(int32(e.Job))
	if e.Revoked && l.begun(j) {
		if taken, err := l.extensions.notice(e); taken || err != nil {
			return err
		}
		return fmt.Errorf("engine reported that job %q ended for the loss of node %d, which cannot come and go", l.job(int32(e.Job)).Name, e.Node)
	}
	if !l.begun(j) {
		return fmt.Errorf("engine reported the end of job %q, which is %s", l.job(int32(e.Job)).Name, j.state)
	}
	l.takeOff(j)
	l.tally.started--
	if e.Attempt != nil {
		l.result(j).Add(e.Attempt)
	}
	if e.State == Failed && l.retry(j, e.Reason) || l.extensions.attemptEnded(j, e) {
		return nil
	}
	kind, final := e.State.Final()
	if j.state = e.State; !final {
		return fmt.Errorf("engine reported that job %q ended in the state %q, which is not final", l.job(int32(e.Job)).Name, e.State)
	}
	l.end(j, kind, e.Reason, e.Attempt)
	return nil
}

// takeOff releases the cores of a started job, or removes it from the queue if it has none.
func (l *loop) takeOff(j *jobState) {
	if j.state == Running && !j.yields {
		l.release(j)
		return
	}
	l.settleTime(j)
	if j.state == Running { // its quantum is over, and its cores are already released
		l.dropTurn(j)
		l.leave(j)
	}
	l.queue.Remove(j.number)
}

// close ends a job. No attempt is recorded.
func (l *loop) close(j *jobState, kind EventKind, reason string) { l.end(j, kind, reason, nil) }

// end gives a job its final state, and records the event. attempt may be nil.
func (l *loop) end(j *jobState, kind EventKind, reason string, attempt *Attempt) {
	l.detector.Progressed()
	l.unbook(j)
	l.extensions.changed(j, leaves, 0)
	l.extensions.changed(j, ends, 0)
	r := l.outcomes.Last(j.number)
	r.Finish, r.Reason, j.timer, j.grant = l.now, reason, Never, Grant{}
	j.settle(r)
	l.tally.open--
	if l.policy.observer != nil {
		l.policy.observer.Ended(j.number)
	}
	if r = l.outcomes.Over(j.number, r); reason == "" && attempt == nil {
		l.tell(kind, j, nil, nil, r)
	} else {
		l.emit(Event{Kind: kind, Job: int(j.number), Reason: reason, Attempt: attempt, Result: r})
	}
	l.states.Over(j.number)
}

// book reserves the job's memory on the nodes of its grant. The job keeps it while it is paused.
func (l *loop) book(j *jobState) {
	if !j.booked {
		j.booked = true
		l.bookMemory(j, -1)
	}
}

func (l *loop) unbook(j *jobState) {
	if j.booked {
		j.booked = false
		l.bookMemory(j, 1)
	}
}

func (l *loop) bookMemory(j *jobState, sign int64) {
	if j.plain {
		return
	}
	if sign < 0 {
		need, _ := j.job.Needs(0)
		l.alternatives.Takes(j.number, need.Memory)
	}
	memory := l.memoryOf(j)
	if memory == 0 {
		return
	}
	for _, v := range l.nodesOf(j) {
		l.machine.Free[v].Memory += sign * memory
	}
}

// memoryOf returns the bytes that a started job holds on each of its nodes.
func (l *loop) memoryOf(j *jobState) int64 {
	if held, ok := l.alternatives.Memory(j.number); ok {
		return held
	}
	need, _ := j.job.Needs(0)
	return need.Memory
}

// settleTime adds the time since the job's last change to its waiting or service time.
func (l *loop) settleTime(j *jobState) {
	d := l.now - j.since
	if j.state != Running {
		j.since = l.now
		j.waiting += d
		return
	}
	l.hold(j)
	j.since = l.now
	j.service += d
	l.settleDone(j, d)
	j.coreTime = Plus(j.coreTime, CoreTime(d, int(j.held)))
	if l.policy.observer != nil {
		l.policy.observer.Used(j.number, d, j.grant)
	}
}

// release takes the cores and GPUs from a running job.
func (l *loop) release(j *jobState) {
	if mate, ok := l.running.mates.Separate(j.number); ok { // the other job on its GPUs now runs at another speed
		l.settleTime(l.state(mate))
		l.running.victims.Forget()
	}
	l.settleTime(j)
	l.machine.Give(j.grant)
	l.leave(j)
	l.dispatching.freed = true
}

// tell records a frequent event without memory allocation: it has only the job's cores and GPUs, and its result.
func (l *loop) tell(kind EventKind, j *jobState, cores, gpus CoreSet, r *Result) {
	l.tally.events++
	e := &l.out.plain
	e.At, e.Kind, e.Job, e.Cores, e.GPUs, e.Result = l.now, kind, int(j.number), cores, gpus, r
	l.out.Send(e)
}

// emit records an event at the present instant.
func (l *loop) emit(e Event) {
	l.tally.events++
	e.At = l.now
	l.out.event = e
	l.out.Send(&l.out.event)
}

// stuck returns ErrStuck with the reason why each waiting job can never start.
func (l *loop) stuck() error {
	var jobs shortList
	for j := l.queue.Next(queue.Front, queue.Anyone); j != noJob; j = l.queue.Next(l.queue.KeyOf(j), queue.Anyone) {
		why, _ := l.whyNot(l.state(j))
		jobs.Add(fmt.Sprintf("job %q %s", l.job(j).Name, why))
	}
	return fmt.Errorf("%w: %s", ErrStuck, jobs.String())
}

// breakOff stops all jobs that have started, and waits until they have ended.
func (l *loop) breakOff(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	l.ending.stopping = true
	for j, f := range l.states.All() {
		if f.state == Running || f.state == Paused {
			if err := l.Engine.Stop(int(j)); err != nil {
				return fmt.Errorf("stop job %q: %w", l.job(j).Name, err)
			}
		}
	}
	for l.tally.started > 0 {
		now, news, err := l.Engine.Next(ctx, Never)
		if err != nil {
			return fmt.Errorf("wait for stopped jobs: %w", err)
		}
		for i := range news {
			l.now = min(max(news[i].At, l.now), max(now, l.now))
			if err := l.notice(&news[i]); err != nil {
				return err
			}
		}
		l.now = max(l.now, now)
	}
	return nil
}

// account returns an error unless each job has exactly one outcome.
func (l *loop) account() error {
	if l.tally.started != 0 || len(l.running.all) != 0 || l.queue.Len() != 0 {
		return errors.New("all jobs count as ended, but some still run or wait")
	}
	return accounted(l.jobs.List, l.outcomes.Kept(), l.ending.closed > 0)
}

func (l *loop) outcome() Outcome {
	if kept := l.outcomes.Kept(); kept != nil {
		for j, f := range l.states.All() {
			if !f.state.Over() { // outcomes.Over has recorded the others
				kept[j] = *l.outcomes.Last(j)
				f.settle(&kept[j])
			}
		}
	}
	return Outcome{
		Jobs: l.outcomes.Kept(), End: l.now, Closed: l.ending.closed, Undone: l.outcomes.Undone(),
		Events: l.tally.events, Instants: l.tally.instants,
	}
}
