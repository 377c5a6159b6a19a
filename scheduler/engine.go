package scheduler

import (
	"context"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Engine carries the scheduler's decisions out. The arguments job are numbers of jobs in the cell.
//
// An error from Start means that this job could not be started: the scheduler records the job as failed and
// continues. An error from another method ends the run. If the job of the call has ended in the meantime, the engine
// returns nil, and reports the end through Next.
type Engine interface {
	Start(job int, grant cluster.Grant) error
	Pause(job int) error
	Resume(job int, grant cluster.Grant) error
	Resize(job int, grant cluster.Grant) error
	// Stop ends a job early. The job writes a checkpoint if it can. Next then reports its end.
	Stop(job int) error
	// Next waits until the engine has a notice or its clock reaches until, whichever comes first. It returns the
	// present instant, and the notices up to it in the order of CompareNotices. The slice is valid until the next
	// call. An engine with a virtual clock does not wait. Next returns ctx.Err() when the context is done.
	Next(ctx context.Context, until time.Duration) (now time.Duration, news []Notice, err error)
}

// Capabilities says which optional operations an engine supports.
type Capabilities struct {
	Pause  bool
	Resize bool
	Memory bool
	GPUs   bool
	// Migrate says that paused jobs can resume on other nodes.
	Migrate bool
}

// Migrator is an engine that can move paused jobs to other nodes or GPUs, and change the parts of running jobs. On
// other engines a job stays on the nodes on which it has started.
type Migrator interface {
	// Migrates reports whether paused jobs can resume on other nodes in this run, and whether they can resume with
	// other alternatives.
	Migrates() (nodes, alternatives bool)
	// Migrate resumes a paused job with a grant of other nodes or GPUs than before the pause, or for another
	// alternative.
	Migrate(job int, grant cluster.Grant) error
	// Reshape gives a running job the parts of a grant in place of its present parts. It ends parts that are not in
	// the grant, if they still run, and starts parts that are new in it.
	Reshape(job int, grant cluster.Grant) error
}

// Watcher is an engine that can report the progress of its jobs.
type Watcher interface {
	// Watch makes Next report progress. It is called before the first job starts; units is Online.Units. Next then
	// also returns when a job has finished its first unit, and each time its finished units have doubled. Whenever
	// Next returns, it gives the latest progress of each job that has made some.
	//
	// Reports become rarer because each further unit changes a prediction less: a job of a million units has twenty
	// reports.
	Watch(units []int)
}

// Simulator is an engine that computes what jobs would do, and therefore has their exact work.
type Simulator interface {
	// RemainingWork returns the remaining run time of all started jobs together, in seconds on their full requests.
	// It includes overheads that the jobs have still to spend. The scheduler uses it to detect a run in which no job
	// makes progress.
	RemainingWork() float64
	// Training returns the true speed of an elastic job; nil if it is not defined.
	Training(job int) Training
	// Sample makes a job that has just started end after the fraction part of its work. grant is the grant with which
	// it started. The job can then start again, with all of its work before it.
	Sample(job int, grant cluster.Grant, part float64) error
	// AnnounceStarts names the jobs that will probably start or resume at this instant to the engine, so that it can
	// prepare for them. Some of them may not start.
	AnnounceStarts(jobs []int32)
}

// Share implements ClusterActions.
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
