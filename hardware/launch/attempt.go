package launch

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/control"
)

// ProgressAttempt receives the progress of one attempt of a job, from its output and from other sources.
// ProgressBoard.Follow returns it.
type ProgressAttempt struct {
	board *ProgressBoard
	job   int
	place string // where the job is in the file, for messages
	steps bool   // the job's work is in steps, not epochs
	units int    // total units of the job; 0 if nobody needs reports of progress
	tail  contract.Tail
	other ProgressReader // reads progress from other sources; may be nil
	stop  chan struct{}
	read  sync.WaitGroup
	// meeting checks whether the parts of the job connect; nil for a job without parts.
	meeting *meeting

	mu         sync.Mutex // guards the fields below, and the order of the notices
	done, next int        // done units were reported; at next units, Ready becomes true
	// delay is the shortest time so far from the printing of a line to its reading. It includes the difference
	// between the clocks of program and engine.
	delay         time.Duration
	took, refused []control.Setting
}

// Follow returns the receiver for the next attempt of a job.
func (b *ProgressBoard) Follow(job int, j *Job) *ProgressAttempt {
	a := &ProgressAttempt{board: b, job: job, place: j.Place, steps: j.Steps, next: 1, delay: math.MaxInt64}
	if b.oneClock {
		a.delay = 0
	}
	if job < len(b.units) {
		a.units = b.units[job]
	}
	if j.Progress != nil && a.wanted() {
		a.other = *b.reader(job, j)
	}
	return a
}

// wanted reports whether anything needs the reports.
func (a *ProgressAttempt) wanted() bool { return a.units > 0 || a.board.listen != nil || a.followed() }

// followed reports whether every report becomes a separate notice.
func (a *ProgressAttempt) followed() bool {
	return a.job < len(a.board.follow) && a.board.follow[a.job]
}

// Output returns the function to call with each piece of the attempt's output, by one goroutine at a time. It is nil
// if nothing needs the output.
func (a *ProgressAttempt) Output() func(output []byte) {
	if !a.wanted() {
		return nil
	}
	a.tail.News = func(p contract.Progress) {
		if a.board.listen != nil {
			a.board.listen(a.job, a.board.now(), p)
		}
		if a.followed() {
			a.news(p)
		}
	}
	var before, last time.Duration // instants of reading: before, of an earlier piece; last, of any piece
	return func(output []byte) {
		a.tail.Add(output, func(p contract.Progress) {
			last = a.board.now()
			a.tell(p, max(last-a.age(&p, last-before), 0), last)
		})
		if len(output) < fullPiece { // there was no more output to read
			before = last
		}
		if a.other.Output != nil {
			a.other.Output(output, a.made)
		}
	}
}

// fullPiece is the size in bytes of a piece after which there may be more output to read.
const fullPiece = 16 << 10

// jump is the extra age of a line from which it is assumed that a clock was set.
const jump = time.Second

// age returns how long a line has waited to be read: almost zero, except on a busy machine. If the program has
// another clock, it is the extra time over the fastest line so far. A line cannot have waited longer than most, the
// time since an earlier read. If it seems so, a clock was set.
func (a *ProgressAttempt) age(p *contract.Progress, most time.Duration) time.Duration {
	if p.At == nil {
		return 0
	}
	took := time.Since(time.UnixMicro(int64(math.Round(*p.At * 1e6))))
	if !a.board.oneClock {
		a.delay = min(a.delay, took)
	}
	age := max(took-a.delay, 0)
	if age > most+jump {
		if !a.board.oneClock {
			a.delay = took
		}
		return 0
	}
	return min(age, most)
}

// tell reports progress. at is the instant of the progress, read when its line was read.
func (a *ProgressAttempt) tell(p contract.Progress, at, read time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.board
	if b.listen != nil {
		b.listen(a.job, at, p)
	}
	if a.followed() {
		b.add(scheduler.Notice{Kind: scheduler.JobProgress, Job: a.job, At: read, Progress: &control.Progress{
			Epoch: p.Epoch, Step: p.Step, Loss: schema.OrNaN(p.Loss), Accuracy: schema.OrNaN(p.Accuracy),
			Seconds: schema.OrNaN(p.Seconds), Took: a.took, Refused: a.refused,
		}}, true)
		a.took, a.refused = nil, nil
	}
	finished := p.Epoch
	if a.steps {
		finished = p.Step
	}
	if finished = min(finished, a.units); finished <= a.done {
		return
	}
	a.done = finished
	n := scheduler.Notice{Kind: scheduler.JobProgress, Job: a.job, At: read, Units: a.done}
	if p.Loss != nil && !math.IsInf(*p.Loss, 1) {
		n.Losses = []scheduler.Loss{{Units: a.done, Loss: *p.Loss, Rate: schema.Or(p.Rate, 0)}}
	}
	b.add(n, a.done >= a.next)
	if a.done >= a.next {
		a.next = 2 * a.done
	}
}

// news keeps the messages of the program about its settings, for the notice of its next report.
func (a *ProgressAttempt) news(p contract.Progress) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p.Changed != nil {
		for _, name := range slices.Sorted(maps.Keys(p.Changed.Settings)) {
			text, _ := contract.Message{Settings: p.Changed.Settings}.Setting(name)
			a.took = append(a.took, control.Setting{Name: name, Value: text})
		}
	}
	if p.Refused != "" {
		a.refused = append(a.refused, control.Setting{Name: p.Refused, Value: p.Reason})
	}
}

// pollPause is the time between two polls of other sources of progress.
const pollPause = 200 * time.Millisecond

// Begin starts to poll the other sources of the attempt. It is called when the program has started.
func (a *ProgressAttempt) Begin() {
	if a.other.Poll == nil {
		return
	}
	a.stop = make(chan struct{})
	a.read.Go(func() {
		for {
			select {
			case <-a.stop:
				a.poll()
				return
			case <-time.After(pollPause):
				a.poll()
			}
		}
	})
}

// poll reports the progress that other sources, such as an event file, have had since the last call.
func (a *ProgressAttempt) poll() {
	a.other.Poll(a.made, a.warn)
}

// made reports progress that was made at an instant.
func (a *ProgressAttempt) made(p contract.Progress, made time.Time) {
	now := a.board.now()
	a.tell(p, min(max(now-time.Since(made), 0), now), now)
}

func (a *ProgressAttempt) warn(code, text string) {
	if a.board.warn != nil {
		a.board.warn(a.job, code, text)
	}
}

// End ends the attempt, after all of its output has been read. finished says that the program did all of its work;
// missing other sources then cause a warning.
func (a *ProgressAttempt) End(finished bool) {
	if a == nil {
		return
	}
	a.partEnds(finished)
	if a.stop != nil {
		close(a.stop)
		a.read.Wait()
		a.stop = nil
	}
	if last := a.other.Finished; finished && last != nil {
		a.other.Finished = nil
		last(a.made, a.warn)
	}
}
