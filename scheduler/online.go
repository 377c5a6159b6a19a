package scheduler

import (
	"errors"
	"fmt"
	"time"
)

// watch asks the engine for notices of progress.
func (l *loop) watch() error {
	if l.Online == nil {
		return nil
	}
	engine, ok := l.Engine.(Watcher)
	if !ok {
		return errors.New("online estimates: the engine does not report the progress of its jobs")
	}
	if len(l.Online.Units) != len(l.Jobs) {
		return fmt.Errorf("online estimates: %d jobs, but the units of %d", len(l.Jobs), len(l.Online.Units))
	}
	l.seen = make([]Seen, len(l.Jobs))
	for j := range l.seen {
		l.seen[j].Predicted = l.Jobs[j].Predicted
	}
	engine.Watch(l.Online.Units)
	return nil
}

// predicted returns the predicted run time of a job on its full request; 0
// when there is none.
func (l *loop) predicted(j int32) time.Duration {
	switch {
	case l.seen == nil:
	case l.turned(j):
		return l.asRan(j, l.predicted)
	default:
		return l.seen[j].Predicted
	}
	return l.Jobs[j].Predicted
}

// hold notes what a job held in a stretch of service that ends now.
func (l *loop) hold(j int32) {
	if l.seen == nil {
		return
	}
	s, f := &l.seen[j], l.life(j)
	s.Add(l.now-max(f.since, s.From), f.grant.Cores.Count())
}

// learn updates the predictions of the jobs that have made progress since it
// last looked. The others keep their places.
func (l *loop) learn() {
	for i := range l.progress {
		p := &l.progress[i]
		if p.Job < 0 || p.Job >= len(l.Jobs) {
			continue
		}
		j := int32(p.Job)
		switch f := l.life(j); f.state {
		case Running, Paused: // else it has ended in the meantime
			if p.Units > l.seen[j].Units {
				l.foresee(j, p)
			}
		}
	}
	l.progress = l.progress[:0]
}

// forget resets the prediction of a restarted job.
func (l *loop) forget(j int32) {
	if l.seen != nil {
		l.seen[j] = Seen{Predicted: l.Jobs[j].Predicted, Held: l.seen[j].Held[:0]}
		l.Online.Predictor.Forget(int(j))
	}
}

// foresee takes a job's progress into its prediction.
func (l *loop) foresee(j int32, p *Notice) {
	s, f := &l.seen[j], l.life(j)
	at := f.since
	if f.state == Running {
		// On a real clock a report may be older than the present stretch.
		at = min(max(p.At, f.since, s.From), l.now)
		s.Add(at-max(f.since, s.From), f.grant.Cores.Count())
		s.From = at
	}
	past := l.Outlook.Past(&l.Jobs[j], l.doneBy(j, at)) // in this attempt, when the units were finished
	left := l.Online.Predictor.Learn(int(j), p.Units-s.Units, p.Losses, s.Held)
	s.Units, s.Held = p.Units, s.Held[:0]
	if left < 0 {
		return
	}
	before := l.remaining(j)
	if f.state == Running {
		l.unexpect(j)
	}
	s.Predicted = max(Plus(past, left), 1) // 0 would be none
	if f.state == Running {
		l.expect(j)
	}
	if f.state == Paused || f.yields {
		k := l.queue.KeyOf(j)
		if l.rules.Predicted {
			k.Rank = l.rank(j)
		}
		l.queue.Remove(j)
		l.queue.Insert(k, l.least(j))
	}
	l.emit(Event{Kind: Predict, Job: int(j), Cores: l.held(j).Cores, GPUs: l.held(j).GPUs, Prediction: &Prediction{
		Done: s.Units, Total: l.Online.Units[j], Left: l.remaining(j), Before: before,
	}})
}
