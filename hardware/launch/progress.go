// This file turns the output of running jobs into reports of progress, and waits for reports and for ends of jobs.
// The engines that run programs share it.

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

// ProgressListener is called with the progress lines of jobs and their other news (contract.Progress.News), and the
// instant at which the line was read. Several goroutines may call it at once.
type ProgressListener func(job int, at time.Duration, p contract.Progress)

// ProgressWarner is called with warnings about sources of progress, or about parts of a job: a code and a sentence.
// Several goroutines may call it at once.
type ProgressWarner func(job int, code, text string)

// ProgressSource is a way to report progress, in addition to lines of the job contract. Its types must be registered
// with encoding/gob, because tasks are encoded.
type ProgressSource interface {
	// Reader returns the reader for the next attempt of a job. before is the reader of the previous attempt; nil for
	// the first.
	Reader(j *Job, before *ProgressReader) *ProgressReader
}

// ProgressReader reads the progress of one attempt. Each function may be nil.
type ProgressReader struct {
	// Output is called with the next piece of output. It reports each progress in it by tell, with the instant of the
	// progress.
	Output func(piece []byte, tell func(p contract.Progress, made time.Time))
	// Poll reads progress from other sources since its last call. It reports each progress and its instant by tell,
	// and warnings by warn.
	Poll func(tell func(p contract.Progress, made time.Time), warn func(code, text string))
	// Finished is called after all output and the last Poll of an attempt that did all of its work. It reports
	// progress that only the end shows, and warns of missing progress.
	Finished func(tell func(p contract.Progress, made time.Time), warn func(code, text string))
}

// ProgressBoard keeps the reports of an engine's jobs until Next returns them. An engine embeds it, and so
// implements scheduler.Watcher. Several goroutines may call its methods. Watch must be called before the first job
// starts.
type ProgressBoard struct {
	now    func() time.Duration
	wake   chan struct{}
	listen ProgressListener
	units  []int  // by job; nil if Watch was not called
	follow []bool // by job, whether each report is a separate notice; nil if no job's is
	warn   ProgressWarner
	// oneClock says that jobs run on this machine, and so have the clock of this process.
	oneClock bool

	mu    sync.Mutex              // guards the fields below
	found map[int]*ProgressReader // by job, the reader of its last attempt
	ready bool
	news  []scheduler.Notice // notices that reports has not returned yet
}

// NewProgressBoard returns a board. now returns the time on the engine's clock. When Ready becomes true, a value is
// sent to wake, which must have a buffer of one. listen and warn may be nil.
func NewProgressBoard(now func() time.Duration, wake chan struct{}, listen ProgressListener, warn ProgressWarner) *ProgressBoard {
	return &ProgressBoard{now: now, wake: wake, listen: listen, warn: warn, found: map[int]*ProgressReader{}}
}

// reader returns the reader for the next attempt of a job.
func (b *ProgressBoard) reader(job int, j *Job) *ProgressReader {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.found[job] = j.Progress.Reader(j, b.found[job])
	return b.found[job]
}

// OneClock says that jobs run on this machine, so that times in their lines are on our clock. It is called before a
// job starts.
func (b *ProgressBoard) OneClock() { b.oneClock = true }

// Watch implements scheduler.Watcher. A job whose output is discarded reports nothing.
func (b *ProgressBoard) Watch(units []int) { b.units = units }

// Attend implements engine.Changer.
func (b *ProgressBoard) Attend(jobs []bool) { b.follow = jobs }

// reports returns the latest progress of each job that has reported since the last call. Its instant is when the
// line was read, some milliseconds after it was printed.
func (b *ProgressBoard) reports() []scheduler.Notice {
	b.mu.Lock()
	defer b.mu.Unlock()
	news := b.news
	b.news = nil
	return news
}

// Ready reports whether Next should return because the finished units of a job have doubled. It returns true once
// for each such report.
func (b *ProgressBoard) Ready() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	ready := b.ready
	b.ready = false
	return ready
}

// Await implements Next for an engine with a real clock. It waits until jobs have ended, Ready is true, the clock
// reaches until, or the context is done. At each wake-up it calls take, which returns the present instant, notices
// of jobs that have ended since the last call, and the number of running jobs. Ends of jobs are returned before the
// error of the context. It is an error to wait without end while no job runs.
func (b *ProgressBoard) Await(ctx context.Context, until time.Duration,
	take func() (now time.Duration, ended []scheduler.Notice, alive int)) (time.Duration, []scheduler.Notice, error) {
	var timeout <-chan time.Time
	if until != scheduler.Never {
		timer := time.NewTimer(until - b.now())
		defer timer.Stop()
		timeout = timer.C
	}
	for {
		ready := b.Ready() // before now is read, so that no report is later than now
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
			return now, nil, errors.New("wait for jobs: no job is running")
		}
		select {
		case <-b.wake:
		case <-timeout:
		case <-ctx.Done():
		}
	}
}

// withReports adds reports of progress up to now to notices, and sorts them.
func (b *ProgressBoard) withReports(news []scheduler.Notice, now time.Duration) []scheduler.Notice {
	for _, r := range b.reports() {
		r.At = min(r.At, now)
		news = append(news, r)
	}
	slices.SortStableFunc(news, scheduler.CompareNotices) // a stable sort keeps the order of a job's reports
	return news
}

// add replaces the last report of a job, if it has not been returned yet. The new report keeps the losses of both.
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
