// Alternative has what a run knows of the alternatives of its jobs: which of them the cluster
// can hold, and with which one each job has run.

package scheduler

import (
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Set is what a run knows of them; the zero value is that of a run whose jobs have none.
type Alternatives struct {
	possible [][]int32
	of       []state // by job
}

// state is that of a job.
type state struct {
	kind   int32 // of GPU that its present alternative needs; 0 for any
	ran    int32 // the alternative with which it ran last
	memory int64 // what it has of each of its nodes
}

// New finds out which alternatives a cluster can hold.
func NewAlternatives(jobs []Job, c cluster.Cluster) Alternatives {
	if !slices.ContainsFunc(jobs, func(j Job) bool { return len(j.Alternatives()) > 0 }) {
		return Alternatives{}
	}
	s := Alternatives{make([][]int32, len(jobs)), make([]state, len(jobs))}
	for i := range jobs {
		for k := range jobs[i].Alternatives() {
			if jobs[i].DemandAs(k).FitsOn(c) {
				s.possible[i] = append(s.possible[i], int32(k))
			}
		}
	}
	return s
}

// Any reports whether any job of the run has alternatives.
func (s *Alternatives) Any() bool { return s.of != nil }

// Possible returns the alternatives of a job that the cluster can hold; none for a job without any.
func (s *Alternatives) Possible(j int32) []int32 {
	if s.of == nil {
		return nil
	}
	return s.possible[j]
}

// Fastest returns the one of a job's alternatives with the shortest predicted run time, the earlier
// of equal ones.
func Fastest(j *Job, among []int32) int32 {
	best := among[0]
	for _, k := range among[1:] {
		if x, y := j.Alternatives()[best].Predicted, j.Alternatives()[k].Predicted; y != 0 && (x == 0 || x > y) {
			best = k
		}
	}
	return best
}

// Kind returns the type of GPU that the alternative needs with which a job is looked at; 0 for any.
func (s *Alternatives) Kind(j int32) int32 {
	if s.of == nil {
		return 0
	}
	return s.of[j].kind
}

// SetKind sets it.
func (s *Alternatives) SetKind(j, kind int32) { s.of[j].kind = kind }

// Ran returns the alternative with which a job ran last, of those with which it is looked at.
func (s *Alternatives) Ran(j int32) int32 { return s.of[j].ran }

// Runs notes with which alternative a job runs from now on.
func (s *Alternatives) Runs(j, alternative int32) {
	if s.of != nil {
		s.of[j].ran = alternative
	}
}

// Memory returns what a job has of each of its nodes (bytes), where that is not what it needs by
// the alternative with which it is looked at; ok is false in runs without alternatives.
func (s *Alternatives) Memory(j int32) (bytes int64, ok bool) {
	if s.of == nil {
		return 0, false
	}
	return s.of[j].memory, true
}

// Takes notes how much memory a job has of each of its nodes from now on.
func (s *Alternatives) Takes(j int32, bytes int64) {
	if s.of != nil {
		s.of[j].memory = bytes
	}
}

// Convert returns what a run time that is left with an alternative which is predicted to take from in
// all comes to with one that is predicted to take to: the same part of the whole. Without a
// prediction of the first, nothing is known to be done; without one of the second it is the greatest
// duration.
func ConvertRemaining(left, from, to time.Duration) time.Duration {
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
