// This file starts jobs: the attempts of a job, and the programs of an attempt.

package launch

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Start starts the programs of a job. The error is a phrase that says why it could not be started. A job that has
// ended may be started again; its log continues.
func (j *Jobs[P]) Start(job int, grant scheduler.Grant) error {
	r, request, err := j.attempt(job, grant)
	if err != nil {
		return err
	}
	j.vacate(grant)
	if err := j.launch(r, &request, grant); err != nil {
		return err
	}
	j.mu.Lock()
	j.live[job] = r
	j.open++
	r.carryOn(time.Now(), func() { j.expire(r) })
	programs := slices.Clone(r.programs)
	j.mu.Unlock()
	for _, p := range programs {
		j.waiters.Go(func() { j.hands.Attend(p) })
	}
	if request.Budget != nil { // the budget counts from now, not from the first write of the control file
		if err := j.write(programs[0], 0, contract.Message{}); err != nil {
			go j.fail(r, err.Error())
		}
	}
	return nil
}

// attempt returns a new attempt of a job, and the job with its new request.
func (j *Jobs[P]) attempt(job int, grant scheduler.Grant) (*RunningJob[P], Job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.closed:
		return nil, Job{}, j.opts.Closed
	case job < 0 || job >= len(j.jobs):
		return nil, Job{}, fmt.Errorf("start: no job has the number %d", job)
	case j.live[job] != nil && !j.live[job].done:
		return nil, Job{}, fmt.Errorf("start: job %q was started before", j.jobs[job].Name)
	case !j.jobs[job].Choose(grant.Alternative):
		return nil, Job{}, fmt.Errorf("start: job %q has no alternative %d", j.jobs[job].Name, grant.Alternative)
	}
	r := &RunningJob[P]{number: job}
	if last := j.live[job]; last != nil {
		r.again, r.before = true, last.before
		if last.suspended && last.cause == 0 { // the attempt continues
			r.usage = last.usage
			r.saves.GoOn(&last.saves)
		} else {
			r.before += last.usage.Service
			r.saves.After(&last.saves)
		}
	}
	r.limit, r.late = j.jobs[job].Alarm(r.before)
	return r, j.jobs[job], nil
}

// expire ends an attempt that has reached its limit.
func (j *Jobs[P]) expire(r *RunningJob[P]) {
	j.mu.Lock()
	paused := r.paused // the timer fired while the job was being paused
	j.mu.Unlock()
	if !paused {
		j.terminate(r, scheduler.Failed, r.late)
	}
}

// launch starts the programs of an attempt, the leading one first.
func (j *Jobs[P]) launch(r *RunningJob[P], request *Job, grant scheduler.Grant) error {
	r.Progress = j.Follow(r.number, request)
	parts := Programs(grant)
	if parts == nil {
		whole := scheduler.Part{Cores: grant.Cores, GPUs: grant.GPUs}
		if len(j.opts.Cluster.Nodes) > 0 {
			whole.Node = grant.Parts(j.opts.Cluster)[0].Node
		}
		if _, err := j.begin(r, *request, whole, true, r.again); err != nil {
			return err
		}
		r.Progress.Begin()
		return nil
	}
	var err error
	if r.parts, err = j.hands.Addresses(r.number, parts, nil); err != nil {
		return err
	}
	lead := cluster.Lead(parts)
	for i, part := range append([]scheduler.Part{parts[lead]}, slices.Delete(slices.Clone(parts), lead, lead+1)...) {
		if _, err := j.beginPart(r, request, part, i == 0, r.again); err != nil {
			for _, p := range r.programs {
				j.hands.Discard(p)
			}
			return fmt.Errorf("%s: %w", PartName(part), err)
		}
	}
	r.Progress.Begin()
	if m, ok := j.hands.(Meeting[P]); ok {
		r.Progress.Meet(func() (met, known bool) { return m.Met(j.living(r), r.parts) })
	}
	return nil
}

// Meeting is implemented by ProgramHands that can find out whether the parts of a job connect.
type Meeting[P RunningProgram] interface {
	// Met reports whether a process uses one of the addresses of a job with the given programs, and whether that can
	// be known.
	Met(programs []P, addresses contract.Cluster) (met, known bool)
}

// beginPart starts the program of a part.
func (j *Jobs[P]) beginPart(r *RunningJob[P], request *Job, part scheduler.Part, lead, again bool) (P, error) {
	var none P
	parts := r.parts
	if at := len(parts[part.Role]); part.Task >= at { // parts that run already do not get the address of this one
		own, err := j.hands.Addresses(r.number, []scheduler.Part{part}, parts)
		if err != nil {
			return none, err
		}
		parts = maps.Clone(parts)
		parts[part.Role] = slices.Concat(parts[part.Role], own[part.Role][at:])
	}
	of, err := request.OfPart(part, lead, parts)
	if err != nil {
		return none, err
	}
	return j.begin(r, of, part, lead, again)
}

// begin starts a program, and adds it to the programs of its attempt.
func (j *Jobs[P]) begin(r *RunningJob[P], of Job, part scheduler.Part, lead, again bool) (P, error) {
	s := JobState{
		Number: r.number, Job: of, Lead: lead, Before: r.before + r.usage.Service, Over: make(chan struct{}), part: part,
	}
	var seen func([]byte)
	switch {
	case !lead:
		s.Beside = j.lead(r)
		seen = r.Progress.OfPart(PartName(part))
	case j.opts.Saves:
		seen = r.saves.Listen(r.Progress.Output(), func() time.Duration { return j.service(r) })
	default:
		seen = r.Progress.Output()
	}
	p, err := j.hands.Begin(s, part, again, seen, func(reason string) { go j.fail(r, reason) })
	if err != nil {
		return p, err
	}
	j.mu.Lock()
	r.programs = append(r.programs, p)
	late := r.cause != 0 || r.state != 0 || r.leadGone() // the job has ended meanwhile
	if late {
		p.Base().lost = p.Base().lost || r.cause == 0
	}
	j.mu.Unlock()
	if late {
		j.kill([]P{p})
	}
	return p, nil
}

// fail ends a job at once because of its output.
func (j *Jobs[P]) fail(r *RunningJob[P], reason string) {
	j.mu.Lock()
	if r.cause == 0 {
		r.cause, r.reason = scheduler.Failed, reason
	}
	programs := slices.Clone(r.programs)
	j.mu.Unlock()
	j.kill(programs)
}
