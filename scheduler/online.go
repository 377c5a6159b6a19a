package scheduler

import (
	"fmt"
	"time"
)

// Online lets predictions follow what jobs report while they run.
type Online struct {
	// Units has the work of each job, in epochs or steps; 0 for a job that
	// reports nothing.
	Units []int
	// Predictor may keep what it has learned: it serves one run.
	Predictor Predictor
}

// Predictor corrects a job's predicted run time by the units that it has finished.
type Predictor interface {
	// Learn takes in that a job has finished so many units more, the losses that it
	// has reported of them, and what it held since the units before. It returns the run time that the job has left on
	// its full request, 0 or more, or a negative one when that cannot be told.
	Learn(job, units int, losses []Loss, held []Held) time.Duration
	// Forget takes in that a job has failed and will be restarted: the units that it
	// has finished do not count any more.
	Forget(job int)
}

// Held is a time in which a job held so many cores.
type Held struct {
	Time  time.Duration
	Cores int
}

// seen is what online predictions know of a job.
type seen struct {
	predicted time.Duration // of the whole job, on its full request
	units     int           // finished
	held      []Held        // since then
	from      time.Duration // the part of the present stretch that is not in held begins here
}

// watch asks the engine for notices of progress.
func (l *loop) watch() error {
	if l.Online == nil {
		return nil
	}
	engine, ok := l.Engine.(Watcher)
	if !ok {
		return errNoProgress
	}
	if len(l.Online.Units) != len(l.Jobs) {
		return fmt.Errorf("online estimates: %d jobs, but the units of %d", len(l.Jobs), len(l.Online.Units))
	}
	l.seen = make([]seen, len(l.Jobs))
	for j := range l.seen {
		l.seen[j].predicted = l.Jobs[j].Predicted
	}
	engine.Watch(l.Online.Units)
	return nil
}

// predicted returns the predicted run time of a job on its full request; 0
// when there is none.
func (l *loop) predicted(j int32) time.Duration {
	if l.seen != nil {
		return l.seen[j].predicted
	}
	return l.Jobs[j].Predicted
}

// hold notes what a job held in a stretch of service that ends now.
func (l *loop) hold(j int32) {
	if l.seen == nil {
		return
	}
	s, f := &l.seen[j], &l.lives[j]
	s.add(l.now-max(f.since, s.from), f.grant.Cores.Count())
}

func (s *seen) add(d time.Duration, cores int) {
	if last := len(s.held) - 1; last >= 0 && s.held[last].Cores == cores {
		s.held[last].Time += max(d, 0)
	} else if d > 0 {
		s.held = append(s.held, Held{d, cores})
	}
}

// learn updates the predictions of the jobs that have made progress since it
// last looked. The others keep their places.
func (l *loop) learn() {
	for i := range l.progress {
		p := &l.progress[i]
		if p.Job < 0 || p.Job >= len(l.lives) {
			continue
		}
		j := int32(p.Job)
		switch f := &l.lives[j]; f.State {
		case Running, Paused: // else it has ended in the meantime
			if p.Units > l.seen[j].units {
				l.foresee(j, p)
			}
		}
	}
	l.progress = l.progress[:0]
}

// forget resets the prediction of a restarted job.
func (l *loop) forget(j int32) {
	if l.seen != nil {
		l.seen[j] = seen{predicted: l.Jobs[j].Predicted, held: l.seen[j].held[:0]}
		l.Online.Predictor.Forget(int(j))
	}
}

// foresee takes a job's progress into its prediction.
func (l *loop) foresee(j int32, p *Notice) {
	s, f := &l.seen[j], &l.lives[j]
	at := f.since
	if f.State == Running {
		// On a real clock a report may be older than the present stretch.
		at = min(max(p.At, f.since, s.from), l.now)
		s.add(at-max(f.since, s.from), f.grant.Cores.Count())
		s.from = at
	}
	past := l.Outlook.Past(&l.Jobs[j], l.doneBy(j, at)) // in this attempt, when the units were finished
	left := l.Online.Predictor.Learn(int(j), p.Units-s.units, p.Losses, s.held)
	s.units, s.held = p.Units, s.held[:0]
	if left < 0 {
		return
	}
	before := l.remaining(j)
	if f.State == Running {
		l.unexpect(j)
	}
	s.predicted = max(Plus(past, left), 1) // 0 would be none
	if f.State == Running {
		l.expect(j)
	}
	if f.State == Paused || f.yields {
		k := l.queue.KeyOf(j)
		if l.rules.Predicted {
			k.Rank = l.rank(j)
		}
		l.queue.Remove(j)
		l.queue.Insert(k, l.least(j))
	}
	l.emit(Event{Kind: Predict, Job: int(j), Cores: l.holds(j), GPUs: l.holdsGPUs(j), Prediction: &Prediction{
		Done: s.units, Total: l.Online.Units[j], Left: l.remaining(j), Before: before,
	}})
}
