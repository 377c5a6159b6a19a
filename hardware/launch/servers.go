package launch

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// Acquire implements supply.Provider.
func (j *Jobs[P]) Acquire(node int) (*scheduler.Server, error) {
	if j.opts.Fleet == nil {
		return nil, errors.New("the engine has no servers")
	}
	return j.opts.Fleet.Acquire(node, j.Now()), nil
}

// Release implements supply.Provider.
func (j *Jobs[P]) Release(node int) error {
	j.opts.Fleet.Release(node)
	return nil
}

// From implements supply.Provider.
func (j *Jobs[P]) From(node int, at time.Duration) time.Duration {
	if f, ok := j.opts.Fleet.(interface {
		From(node int, now time.Duration) time.Duration
	}); ok {
		return f.From(node, at)
	}
	return at
}

// nodeNews carries out the events on nodes up to now, and returns notices of them.
func (j *Jobs[P]) nodeNews() []scheduler.Notice {
	if j.opts.Fleet == nil {
		return nil
	}
	news := j.opts.Fleet.Take(j.Now(), nil)
	for i := range news {
		switch n := &news[i]; n.Kind {
		case scheduler.NodeWarned:
			j.Warn(n.Node, n.Until)
		case scheduler.NodeDown:
			j.Take(n.Node)
			n.At = j.Now() // after notices of jobs that ended before
		}
	}
	return news
}

// on returns the live programs on a node, and their attempts. mu must be held.
func (j *Jobs[P]) on(node int) (programs []P, attempts []*RunningJob[P]) {
	for _, r := range j.live {
		if r == nil || r.done {
			continue
		}
		for _, p := range r.programs {
			if s := p.Base(); s.part.Node != node || s.done {
				continue
			}
			programs = append(programs, p)
			if !slices.Contains(attempts, r) {
				attempts = append(attempts, r)
			}
		}
	}
	return programs, attempts
}

// Warn informs the programs on a node, by their control files and by SIGTERM, that the node will be taken away at an
// instant. If a job has only some parts on the node, its leading program is asked for a checkpoint. Take kills
// programs that have not ended by then.
func (j *Jobs[P]) Warn(node int, until time.Duration) {
	j.mu.Lock()
	programs, attempts := j.on(node)
	j.serial++
	serial := j.serial
	for _, p := range programs {
		p.Base().lost = true
	}
	leads := map[*RunningJob[P]]P{}
	for _, r := range attempts {
		if p := r.programs[0]; p.Base().part.Node != node && !p.Base().gone {
			leads[r] = p
		}
	}
	j.mu.Unlock()
	left := max((until - j.Now()).Seconds(), 0)
	for _, r := range attempts {
		// If the warning cannot be written, the program is killed without it.
		if p, ok := leads[r]; ok {
			j.write(p, 0, contract.Message{Serial: serial, Checkpoint: true})
		}
		var there []P
		for _, p := range j.living(r) {
			if slices.Contains(programs, p) {
				j.write(p, 0, contract.Message{Serial: serial, Warning: &left})
				there = append(there, p)
			}
		}
		j.ask(r, there, j.zero.Add(until))
	}
}

// Take kills all programs on a node, and returns when they are gone.
func (j *Jobs[P]) Take(node int) {
	j.mu.Lock()
	programs, attempts := j.on(node)
	for _, p := range programs {
		p.Base().lost, p.Base().taken = true, true
	}
	j.mu.Unlock()
	j.kill(programs)
	await(programs)
	// If the leading program of a job had ended by itself, the job ends now and is not revoked.
	for _, r := range attempts {
		j.mu.Lock()
		var rest []P
		if r.state != 0 {
			rest = slices.Clone(r.programs)
		}
		j.mu.Unlock()
		await(rest)
	}
}

// await waits until all processes of programs are gone.
func await[P RunningProgram](programs []P) {
	for _, p := range programs {
		<-p.Base().Over
	}
}

// Attempt implements supply.Provider.
func (j *Jobs[P]) Attempt(job int) scheduler.Attempt {
	j.mu.Lock()
	defer j.mu.Unlock()
	if job < 0 || job >= len(j.live) || j.live[job] == nil {
		return scheduler.Attempt{}
	}
	return j.live[job].came()
}

// Move implements supply.Provider. It is like Revoke, because a program writes a checkpoint only when it is ended.
func (j *Jobs[P]) Move(job int) (scheduler.Attempt, error) { return j.Revoke(job) }

// Revoke implements supply.Provider. It ends the remaining programs of the job.
func (j *Jobs[P]) Revoke(job int) (scheduler.Attempt, error) {
	j.mu.Lock()
	if job < 0 || job >= len(j.live) || j.live[job] == nil {
		j.mu.Unlock()
		return scheduler.Attempt{}, fmt.Errorf("revoke: job %d was not started", job)
	}
	r := j.live[job]
	r.quiet = true
	if r.cause == 0 {
		r.cause, r.reason = scheduler.Stopped, "a server of the job was taken away"
	}
	r.rest(time.Now())
	programs := slices.Clone(r.programs)
	j.mu.Unlock()
	j.ask(r, programs, time.Now().Add(j.opts.Grace))
	await(programs)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.settle(r)
	j.ended = slices.DeleteFunc(j.ended, func(n scheduler.Notice) bool {
		return n.Job == job && (n.Kind == scheduler.JobEnded || n.Kind == scheduler.PartEnded ||
			n.Kind == scheduler.JobProgress)
	})
	return r.came(), nil
}

// Reshape implements scheduler.Migrator. It ends parts that are not in the grant, and starts parts that are new in
// it.
func (j *Jobs[P]) Reshape(job int, grant scheduler.Grant) error {
	r, _, err := j.present("reshape", job)
	if r == nil {
		return err
	}
	wanted := Programs(grant)
	j.mu.Lock()
	var left []P
	for _, p := range r.programs {
		s := p.Base()
		if slices.ContainsFunc(wanted, func(w scheduler.Part) bool { return same(s.part, w) }) {
			continue
		}
		s.failed = "" // the job continues without it
		if !s.done {
			s.lost = true
			left = append(left, p)
		}
	}
	fresh := slices.DeleteFunc(slices.Clone(wanted), func(w scheduler.Part) bool {
		return slices.ContainsFunc(r.programs, func(p P) bool {
			s := p.Base()
			return !s.gone && !s.lost && same(s.part, w)
		})
	})
	request := j.jobs[job]
	j.mu.Unlock()
	j.kill(left)
	await(left)
	for _, part := range fresh {
		p, err := j.beginPart(r, &request, part, false, true)
		if err != nil {
			if again, _, _ := j.present("reshape", job); again == nil { // the job has ended; its notice follows
				return nil
			}
			return fmt.Errorf("reshape job %q: %s: %w", request.Name, PartName(part), err)
		}
		j.waiters.Go(func() { j.hands.Attend(p) })
	}
	return nil
}
