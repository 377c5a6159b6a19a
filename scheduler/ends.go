package scheduler

import (
	"slices"

	"github.com/tfexp/tfexp/scheduler/queue"
)

// expect notes when a running job is expected to end.
func (l *loop) expect(j int32) {
	if !l.rules.Ends {
		return
	}
	f := &l.lives[j]
	f.end = Never
	if d := l.length(j, int32(f.grant.Cores.Count())); d < Never-l.now {
		f.end = l.now + d
	}
	i, _ := slices.BinarySearchFunc(l.ends, queue.Timer{At: f.end, Of: j}, queue.CompareTimers)
	l.ends = slices.Insert(l.ends, i, queue.Timer{At: f.end, Of: j})
}

func (l *loop) unexpect(j int32) {
	if !l.rules.Ends {
		return
	}
	i, _ := slices.BinarySearchFunc(l.ends, queue.Timer{At: l.lives[j].end, Of: j}, queue.CompareTimers)
	l.ends = slices.Delete(l.ends, i, i+1)
}
