package batch

import (
	"fmt"
	"strings"
	"time"
)

// instant is an instant at which the queue is looked at, or a round of backfill is held.
type instant struct {
	at   time.Duration
	what string // look, all, or backfill
}

// readInstants reads instants such as "look 12.5s", in their order.
func readInstants(texts []string) (list []instant, err error) {
	for _, text := range texts {
		what, when, _ := strings.Cut(text, " ")
		at, err := time.ParseDuration(when)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%q: %w", text, err)
		case what != "look" && what != "all" && what != "backfill":
			return nil, fmt.Errorf("%q begins with none of look, all and backfill", text)
		case len(list) > 0 && at < list[len(list)-1].at:
			return nil, fmt.Errorf("%q is before the instant that it follows", text)
		}
		list = append(list, instant{at, what})
	}
	return list, nil
}

// act does the work that is due.
func (p *periodic) act(now time.Duration) error {
	if len(p.instants) > 0 {
		return p.follow(now)
	}
	depth := -1
	switch {
	case p.ended:
		depth = p.Depth
	case p.queued && now >= p.lastWhole+p.Interval:
		p.lastWhole += (now - p.lastWhole) / p.Interval * p.Interval
		p.queued, depth = false, len(p.run.Jobs)
	case p.asked && now >= p.dueLook():
		depth = p.Depth
	}
	if depth >= 0 {
		if !p.ended {
			p.asked, p.lastLook = false, p.first+(now-p.first)/tick*tick
		}
		p.ended = false
		if err := p.look(depth); err != nil {
			return err
		}
	}
	if p.stale && now >= p.dueRound() {
		p.lastRound = p.dueRound()
		p.stale, p.staleAt = p.floor(p.changed, time.Second) == p.floor(now, time.Second), now // in this second: another round sees it
		return p.backfill()
	}
	return nil
}

// follow does the work of given instants.
func (p *periodic) follow(now time.Duration) error {
	for len(p.instants) > 0 && p.instants[0].at <= now {
		i, err := p.instants[0], error(nil)
		p.instants = p.instants[1:]
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
	if len(p.instants) == 0 { // periods follow
		p.lastLook, p.lastWhole, p.lastRound = now, now, now
		p.ask(now)
		p.change(now)
	}
	return nil
}

// change records a change that a look may act on. A round that was due before had nothing to do.
func (p *periodic) change(now time.Duration) {
	if p.changed == -never { // nodes have come until the first job does, so rounds were held
		p.lastRound += max(now-p.lastRound, 0) / p.Round * p.Round
	}
	p.queued, p.changed = true, now
	if due := p.dueRound(); p.stale && due < now {
		p.lastRound, p.stale = due, false
	}
	if !p.stale {
		p.stale, p.staleAt = true, now
	}
}

// dueLook returns when the queue is looked at for jobs that have come: the delay after the last time, or at the first
// tick after one has.
func (p *periodic) dueLook() time.Duration {
	at := p.lastLook + p.Delay
	if p.askedAt > at {
		at += roundUp(p.askedAt-at, tick)
	}
	return at
}

// ask asks for a look at the queue: jobs have come, or nodes take jobs again.
func (p *periodic) ask(now time.Duration) {
	if due := p.dueLook(); p.asked && due < now { // no job waited then
		p.asked, p.lastLook = false, due
	}
	if !p.asked {
		p.asked, p.askedAt = true, now
	}
}

// tick is how often the batch system notices that something is due.
const tick = time.Second

// roundUp rounds a time up to a multiple of a unit.
func roundUp(d, unit time.Duration) time.Duration { return (d + unit - 1) / unit * unit }

func (p *periodic) floor(at, unit time.Duration) time.Duration { return floor(at, unit, p.Clock) }

// floor rounds an instant down to a multiple of a unit on a clock that showed a time at the first arrival.
func floor(at, unit, clock time.Duration) time.Duration {
	over := (at + clock) % unit
	if over < 0 {
		over += unit
	}
	return at - over
}

// dueRound returns when the next round of backfill is due, once something has changed: after the interval, or at the
// first tick after the change.
func (p *periodic) dueRound() time.Duration {
	at := p.lastRound + p.Round
	if p.staleAt > at {
		at += roundUp(p.staleAt-at, tick)
	}
	return at
}
