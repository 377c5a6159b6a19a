package scheduler

import (
	"errors"
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

// Predictor predicts a job's run time anew from the units that it has finished.
type Predictor interface {
	// Learn is told that a job has finished so many units more, and what it held
	// since the units before. It returns the run time that the job has left on
	// its full request, 0 or more, or a negative one when that cannot be told.
	Learn(job, units int, held []Held) time.Duration
	// Forget is told that a job has failed and will begin anew: the units that it
	// has finished do not count any more.
	Forget(job int)
}

// Held is a time in which a job held so many cores.
type Held struct {
	Time  time.Duration
	Cores int
}

// Report tells that a job has finished so many units of its work, in all.
type Report struct {
	Job   int
	At    time.Duration
	Units int
}

// Reporter is an engine that can tell how far its jobs have come.
type Reporter interface {
	// Watch asks for reports, before the first job starts; units is as in Online.
	// From then on Next returns as well, without an End, when a job has finished
	// its first unit, and each time that its finished units have doubled: what
	// there is to learn from a unit shrinks with their number, and a job of a
	// million units is looked at twenty times.
	Watch(units []int)
	// Reports returns the latest report of each job that has made one since the
	// last call, up to the present instant.
	Reports() []Report
}

// errNoReports is returned for an engine that is no Reporter.
var errNoReports = errors.New("online estimates: the engine does not tell how far jobs have come")

// seen is what online predictions know of a job.
type seen struct {
	predicted time.Duration // of the whole job, on its full request
	units     int           // finished
	held      []Held        // since then
	from      time.Duration // the part of the present stretch that is not in held begins here
}

// watch asks the engine for reports.
func (l *loop) watch() error {
	if l.Online == nil {
		return nil
	}
	r, ok := l.Engine.(Reporter)
	if !ok {
		return errNoReports
	}
	if len(l.Online.Units) != len(l.Jobs) {
		return fmt.Errorf("online estimates: %d jobs, but the units of %d", len(l.Jobs), len(l.Online.Units))
	}
	l.reporter = r
	l.seen = make([]seen, len(l.Jobs))
	for j := range l.seen {
		l.seen[j].predicted = l.Jobs[j].Predicted
	}
	r.Watch(l.Online.Units)
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

// learn predicts the jobs anew that have reported since it last looked. The
// others keep their places.
func (l *loop) learn() {
	if l.reporter == nil {
		return
	}
	for _, p := range l.reporter.Reports() {
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
}

// forget makes the prediction of a job that begins anew what it was at first.
func (l *loop) forget(j int32) {
	if l.seen != nil {
		l.seen[j] = seen{predicted: l.Jobs[j].Predicted, held: l.seen[j].held[:0]}
		l.Online.Predictor.Forget(int(j))
	}
}

// foresee takes a job's report into its prediction.
func (l *loop) foresee(j int32, p Report) {
	s, f := &l.seen[j], &l.lives[j]
	past := f.CoreTime - l.lostBy(j) // attained in this attempt when the units were finished
	if f.State == Running {
		// On a real clock a report may be older than the present stretch.
		at := min(max(p.At, f.since, s.from), l.now)
		s.add(at-max(f.since, s.from), f.grant.Cores.Count())
		past = Plus(past, CoreTime(at-f.since, f.grant.Cores.Count()))
		s.from = at
	}
	left := l.Online.Predictor.Learn(int(j), p.Units-s.units, s.held)
	s.units, s.held = p.Units, s.held[:0]
	if left < 0 {
		return
	}
	before := l.remaining(j)
	if f.State == Running {
		l.unexpect(j)
	}
	s.predicted = max(Plus(past/time.Duration(l.Jobs[j].Threads), left), 1) // 0 would be none
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
