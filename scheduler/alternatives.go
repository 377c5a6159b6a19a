package scheduler

import (
	"slices"
	"strings"

	"github.com/tfexp/tfexp/scheduler/queue"
)

// alternatives are what a run knows of them; the zero value is that of a run
// whose jobs have none.
type alternatives struct {
	possible [][]int32 // by job, the alternatives that some nodes can hold
	kinds    []int32   // by job, the type of GPU that its present alternative needs; 0 for any
}

// newAlternatives finds out which alternatives the machine can hold. The run's jobs are
// copied, for each is to have the request of the alternative that is looked at.
func (l *loop) newAlternatives() {
	if !slices.ContainsFunc(l.Jobs, func(j Job) bool { return len(j.Alternatives) > 0 }) {
		return
	}
	l.Jobs = append([]Job(nil), l.Jobs...)
	l.alternatives = alternatives{make([][]int32, len(l.Jobs)), make([]int32, len(l.Jobs))}
	for i := range l.Jobs {
		job := &l.Jobs[i]
		for k := range job.Alternatives {
			if job.DemandAs(k).FitsOn(l.Cluster) {
				l.alternatives.possible[i] = append(l.alternatives.possible[i], int32(k))
			}
		}
		if len(l.alternatives.possible[i]) > 0 {
			l.adoptFastest(int32(i))
		}
	}
}

// choices returns the alternatives that a job can still choose among: none for
// a job that has none, or that has started. One that is to start anew chooses
// again.
func (l *loop) choices(j int32) []int32 {
	if l.alternatives.possible == nil || l.lives[j].state != Pending && l.lives[j].state != Queued {
		return nil
	}
	return l.alternatives.possible[j]
}

// adopt makes an alternative the one with which a job is looked at from now on.
func (l *loop) adopt(j, alternative int32) {
	job, f := &l.Jobs[j], &l.lives[j]
	a := &job.Alternatives[alternative]
	job.Threads, job.GPUs, job.Memory, job.Predicted = a.Threads, a.GPUs, a.Memory, a.Predicted
	f.request, f.asked, f.alternative = int32(a.Threads), int32(a.Threads), alternative
	l.alternatives.kinds[j] = l.machine.KindOf(a.GPU)
	if l.seen != nil {
		l.seen[j].Predicted = a.Predicted
	}
}

// adoptFastest adopts the alternative with the shortest predicted run time, by which a
// job that waits is ordered.
func (l *loop) adoptFastest(j int32) {
	choices := l.choices(j)
	if len(choices) == 0 {
		return
	}
	best := choices[0]
	for _, k := range choices[1:] {
		if l.longer(j, best, k) {
			best = k
		}
	}
	l.adopt(j, best)
}

// longer reports whether a job is predicted to take longer with alternative a than
// with b.
func (l *loop) longer(j, a, b int32) bool {
	x, y := l.Jobs[j].Alternatives[a].Predicted, l.Jobs[j].Alternatives[b].Predicted
	return y != 0 && (x == 0 || x > y)
}

// leastOf returns the least that a waiting job with alternatives can start with.
func (l *loop) leastOf(j int32, choices []int32) queue.Ask {
	now := int32(l.lives[j].alternative)
	least := queue.AnyAsk
	for _, k := range choices {
		l.adopt(j, k)
		need, _ := l.Jobs[j].Needs(l.lives[j].request)
		least = queue.Ask{Cores: min(least.Cores, need.Cores), Length: min(least.Length, l.remaining(j))}
	}
	l.adopt(j, now)
	return least
}

// heldUp reports whether a waiting job could not start, with any alternative, even if all
// running jobs had ended: paused jobs keep the memory that it needs, and they
// come after it in the order.
func (l *loop) heldUp(j int32) bool {
	choices := l.choices(j)
	if len(choices) == 0 {
		return l.heldUpAs(j)
	}
	for _, k := range choices {
		l.adopt(j, k)
		if !l.heldUpAs(j) {
			return false
		}
	}
	return true
}

// whyNot says why a waiting job cannot start now, with each of its alternatives, and
// what it lacks, if it is that in all of them.
func (l *loop) whyNot(j int32) (why string, lacks []Lack) {
	if l.explainer != nil {
		return l.explainer.Why(l, j), nil
	}
	choices := l.choices(j)
	if len(choices) == 0 {
		return l.whyNotAs(j)
	}
	now := int32(l.lives[j].alternative)
	var parts []string
	for _, k := range choices {
		l.adopt(j, k)
		part, lack := l.whyNotAs(j)
		parts, lacks = append(parts, l.Jobs[j].Alternatives[k].Name+": "+part), append(lacks, lack...)
	}
	l.adopt(j, now)
	if len(lacks) < len(choices) {
		lacks = nil
	}
	return strings.Join(parts, "; "), lacks
}
