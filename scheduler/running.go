package scheduler

import (
	"cmp"

	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// runningJobs has the running jobs, and lists of some of them.
type runningJobs struct {
	all       []int32
	malleable []int32       // jobs that can be resized, by first start, then number
	victims   victimList    // jobs that can be paused; used only if the policy pauses jobs for others
	resizing  []int32       // jobs with a new request, in the order of the requests
	ends      []queue.Timer // expected ends, ascending; used only if the policy has reservations
	mates     cluster.Mates // pairs of jobs that share GPUs
}

// enter adds a job to the running jobs, and leave removes it.
func (l *loop) enter(j *jobState) {
	j.slot = int32(len(l.running.all))
	l.running.all = append(l.running.all, j.number)
	l.offerVictim(j)
	if l.resizable(j) {
		l.running.malleable = queue.InsertSorted(l.running.malleable, j.number, l.byFirstStart)
	}
	l.expect(j)
}

func (l *loop) leave(j *jobState) {
	last := l.running.all[len(l.running.all)-1]
	l.running.all[j.slot] = last
	l.open(last).slot = j.slot
	l.running.all = l.running.all[:len(l.running.all)-1]
	l.withdrawVictim(j)
	if l.resizable(j) {
		l.running.malleable = queue.DeleteSorted(l.running.malleable, j.number, l.byFirstStart)
	}
	l.unexpect(j)
}

func (l *loop) byFirstStart(a, b int32) int {
	return cmp.Or(cmp.Compare(l.state(a).first, l.state(b).first), cmp.Compare(a, b))
}

// resizable reports whether a job can be resized while it runs. Jobs on several nodes cannot.
func (l *loop) resizable(j *jobState) bool {
	return !j.plain && j.job.Malleable && j.job.Nodes <= 1
}
