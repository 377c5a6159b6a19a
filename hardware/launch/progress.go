// Progress turns the output of running jobs into reports of their progress, and
// waits for these and for the jobs' ends. The engines on a real clock share it:
// the output of their jobs passes through it on its way to the logs.

package launch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// ProgressListener receives the progress lines of jobs as they come, and their other news (see
// contract.Progress.News), with the instant at which they were read, from several goroutines.
type ProgressListener func(job int, at time.Duration, p contract.Progress)

// ProgressWarner receives warnings about the sources of a job's progress or
// about its parts: a code and a sentence each, from several goroutines.
type ProgressWarner func(job int, code, text string)

// ProgressSource is a way in which programs report their progress besides the lines of the job contract. It is in tasks
// that are written down: encoding/gob knows its type.
type ProgressSource interface {
	// Reader returns the reader of the next attempt of a job; before is the one of the attempt before, nil for the first.
	Reader(j *Job, before *ProgressReader) *ProgressReader
}

// ProgressReader finds the progress of an attempt. Fields may be nil.
type ProgressReader struct {
	// Output takes the next piece of the program's output, and reports the progress in it, with the instant at which it was
	// made.
	Output func(piece []byte, tell func(p contract.Progress, made time.Time))
	// Poll looks for progress elsewhere since its last call. It calls tell with the instant at which it was made, and
	// warn with the code and the text of a warning.
	Poll func(tell func(p contract.Progress, made time.Time), warn func(code, text string))
	// Finished is called after the last piece of output and the last Poll of an attempt that did all of its work. It reports
	// what only the end of the program shows, and warns of missing progress.
	Finished func(tell func(p contract.Progress, made time.Time), warn func(code, text string))
}

// ProgressBoard holds the reports of the jobs of an engine. An engine embeds
// it, and so implements scheduler.Watcher. Its methods may be called from
// several goroutines, but Watch only before a job starts.
type ProgressBoard struct {
	now    func() time.Duration
	wake   chan struct{}
	listen ProgressListener
	units  []int  // by job; nil when nobody watches
	follow []bool // by job, whether each report is a separate notice; nil if no job's is
	warn   ProgressWarner
	// oneClock says that jobs have the clock of this process: they run on this machine.
	oneClock bool

	mu    sync.Mutex              // guards what follows
	found map[int]*ProgressReader // by job: the reader of its last attempt
	ready bool
	news  []scheduler.Notice // of progress, not yet returned by reports
}

// NewProgressBoard returns a board on the clock of an engine. wake, which has room
// for one element, is given one when Ready has turned true. listen and warn may be
// nil.
func NewProgressBoard(now func() time.Duration, wake chan struct{}, listen ProgressListener, warn ProgressWarner) *ProgressBoard {
	return &ProgressBoard{now: now, wake: wake, listen: listen, warn: warn, found: map[int]*ProgressReader{}}
}

// reader returns the reader of the next attempt of a job.
func (b *ProgressBoard) reader(job int, j *Job) *ProgressReader {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.found[job] = j.Progress.Reader(j, b.found[job])
	return b.found[job]
}

// OneClock says that jobs run on this machine, so that the times in their lines are ours. It is called before a job
// starts.
func (b *ProgressBoard) OneClock() { b.oneClock = true }

// Watch implements scheduler.Watcher. A job whose output is discarded reports
// nothing.
func (b *ProgressBoard) Watch(units []int) { b.units = units }

// Attend asks for a notice of every report of the jobs for which it is true; see
// scheduler.Reconfigurer. It is called before a job starts.
func (b *ProgressBoard) Attend(jobs []bool) { b.follow = jobs }

// reports returns the latest progress of each job that reported since the last call. Its time is the instant at which
// its line was read, some milliseconds after it was printed.
func (b *ProgressBoard) reports() []scheduler.Notice {
	b.mu.Lock()
	defer b.mu.Unlock()
	news := b.news
	b.news = nil
	return news
}

// Ready reports whether Next is to return since a job's units have doubled; the
// same news make it true once.
func (b *ProgressBoard) Ready() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	ready := b.ready
	b.ready = false
	return ready
}

// Await is the Next of an engine on a real clock: it waits until jobs have ended,
// Ready turns true, the clock reaches until, or the context is done. take is
// asked, at each wake-up, for the present instant, notices of the jobs that have
// ended since it was last asked, and how many run. Jobs that have ended come before
// a context that is done. It is an error to wait without end when no job runs.
func (b *ProgressBoard) Await(ctx context.Context, until time.Duration,
	take func() (now time.Duration, ended []scheduler.Notice, alive int)) (time.Duration, []scheduler.Notice, error) {
	var timeout <-chan time.Time
	if until != scheduler.Never {
		timer := time.NewTimer(until - b.now())
		defer timer.Stop()
		timeout = timer.C
	}
	for {
		ready := b.Ready() // before now is read, so that no report is later
		now, ended, alive := take()
		if len(ended) > 0 {
			return now, b.withReports(ended, now), nil
		}
		if err := ctx.Err(); err != nil {
			return now, nil, err
		}
		if now >= until || ready {
			return now, b.withReports(nil, now), nil
		}
		if timeout == nil && alive == 0 {
			return now, nil, errors.New("wait for jobs: none is running")
		}
		select {
		case <-b.wake:
		case <-timeout:
		case <-ctx.Done():
		}
	}
}

// withReports adds the progress up to now to notices, and sorts them.
func (b *ProgressBoard) withReports(news []scheduler.Notice, now time.Duration) []scheduler.Notice {
	for _, r := range b.reports() {
		r.At = min(r.At, now)
		news = append(news, r)
	}
	slices.SortStableFunc(news, scheduler.CompareNotices) // reports of a job stay in their order
	return news
}

// add replaces the job's last report, which no one has read yet, by a new one that has the losses of both.
func (b *ProgressBoard) add(r scheduler.Notice, ready bool) {
	b.mu.Lock()
	if i := slices.IndexFunc(b.news, func(p scheduler.Notice) bool {
		return p.Job == r.Job && p.Progress == nil
	}); i >= 0 && r.Progress == nil {
		r.Losses = append(b.news[i].Losses, r.Losses...)
		b.news[i] = r
	} else {
		b.news = append(b.news, r)
	}
	b.ready = b.ready || ready
	b.mu.Unlock()
	if ready {
		select {
		case b.wake <- struct{}{}:
		default:
		}
	}
}

var _ scheduler.Watcher = (*ProgressBoard)(nil)
