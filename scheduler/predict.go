package scheduler

import (
	"errors"
	"fmt"
	"time"
)

// predictions has the predicted run times of the jobs, and their progress.
type predictions struct {
	done     progressAccount         // progress of each job
	seen     []seenUnits             // by job; nil without online predictions
	progress []Notice                // reports since the last call of learn
	samples  map[int32]time.Duration // for each job that runs as a sample, the prediction of the whole job
}

// remaining returns the predicted remaining run time of a job on its full request; Never without a prediction.
func (l *loop) remaining(j *jobState) time.Duration {
	if l.turned(j) {
		return l.asRan(j, l.remaining)
	}
	predicted := l.predicted(j)
	if predicted == 0 {
		return Never
	}
	done := l.doneBy(j, l.now)
	if l.predictions.done.ByCores() { // the same as below, but faster
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

// doneBy returns the progress of a job in its present attempt up to an instant, in the unit of the progress model.
// The instant must be in the present period of running.
func (l *loop) doneBy(j *jobState, at time.Duration) time.Duration {
	done := l.predictions.done.Done(j.number, j.coreTime)
	switch {
	case j.state != Running:
		return done
	case l.predictions.done.ByCores(): // subtract what earlier attempts have lost
		return Plus(j.coreTime, CoreTime(at-j.since, int(j.held))) - (j.coreTime - done)
	}
	return Plus(done, l.ProgressModel.Done(j.job, int(j.held), at-j.since))
}

// settleDone adds a period of running to the progress of a job.
func (l *loop) settleDone(j *jobState, stretch time.Duration) {
	if !l.predictions.done.ByCores() {
		l.predictions.done.Add(j.number, l.ProgressModel.Done(j.job, int(j.held), stretch))
	}
}

// watch makes the engine report progress, if the run has online predictions.
func (l *loop) watch() error {
	if l.Online == nil {
		return nil
	}
	engine, ok := l.Engine.(Watcher)
	if !ok {
		return errors.New("online estimates need an engine that reports the progress of jobs")
	}
	if len(l.Online.Units) != l.jobs.Len() {
		return fmt.Errorf("online estimates: the run has %d jobs, but the units of work of %d jobs are given", l.jobs.Len(), len(l.Online.Units))
	}
	l.predictions.seen = make([]seenUnits, l.jobs.Len())
	for j := range l.predictions.seen {
		l.predictions.seen[j].Predicted = l.job(int32(j)).Predicted
	}
	engine.Watch(l.Online.Units)
	return nil
}

// predicted returns the predicted run time of the whole job on its full request; 0 without a prediction.
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

// hold records the cores that a job held in the period of running that ends now.
func (l *loop) hold(j *jobState) {
	if l.predictions.seen == nil {
		return
	}
	s := &l.predictions.seen[j.number]
	s.Add(l.now-max(j.since, s.From), j.grant.Cores.Count())
}

// learn updates the predictions of jobs that have reported progress since its last call. Other jobs keep their
// places in the queue.
func (l *loop) learn() {
	for i := range l.predictions.progress {
		p := &l.predictions.progress[i]
		if p.Job < 0 || p.Job >= l.jobs.Len() {
			continue
		}
		j := int32(p.Job)
		switch f := l.state(j); f.state {
		case Running, Paused: // otherwise the job has ended in the meantime
			if p.Units > l.predictions.seen[j].Units {
				l.foresee(l.state(j), p)
			}
		}
	}
	l.predictions.progress = l.predictions.progress[:0]
}

// forget resets the prediction of a job that is restarted.
func (l *loop) forget(j *jobState) {
	if l.predictions.seen != nil {
		l.predictions.seen[j.number] = seenUnits{Predicted: j.job.Predicted, Held: l.predictions.seen[j.number].Held[:0]}
		l.Online.Predictor.Forget(int(j.number))
	}
}

// foresee updates the prediction of a job after a report of its progress.
func (l *loop) foresee(j *jobState, p *Notice) {
	s := &l.predictions.seen[j.number]
	at := j.since
	if j.state == Running {
		// On a real clock, the report may be from before the present period of running.
		at = min(max(p.At, j.since, s.From), l.now)
		s.Add(at-max(j.since, s.From), j.grant.Cores.Count())
		s.From = at
	}
	past := l.ProgressModel.Past(j.job, l.doneBy(j, at)) // run time in this attempt up to the report
	left := l.Online.Predictor.Learn(int(j.number), p.Units-s.Units, p.Losses, s.Held)
	s.Units, s.Held = p.Units, s.Held[:0]
	if left < 0 {
		return
	}
	before := l.remaining(j)
	if j.state == Running {
		l.unexpect(j)
	}
	s.Predicted = max(Plus(past, left), 1) // 0 would mean no prediction
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

// Prediction of run times while jobs run.

// Online changes predictions when running jobs report their progress.
type Online struct {
	// Units is the number of epochs or steps of each job, by number; 0 for a job that does not report.
	Units []int
	// Predictor may have state, and is used for one run only.
	Predictor Predictor
}

// Predictor corrects the predicted run time of a job when it has finished units of its work.
type Predictor interface {
	// Learn records that a job has finished units more since the last call. losses are the losses that it reported,
	// and held its cores, both since then. It returns the remaining run time on the full request; a negative value
	// means unknown.
	Learn(job, units int, losses []Loss, held []Held) time.Duration
	// Forget records that a job has failed and will be restarted: its finished units are lost.
	Forget(job int)
}

// Held is a period in which a job held the same number of cores.
type Held struct {
	Time  time.Duration
	Cores int
}

// seenUnits has the finished units of a job and its prediction.
type seenUnits struct {
	Predicted time.Duration // for the whole job, on its full request
	Units     int           // finished units
	Held      []Held        // periods of running since the last report
	From      time.Duration // start of the part of the present period that is not in Held
}

// Add appends a period in which the job held the given number of cores.
func (s *seenUnits) Add(d time.Duration, cores int) {
	if last := len(s.Held) - 1; last >= 0 && s.Held[last].Cores == cores {
		s.Held[last].Time += max(d, 0)
	} else if d > 0 {
		s.Held = append(s.Held, Held{d, cores})
	}
}
