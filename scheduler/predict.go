package scheduler

import (
	"errors"
	"fmt"
	"time"
)

// predictions are the predicted run times of jobs, and their progress.
type predictions struct {
	done     progressAccount         // the progress of jobs
	seen     []seenUnits             // by job; nil without online predictions
	progress []Notice                // of jobs, since the predictions were last looked at
	samples  map[int32]time.Duration // the predictions of whole jobs, for running samples
}

// remaining returns the predicted run time that a job has left on its full
// request, and Never when there is no estimate.
func (l *loop) remaining(j *jobState) time.Duration {
	if l.turned(j) {
		return l.asRan(j, l.remaining)
	}
	predicted := l.predicted(j)
	if predicted == 0 {
		return Never
	}
	done := l.doneBy(j, l.now)
	if l.predictions.done.ByCores() { // the same, without a call that a million jobs would notice
		return max(predicted-Proportional{}.Past(j.job, done), 0)
	}
	return max(predicted-l.ProgressModel.Past(j.job, done), 0)
}

// length returns the predicted remaining run time of a job on the given number of cores.
func (l *loop) length(j *jobState, cores int32) time.Duration {
	left := l.remaining(j)
	if left == Never {
		return Never
	}
	job := j.job
	if l.predictions.done.ByCores() {
		return Proportional{}.Predict(job, left, int(cores))
	}
	return l.ProgressModel.Predict(job, left, int(cores))
}

// doneBy returns the progress of a job in its attempt up to an instant in the
// present stretch, in the unit of the progress model.
func (l *loop) doneBy(j *jobState, at time.Duration) time.Duration {
	done := l.predictions.done.Done(j.number, j.coreTime)
	switch {
	case j.state != Running:
		return done
	case l.predictions.done.ByCores(): // no more than there is, of all attempts
		return Plus(j.coreTime, CoreTime(at-j.since, int(j.held))) - (j.coreTime - done)
	}
	return Plus(done, l.ProgressModel.Done(j.job, int(j.held), at-j.since))
}

// settleDone adds a stretch of running that ends now to the progress of a job.
func (l *loop) settleDone(j *jobState, stretch time.Duration) {
	if !l.predictions.done.ByCores() {
		l.predictions.done.Add(j.number, l.ProgressModel.Done(j.job, int(j.held), stretch))
	}
}

// watch asks the engine for notices of progress.
func (l *loop) watch() error {
	if l.Online == nil {
		return nil
	}
	engine, ok := l.Engine.(Watcher)
	if !ok {
		return errors.New("online estimates: the engine does not report the progress of its jobs")
	}
	if len(l.Online.Units) != l.jobs.Len() {
		return fmt.Errorf("online estimates: %d jobs, but the units of %d", l.jobs.Len(), len(l.Online.Units))
	}
	l.predictions.seen = make([]seenUnits, l.jobs.Len())
	for j := range l.predictions.seen {
		l.predictions.seen[j].Predicted = l.job(int32(j)).Predicted
	}
	engine.Watch(l.Online.Units)
	return nil
}

// predicted returns the predicted run time of a job on its full request; 0
// if there is no prediction.
func (l *loop) predicted(j *jobState) time.Duration {
	switch {
	case l.predictions.seen == nil:
	case l.turned(j):
		return l.asRan(j, l.predicted)
	default:
		return l.predictions.seen[j.number].Predicted
	}
	return j.job.Predicted
}

// hold records the cores of a job in a stretch of service that ends now.
func (l *loop) hold(j *jobState) {
	if l.predictions.seen == nil {
		return
	}
	s := &l.predictions.seen[j.number]
	s.Add(l.now-max(j.since, s.From), j.grant.Cores.Count())
}

// learn updates the predictions of the jobs that have made progress since it
// last looked. The others keep their places.
func (l *loop) learn() {
	for i := range l.predictions.progress {
		p := &l.predictions.progress[i]
		if p.Job < 0 || p.Job >= l.jobs.Len() {
			continue
		}
		j := int32(p.Job)
		switch f := l.state(j); f.state {
		case Running, Paused: // else it has ended in the meantime
			if p.Units > l.predictions.seen[j].Units {
				l.foresee(l.state(j), p)
			}
		}
	}
	l.predictions.progress = l.predictions.progress[:0]
}

// forget resets the prediction of a restarted job.
func (l *loop) forget(j *jobState) {
	if l.predictions.seen != nil {
		l.predictions.seen[j.number] = seenUnits{Predicted: j.job.Predicted, Held: l.predictions.seen[j.number].Held[:0]}
		l.Online.Predictor.Forget(int(j.number))
	}
}

// foresee takes a job's progress into its prediction.
func (l *loop) foresee(j *jobState, p *Notice) {
	s := &l.predictions.seen[j.number]
	at := j.since
	if j.state == Running {
		// On a real clock a report may be older than the present stretch.
		at = min(max(p.At, j.since, s.From), l.now)
		s.Add(at-max(j.since, s.From), j.grant.Cores.Count())
		s.From = at
	}
	past := l.ProgressModel.Past(j.job, l.doneBy(j, at)) // in this attempt, when the units were finished
	left := l.Online.Predictor.Learn(int(j.number), p.Units-s.Units, p.Losses, s.Held)
	s.Units, s.Held = p.Units, s.Held[:0]
	if left < 0 {
		return
	}
	before := l.remaining(j)
	if j.state == Running {
		l.unexpect(j)
	}
	s.Predicted = max(Plus(past, left), 1) // 0 would be none
	if j.state == Running {
		l.expect(j)
	}
	if j.state == Paused || j.yields {
		k := l.queue.KeyOf(j.number)
		if l.rules.Predicted {
			k.Rank = l.rank(j)
		}
		l.queue.Remove(j.number)
		l.queue.Insert(k, l.least(j))
	}
	l.emit(Event{Kind: Predict, Job: int(j.number), Cores: l.held(j).Cores, GPUs: l.held(j).GPUs, Prediction: &Prediction{
		Done: s.Units, Total: l.Online.Units[j.number], Left: l.remaining(j), Before: before,
	}})
}

// Following has the state of run time predictions that follow the jobs while they run.

// Online lets predictions follow the reports of running jobs.
type Online struct {
	// Units has the work of each job, in epochs or steps; 0 for a job that
	// reports nothing.
	Units []int
	// A Predictor may keep state: it serves one run.
	Predictor Predictor
}

// Predictor corrects a job's predicted run time by the units that it has finished.
type Predictor interface {
	// Learn records newly finished units of a job, its reported losses of them, and its cores since the last call. It
	// returns the remaining run time of the job on its full request, 0 or more, or a negative value if that is
	// unknown.
	Learn(job, units int, losses []Loss, held []Held) time.Duration
	// Forget records that a job has failed and will be restarted: the units that it
	// has finished do not count any more.
	Forget(job int)
}

// Held is a time span with the number of cores that a job held in it.
type Held struct {
	Time  time.Duration
	Cores int
}

// seenUnits is the data of online predictions about a job.
type seenUnits struct {
	Predicted time.Duration // of the whole job, on its full request
	Units     int           // finished
	Held      []Held        // since then
	From      time.Duration // the part of the present stretch that is not in Held begins here
}

// Add adds a time in which the job held the given number of cores.
func (s *seenUnits) Add(d time.Duration, cores int) {
	if last := len(s.Held) - 1; last >= 0 && s.Held[last].Cores == cores {
		s.Held[last].Time += max(d, 0)
	} else if d > 0 {
		s.Held = append(s.Held, Held{d, cores})
	}
}
