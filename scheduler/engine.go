package scheduler

import (
	"context"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Engine carries decisions out. Job numbers are the numbers in the cell.
//
// An error from Start means that this job could not be started; the loop
// records the job as failed and continues. An error from the other methods
// ends the run, unless the job has ended in the meantime, which an engine
// reports by returning nil and a notice of the end through Next.
type Engine interface {
	Start(job int, grant cluster.Grant) error
	Pause(job int) error
	Resume(job int, grant cluster.Grant) error
	Resize(job int, grant cluster.Grant) error
	// Stop ends a job for good: it checkpoints if it can, and notice of its end follows.
	Stop(job int) error
	// Next waits until there is a notice or the engine's clock has reached
	// until, whichever comes first. It returns the present instant and the
	// notices up to it, in the order of CompareNotices; the slice is valid
	// until the next call. A virtual engine jumps there. It returns ctx.Err()
	// when the context is done first.
	Next(ctx context.Context, until time.Duration) (now time.Duration, news []Notice, err error)
}

// Capabilities describes the optional powers of an engine.
type Capabilities struct {
	Pause  bool
	Resize bool
	Memory bool
	GPUs   bool
	// Migrate lets paused jobs resume on other nodes.
	Migrate bool
}

// Migrator is an engine that can let started jobs continue with other cores, GPUs and parts. Jobs on other engines are
// bound to the nodes on which they have started.
type Migrator interface {
	// Migrates reports whether paused jobs can resume on other nodes in this run, and with other alternatives.
	Migrates() (nodes, alternatives bool)
	// Migrate is Resume with a grant on other nodes than before the pause, with
	// other GPUs, or for another alternative.
	Migrate(job int, grant cluster.Grant) error
	// Reshape lets a running job continue with the parts of a grant. Parts that are
	// not in the grant are gone, or ended now; new parts are started in addition to
	// the others.
	Reshape(job int, grant cluster.Grant) error
}

// Watcher is an engine that can give notice of the progress of its jobs.
type Watcher interface {
	// Watch asks for notices of progress, before the first job starts; units is
	// as in Online. From then on Next also returns when a job has finished its
	// first unit, and each time that its finished units have doubled. A unit
	// adds less information the more there are, and a job of a million units is
	// looked at twenty times. Whenever Next returns, it gives the latest
	// progress of each job that has made some.
	Watch(units []int)
}

// Simulator is an engine that knows the work of its jobs.
type Simulator interface {
	// RemainingWork returns the run time in seconds, on their full requests, that all jobs which have
	// started and not ended have left together. Overheads that are charged to them count. It
	// serves to detect a run in which no job gets nearer to its end.
	RemainingWork() float64
	// Training returns the known speed of an elastic job; nil if it has none.
	Training(job int) Training
	// Sample makes a job that has just started, with a grant, end after a part of its work. It can be started again
	// then, and has all of its work before it.
	Sample(job int, grant cluster.Grant, part float64) error
	// AnnounceStarts announces jobs that will probably start or resume at this instant. They need not.
	AnnounceStarts(jobs []int32)
}

// Share implements Actions.
func (l *loop) Share(number, with int32, nodes []int32, why string) error {
	j := l.state(number)
	need, _ := l.needs(j, j.request)
	g, err := l.machine.Beside(l.state(with).grant, cluster.Beside{Job: int(with), Name: l.job(with).Name}, nodes, need)
	if err != nil {
		return err
	}
	g.Alternative = int(j.alternative)
	if err = l.startWith(j, j.request, g, why); err == nil && j.state == Running {
		l.running.mates.Join(number, with)
	}
	return err
}
