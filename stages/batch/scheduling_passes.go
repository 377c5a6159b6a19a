package batch

import (
	"fmt"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// givenInstant is a given time of a look at the queue, or of a round of backfill.
type givenInstant struct {
	at   time.Duration
	what string // look, all, or backfill
}

// readInstants reads instants such as "look 12.5s", in their order.
func readInstants(texts []string) (list []givenInstant, err error) {
	for _, text := range texts {
		what, when, _ := strings.Cut(text, " ")
		at, err := time.ParseDuration(when)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%q: %w", text, err)
		case what != "look" && what != "all" && what != "backfill":
			return nil, fmt.Errorf("%q must begin with look, all or backfill", text)
		case len(list) > 0 && at < list[len(list)-1].at:
			return nil, fmt.Errorf("%q is earlier than the instant before it in the list", text)
		}
		list = append(list, givenInstant{at, what})
	}
	return list, nil
}

// schedulingPasses records the looks at the queue and the rounds of backfill, and what has happened since: it decides
// when the next ones are due.
type schedulingPasses struct {
	*periodicArgs                // has the periods
	systemStart   time.Duration  // when the batch system was started
	instants      []givenInstant // given ones that are still to come; empty where periods count
	lastLook      time.Duration  // at the first jobs of the queue
	lastFullLook  time.Duration  // at the whole queue
	lastRound     time.Duration  // of backfill
	lastChange    time.Duration  // of jobs or nodes; -never before the first

	lookAtOnce      bool // a job has ended: the queue is looked at without delay
	lookRequested   bool // jobs have come, or nodes take jobs again
	lookRequestedAt time.Duration
	fullLookNeeded  bool // something has changed since the last full look
	roundNeeded     bool // something has changed since the last round
	roundNeededAt   time.Duration
}

// newSchedulingPasses returns the passes of a batch system that was started at an instant.
func newSchedulingPasses(t *periodicArgs, systemStart time.Duration) schedulingPasses {
	s := schedulingPasses{periodicArgs: t, systemStart: systemStart, lastLook: systemStart, lastFullLook: systemStart,
		lastRound: systemStart, lastChange: -never}
	s.instants, _ = readInstants(t.Instants)
	return s
}

// next returns when the next look or round is due; scheduler.Never if none is needed.
func (s *schedulingPasses) next() time.Duration {
	if len(s.instants) > 0 {
		return s.instants[0].at
	}
	at := scheduler.Never
	if s.lookRequested {
		at = min(at, s.lookDue())
	}
	if s.fullLookNeeded {
		at = min(at, s.lastFullLook+s.Interval)
	}
	if s.roundNeeded {
		at = min(at, s.roundDue())
	}
	return at
}

// dueNow reports whether a look is due without delay. Given instants come first.
func (s *schedulingPasses) dueNow() bool { return s.lookAtOnce && len(s.instants) == 0 }

// takeLook reports whether a look is due, and how many jobs after the first one it may reach. It records the look.
func (s *schedulingPasses) takeLook(now time.Duration, jobs int) (depth int, due bool) {
	if s.lookAtOnce {
		s.lookAtOnce = false
		return s.Depth, true
	}
	switch {
	case s.fullLookNeeded && now >= s.lastFullLook+s.Interval:
		s.lastFullLook += (now - s.lastFullLook) / s.Interval * s.Interval
		s.fullLookNeeded, depth = false, jobs
	case s.lookRequested && now >= s.lookDue():
		depth = s.Depth
	default:
		return 0, false
	}
	s.lookRequested, s.lastLook = false, s.systemStart+(now-s.systemStart)/tick*tick
	return depth, true
}

// takeRound reports whether a round of backfill is due, and records it.
func (s *schedulingPasses) takeRound(now time.Duration) bool {
	if !s.roundNeeded || now < s.roundDue() {
		return false
	}
	s.lastRound = s.roundDue()
	// The next round sees a change in the same second once more.
	s.roundNeeded, s.roundNeededAt = s.floor(s.lastChange, time.Second) == s.floor(now, time.Second), now
	return true
}

// recordChange records a change that a look or a round may act on. A round that was due before had nothing to do.
func (s *schedulingPasses) recordChange(now time.Duration) {
	if s.lastChange == -never { // the system has held rounds since its start, before the first job came
		s.lastRound += max(now-s.lastRound, 0) / s.Round * s.Round
	}
	s.fullLookNeeded, s.lastChange = true, now
	if due := s.roundDue(); s.roundNeeded && due < now {
		s.lastRound, s.roundNeeded = due, false
	}
	if !s.roundNeeded {
		s.roundNeeded, s.roundNeededAt = true, now
	}
}

// requestLook asks for a look at the queue: jobs have come, or nodes take jobs again.
func (s *schedulingPasses) requestLook(now time.Duration) {
	if due := s.lookDue(); s.lookRequested && due < now { // no job waited then
		s.lookRequested, s.lastLook = false, due
	}
	if !s.lookRequested {
		s.lookRequested, s.lookRequestedAt = true, now
	}
}

// lookDue returns when a requested look is due: the delay after the last look, or at the first tick after the request.
func (s *schedulingPasses) lookDue() time.Duration {
	at := s.lastLook + s.Delay
	if s.lookRequestedAt > at {
		at += roundUp(s.lookRequestedAt-at, tick)
	}
	return at
}

// roundDue returns when a needed round of backfill is due: the interval after the last round, or at the first tick
// after the change.
func (s *schedulingPasses) roundDue() time.Duration {
	at := s.lastRound + s.Round
	if s.roundNeededAt > at {
		at += roundUp(s.roundNeededAt-at, tick)
	}
	return at
}

// usePeriods has periods follow the last of the given instants.
func (s *schedulingPasses) usePeriods(now time.Duration) {
	s.lastLook, s.lastFullLook, s.lastRound = now, now, now
	s.requestLook(now)
	s.recordChange(now)
}

// act does the work that is due.
func (p *periodic) act(now time.Duration) error {
	if len(p.passes.instants) > 0 {
		return p.follow(now)
	}
	if depth, due := p.passes.takeLook(now, len(p.run.Jobs)); due {
		if err := p.look(depth); err != nil {
			return err
		}
	}
	if p.passes.takeRound(now) {
		return p.backfill()
	}
	return nil
}

// follow does the work of given instants.
func (p *periodic) follow(now time.Duration) error {
	for len(p.passes.instants) > 0 && p.passes.instants[0].at <= now {
		i, err := p.passes.instants[0], error(nil)
		p.passes.instants = p.passes.instants[1:]
		switch {
		case i.at < now: // no job waited then
		case i.what == "look":
			err = p.look(p.Depth)
		case i.what == "all":
			err = p.look(len(p.run.Jobs))
		default:
			err = p.backfill()
		}
		if err != nil {
			return err
		}
	}
	if len(p.passes.instants) == 0 {
		p.passes.usePeriods(now)
	}
	return nil
}

// tick is how often the batch system notices that something is due.
const tick = time.Second

// roundUp rounds a time up to a multiple of a unit.
func roundUp(d, unit time.Duration) time.Duration { return (d + unit - 1) / unit * unit }

// floor rounds an instant down to a multiple of a unit on the clock of the batch system.
func (t *periodicArgs) floor(at, unit time.Duration) time.Duration { return floor(at, unit, t.Clock) }

// floor rounds an instant down to a multiple of a unit on a clock that showed a time at the first arrival.
func floor(at, unit, clock time.Duration) time.Duration {
	over := (at + clock) % unit
	if over < 0 {
		over += unit
	}
	return at - over
}
