// This file records the alternatives of the jobs of a run: which of them the cluster can hold, and with which one
// each job ran last.

package scheduler

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// chosenAlternatives is the record of alternatives in a run. It is empty if no job has alternatives.
type chosenAlternatives struct {
	possible [][]int32
	of       []alternativeState // indexed by job
}

// alternativeState is the part of a job's state that depends on its alternatives.
type alternativeState struct {
	kind   int32 // type of GPU that its present alternative needs; 0 for any type
	ran    int32 // index of the alternative with which it ran last
	memory int64 // bytes on each of its nodes
}

// newChosenAlternatives finds the alternatives of each job that the cluster has room for.
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

// Possible returns the alternatives of a job that the cluster has room for, as indexes.
func (s *chosenAlternatives) Possible(j int32) []int32 {
	if s.of == nil {
		return only
	}
	return s.possible[j]
}

// fastest returns the alternative with the shortest predicted run time, among the given indexes; of equal ones, the
// first.
func fastest(j *Job, among []int32) int32 {
	best := among[0]
	for _, k := range among[1:] {
		if x, y := j.Alternatives()[best].Predicted, j.Alternatives()[k].Predicted; y != 0 && (x == 0 || x > y) {
			best = k
		}
	}
	return best
}

// Kind returns the type of GPU that a job's present alternative needs; 0 for any type.
func (s *chosenAlternatives) Kind(j int32) int32 {
	if s.of == nil {
		return 0
	}
	return s.of[j].kind
}

// SetKind sets the type of GPU that a job's present alternative needs.
func (s *chosenAlternatives) SetKind(j, kind int32) { s.of[j].kind = kind }

// Ran returns the alternative with which a job ran last.
func (s *chosenAlternatives) Ran(j int32) int32 { return s.of[j].ran }

// Runs records the alternative with which a job starts or resumes.
func (s *chosenAlternatives) Runs(j, alternative int32) {
	if s.of != nil {
		s.of[j].ran = alternative
	}
}

// Memory returns the bytes that a job holds on each of its nodes. They can differ from the need of its present
// alternative. ok is false if no job of the run has alternatives.
func (s *chosenAlternatives) Memory(j int32) (bytes int64, ok bool) {
	if s.of == nil {
		return 0, false
	}
	return s.of[j].memory, true
}

// Takes records the bytes that a job now holds on each of its nodes.
func (s *chosenAlternatives) Takes(j int32, bytes int64) {
	if s.of != nil {
		s.of[j].memory = bytes
	}
}

// convertRemaining converts a job's remaining time from one alternative to another. from and to are the predicted
// run times of the whole job with each. The remaining fraction stays the same. If from is 0 (unknown), the result is
// to; if to is 0, the result is the greatest duration.
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

// newAlternatives finds the alternatives that the machine has room for. It copies the run's jobs, because a job's
// request changes with its alternative.
func (l *loop) newAlternatives() {
	if l.alternatives = newChosenAlternatives(l.Jobs, l.Cluster); !l.alternatives.Any() {
		return
	}
	l.ownJobs()
	for i := range l.jobs.Len() {
		l.adoptFastest(l.state(int32(i)))
	}
}

// choices returns the alternatives with which a job may start, as indexes. A job that has started keeps its present
// alternative. A job that is restarted chooses again.
func (l *loop) choices(j *jobState) []int32 {
	if !l.alternatives.Any() {
		return only
	}
	if j.state != Pending && j.state != Queued {
		return []int32{j.alternative}
	}
	return l.alternatives.Possible(j.number)
}

// only is the result of choices for a job without alternatives.
var only = []int32{0}

// choicesAnew returns the alternatives with which a job may start, or resume after a pause. Only some engines can
// resume a job with another alternative.
func (l *loop) choicesAnew(j *jobState) []int32 {
	if _, sample := l.predictions.samples[j.number]; !sample && l.fixed.switches && l.movable(j) && !j.yields {
		return l.alternatives.Possible(j.number)
	}
	return l.choices(j)
}

// adopt gives a job the request and the prediction of an alternative.
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

// adoptFastest gives a waiting job the alternative with the shortest predicted run time. Orders rank the job by it.
func (l *loop) adoptFastest(j *jobState) {
	if l.alternatives.Any() {
		l.adopt(j, fastest(j.job, l.choices(j)))
	}
}

// turned reports whether the present alternative of a running or paused job differs from its last alternative.
func (l *loop) turned(j *jobState) bool {
	return (j.state == Running || j.state == Paused) && l.alternatives.Any() &&
		l.alternatives.Ran(j.number) != j.alternative
}

// asRan computes f with the alternative with which the job ran last, and converts the result to the present
// alternative.
func (l *loop) asRan(j *jobState, f func(j *jobState) time.Duration) time.Duration {
	now, ran := j.alternative, l.alternatives.Ran(j.number)
	l.adopt(j, ran)
	d := f(j)
	l.adopt(j, now)
	return convertRemaining(d, j.job.Alternatives()[ran].Predicted, j.job.Predicted)
}

// turn records that a job resumes with its present alternative. The finished fraction of its work stays the same.
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

// heldUp reports whether a waiting job could not start with any alternative even if all running jobs ended, because
// paused jobs behind it in the order keep the memory that it needs.
func (l *loop) heldUp(j *jobState) bool {
	for _, k := range l.choices(j) {
		l.adopt(j, k)
		if !l.heldUpAs(j) {
			return false
		}
	}
	return true
}

// whyNot says why a waiting job cannot start now with any of its alternatives. lacks has the missing resources; it
// is nil if any alternative has another reason.
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
