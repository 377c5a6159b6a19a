// Alternative has a run's records of the alternatives of its jobs: which of them the cluster
// can hold, and with which one each job has run.

package scheduler

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// chosenAlternatives is a run's record of alternatives; the zero value is for a run whose jobs have none.
type chosenAlternatives struct {
	possible [][]int32
	of       []alternativeState // by job
}

// alternativeState is the state of a job.
type alternativeState struct {
	kind   int32 // of GPU that its present alternative needs; 0 for any
	ran    int32 // the alternative with which it ran last
	memory int64 // memory on each of its nodes
}

// newChosenAlternatives determines which alternatives a cluster can hold.
func newChosenAlternatives(jobs []Job, c cluster.Cluster) chosenAlternatives {
	if !slices.ContainsFunc(jobs, func(j Job) bool { return len(j.Alternatives()) > 0 }) {
		return chosenAlternatives{}
	}
	s := chosenAlternatives{make([][]int32, len(jobs)), make([]alternativeState, len(jobs))}
	for i := range jobs {
		if len(jobs[i].Alternatives()) == 0 {
			s.possible[i] = only
		}
		for k := range jobs[i].Alternatives() {
			if jobs[i].DemandAs(k).FitsOn(c) {
				s.possible[i] = append(s.possible[i], int32(k))
			}
		}
	}
	return s
}

// Any reports whether any job of the run has alternatives.
func (s *chosenAlternatives) Any() bool { return s.of != nil }

// Possible returns the alternatives of a job that the cluster can hold.
func (s *chosenAlternatives) Possible(j int32) []int32 {
	if s.of == nil {
		return only
	}
	return s.possible[j]
}

// fastest returns the one of a job's alternatives with the shortest predicted run time, the earlier
// of equal ones.
func fastest(j *Job, among []int32) int32 {
	best := among[0]
	for _, k := range among[1:] {
		if x, y := j.Alternatives()[best].Predicted, j.Alternatives()[k].Predicted; y != 0 && (x == 0 || x > y) {
			best = k
		}
	}
	return best
}

// Kind returns the type of GPU that a job's chosen alternative needs; 0 for any.
func (s *chosenAlternatives) Kind(j int32) int32 {
	if s.of == nil {
		return 0
	}
	return s.of[j].kind
}

// SetKind sets the type of GPU that a job's chosen alternative needs.
func (s *chosenAlternatives) SetKind(j, kind int32) { s.of[j].kind = kind }

// Ran returns the alternative with which a job ran last, among the alternatives that are considered.
func (s *chosenAlternatives) Ran(j int32) int32 { return s.of[j].ran }

// Runs records the alternative with which a job runs from now on.
func (s *chosenAlternatives) Runs(j, alternative int32) {
	if s.of != nil {
		s.of[j].ran = alternative
	}
}

// Memory returns a job's memory on each of its nodes (bytes), where it differs from the need of
// its present alternative; ok is false in runs without alternatives.
func (s *chosenAlternatives) Memory(j int32) (bytes int64, ok bool) {
	if s.of == nil {
		return 0, false
	}
	return s.of[j].memory, true
}

// Takes records the memory that a job has on each of its nodes from now on.
func (s *chosenAlternatives) Takes(j int32, bytes int64) {
	if s.of != nil {
		s.of[j].memory = bytes
	}
}

// convertRemaining converts remaining time between alternatives. The first is predicted to take from in all,
// the second to; the remaining fraction stays the same. Without a prediction of the first, no work
// counts as done; without one of the second the result is the greatest duration.
func convertRemaining(left, from, to time.Duration) time.Duration {
	switch {
	case to == 0:
		return math.MaxInt64
	case from == 0 || left == from:
		return to
	case left == math.MaxInt64:
		return left
	}
	return time.Duration(math.Round(float64(left) / float64(from) * float64(to)))
}

// newAlternatives determines which alternatives the machine can hold. The run's jobs
// are copied, because each must have the request of its present alternative.
func (l *loop) newAlternatives() {
	if l.alternatives = newChosenAlternatives(l.Jobs, l.Cluster); !l.alternatives.Any() {
		return
	}
	l.ownJobs()
	for i := range l.jobs.Len() {
		l.adoptFastest(l.state(int32(i)))
	}
}

// choices returns the alternatives that a job can choose among. A job that has started, or has only its request, keeps
// its present alternative. A job that is to restart chooses again.
func (l *loop) choices(j *jobState) []int32 {
	if !l.alternatives.Any() {
		return only
	}
	if j.state != Pending && j.state != Queued {
		return []int32{j.alternative}
	}
	return l.alternatives.Possible(j.number)
}

// only is the choice of a job that has its request and no alternatives.
var only = []int32{0}

// choicesAnew returns choices, and the alternatives with which a paused (or pausable) job can resume, if its
// engine can change alternatives.
func (l *loop) choicesAnew(j *jobState) []int32 {
	if _, sample := l.predictions.samples[j.number]; !sample && l.fixed.switches && l.movable(j) && !j.yields {
		return l.alternatives.Possible(j.number)
	}
	return l.choices(j)
}

// adopt makes an alternative the chosen one of a job.
func (l *loop) adopt(j *jobState, alternative int32) {
	if !l.alternatives.Any() || len(j.job.Alternatives()) == 0 {
		return
	}
	job := j.job
	a := &job.Alternatives()[alternative]
	job.Threads, job.GPUs, job.Memory, job.Predicted = a.Threads, a.GPUs, a.Memory, a.Predicted
	j.request, j.asked, j.alternative = int32(a.Threads), int32(a.Threads), alternative
	l.alternatives.SetKind(j.number, l.machine.KindOf(a.GPU))
	if l.predictions.seen != nil && (j.state == Pending || j.state == Queued) {
		l.predictions.seen[j.number].Predicted = a.Predicted
	}
}

// adoptFastest adopts the alternative with the shortest predicted run time, by which a
// job that waits is ordered.
func (l *loop) adoptFastest(j *jobState) {
	if l.alternatives.Any() {
		l.adopt(j, fastest(j.job, l.choices(j)))
	}
}

// turned reports whether a running or paused job is looked at with another alternative than that with which it ran
// last.
func (l *loop) turned(j *jobState) bool {
	return (j.state == Running || j.state == Paused) && l.alternatives.Any() &&
		l.alternatives.Ran(j.number) != j.alternative
}

// asRan returns f of a job with its last alternative, converted to its present alternative.
func (l *loop) asRan(j *jobState, f func(j *jobState) time.Duration) time.Duration {
	now, ran := j.alternative, l.alternatives.Ran(j.number)
	l.adopt(j, ran)
	d := f(j)
	l.adopt(j, now)
	return convertRemaining(d, j.job.Alternatives()[ran].Predicted, j.job.Predicted)
}

// turn lets a job continue with its present alternative: its finished fraction stays the same.
func (l *loop) turn(j *jobState) {
	job, now := j.job, j.alternative
	predicted, left, before := l.predicted(j), l.remaining(j), l.doneBy(j, l.now)
	l.alternatives.Runs(j.number, now)
	if l.predictions.seen != nil {
		l.predictions.seen[j.number].Predicted = predicted
	}
	done := l.ProgressModel.Done(job, job.Threads, max(predicted-left, 0))
	base := convertRemaining(l.predictions.done.Base(j.number), max(before, 1), max(done, 1))
	l.predictions.done.Set(j.number, done, base, j.coreTime)
}

// heldUp reports whether a waiting job could not start, with any alternative, even if all
// running jobs had ended: paused jobs keep the memory that it needs, and they
// come after it in the order.
func (l *loop) heldUp(j *jobState) bool {
	for _, k := range l.choices(j) {
		l.adopt(j, k)
		if !l.heldUpAs(j) {
			return false
		}
	}
	return true
}

// whyNot says why a waiting job cannot start now, with each of its alternatives, and
// the missing resources, if that is the reason in all of them.
func (l *loop) whyNot(j *jobState) (why string, lacks []cluster.Lack) {
	if l.policy.explainer != nil {
		return l.policy.explainer.Why(l, j.number), nil
	}
	choices, now := l.choices(j), j.alternative
	var parts []string
	for _, k := range choices {
		l.adopt(j, k)
		part, lack := l.whyNotAs(j)
		if name := j.job.As(k).Name; name != "" && j.state != Paused {
			part = name + ": " + part
		}
		parts, lacks = append(parts, part), append(lacks, lack...)
	}
	l.adopt(j, now)
	if len(lacks) < len(choices) {
		lacks = nil
	}
	return strings.Join(parts, "; "), lacks
}
