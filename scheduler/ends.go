package scheduler

import "github.com/tfexp/tfexp/scheduler/queue"

// expect notes when a running job is expected to end.
func (l *loop) expect(j int32) {
	if !l.rules.Ends {
		return
	}
	f := l.life(j)
	f.end = l.now + min(l.length(j, int32(f.grant.Cores.Count())), Never-l.now)
	l.ends = queue.InsertSorted(l.ends, queue.Timer{At: f.end, Of: j}, queue.CompareTimers)
}

func (l *loop) unexpect(j int32) {
	if !l.rules.Ends {
		return
	}
	l.ends = queue.DeleteSorted(l.ends, queue.Timer{At: l.life(j).end, Of: j}, queue.CompareTimers)
}
