package rental

import (
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/supply"
)

// renting is the extension of a run whose policy rents servers for its jobs.
type renting struct {
	*supply.Servers
	rental  rental
	machine *cluster.Machine
}

// Extend returns a function that adds renting, on the given terms, to a run.
func Extend(terms Terms) func(*scheduler.Run, *cluster.Machine, scheduler.Kernel) (scheduler.Extension, error) {
	return func(r *scheduler.Run, m *cluster.Machine, k scheduler.Kernel) (scheduler.Extension, error) {
		s, err := supply.New(r, m, k)
		if err != nil {
			return nil, err
		}
		x := &renting{Servers: s, machine: m}
		jobs := scheduler.JobSet{List: r.Jobs, Drawn: r.Drawn}
		x.rental, err = newRental(terms, r.Cluster, m, jobs.Len())
		s.RentBy(x)
		return x, err
	}
}

// Arrived implements scheduler.JobExtension.
func (x *renting) Arrived(j int32) { x.rental.arrive(j, x.Job(j).Job().Arrival) }

// Started implements scheduler.JobExtension.
func (x *renting) Started(j int32) { x.Served(j, true) }

// Requeued implements scheduler.JobExtension.
func (x *renting) Requeued(j int32, work time.Duration) { x.rental.keep(j, work) }

// Ended implements scheduler.JobExtension.
func (x *renting) Ended(j int32) { x.rental.end(j) }

// Served implements supply.Renter.
func (x *renting) Served(j int32, served bool) { x.rental.serve(j, served, x.Now()) }

// Lost implements supply.Renter.
func (x *renting) Lost(j, node int32) { x.rental.lose(j, node) }

// Limit implements scheduler.JobExtension.
func (x *renting) Limit(j int32, need cluster.Room) cluster.Room {
	need.Market = x.rental.bars(j)
	return need
}

// NextInstant implements scheduler.Extension.
func (x *renting) NextInstant() time.Duration { return min(x.Servers.NextInstant(), x.rental.next()) }

// Reached implements scheduler.Extension.
func (x *renting) Reached(now time.Duration) {
	if x.rental.next() <= x.Servers.NextInstant() {
		x.rental.ring(now)
	} else {
		x.Servers.Reached(now)
	}
}

// BeforeDispatch lets the strategy choose a market for each job whose tick has begun, or that has lost its servers.
func (x *renting) BeforeDispatch() error {
	for _, number := range x.rental.takeDue() {
		j := x.Job(number)
		need, _ := j.Needs(j.Least())
		need.Market = 0
		leave, where := x.rental.decide(number, x.Now(), rentalCase{
			Deadline: j.Job().Within(), Work: j.Predicted(), Done: x.done(j), Changeover: changeover(j.Job()),
			From: func(v int32) time.Duration { return x.From(v, need) },
		})
		if !leave || !begun(j) || !x.rental.any(x.machine.NodesOf(j.Held().Cores, nil)) {
			continue
		}
		if err := x.move(j, where); err != nil {
			return err
		}
	}
	return nil
}

// begun reports whether a job has started and has not ended.
func begun(j scheduler.JobView) bool {
	return j.State() == scheduler.Running || j.State() == scheduler.Paused
}

// changeover returns the known time that a job needs to start on another server.
func changeover(j *scheduler.Job) time.Duration {
	if j.Special == nil {
		return 0
	}
	return j.Special.Changeover
}

// done returns the finished work of a job, as run time on its full request. The engine reports it; otherwise it is the
// run time without the time of the start.
func (x *renting) done(j scheduler.JobView) time.Duration {
	if !begun(j) {
		return x.rental.jobs[j.Number()].kept
	}
	a := x.Engine.Attempt(int(j.Number()))
	if a.Ran > 0 {
		return x.WorkOf(j.Number(), &a)
	}
	return a.Done
}

// move ends the attempt of a job that will continue on other servers. The job waits again, and keeps its finished work.
func (x *renting) move(j scheduler.JobView, where string) error {
	done := x.done(j)
	end := func(job int) (scheduler.Attempt, error) {
		a, err := x.Engine.Move(job)
		if a.Done == 0 && a.Ran == 0 { // the engine does not report the finished work
			a.Done, a.Kept = done, done
		}
		return a, err
	}
	return x.EndAttempt(j.Number(), end, scheduler.Event{Kind: scheduler.Move, Reason: "is to get " + where})
}
