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

// ProgressAttempt follows the progress of one attempt of a job: the lines of its
// output, and other sources that it has. It is made by Board.Follow.
type ProgressAttempt struct {
	board *ProgressBoard
	job   int
	place string // where the job is written
	steps bool   // the job's units are steps, and not epochs
	units int    // of the job; 0 when nobody waits for them
	tail  contract.Tail
	other ProgressReader // besides its lines
	stop  chan struct{}
	read  sync.WaitGroup
	// meeting is the look at the parts of the job; nil without.
	meeting *meeting

	mu         sync.Mutex // guards the fields below, and the order of the notices
	done, next int        // units reported; when Ready is to turn true
	// delay is the shortest time between a line that says when it was printed and its reading; by the two clocks, which
	// may differ.
	delay         time.Duration
	took, refused []control.Setting
}

// Follow returns the follower of the next attempt of a job.
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

// wanted reports whether somebody wants the reports.
func (a *ProgressAttempt) wanted() bool { return a.units > 0 || a.board.listen != nil || a.followed() }

// followed reports whether every report is a separate notice.
func (a *ProgressAttempt) followed() bool {
	return a.job < len(a.board.follow) && a.board.follow[a.job]
}

// Output returns the function to call with the output of the attempt, by one
// goroutine at a time; nil if nobody wants the output.
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
	var before, last time.Duration // when lines were read: of an earlier piece, and of any
	return func(output []byte) {
		a.tail.Add(output, func(p contract.Progress) {
			last = a.board.now()
			a.tell(p, max(last-a.age(&p, last-before), 0), last)
		})
		if len(output) < fullPiece { // else more was waiting
			before = last
		}
		if a.other.Output != nil {
			a.other.Output(output, a.made)
		}
	}
}

// fullPiece is the length in bytes of a piece of output that may have left others behind.
const fullPiece = 16 << 10

// jump is the excess of a line's age from which the clocks count as changed.
const jump = time.Second

// age is how long a line has waited to be read: almost zero, except on a busy machine. If the program's clock is not
// ours, it is the extra time of this line over the fastest one so far. It has waited for no longer than most, the time since
// an earlier line was read: where it seems to, a clock was set meanwhile.
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

// tell reports progress, with the instants at which it was made and read.
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

// news keeps the program's news about its settings for the notice of its next report.
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

// pollPause is the time between two looks at the other sources of a job's progress.
const pollPause = 200 * time.Millisecond

// Begin begins to look at the other sources of the attempt, whose program has started.
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

// poll reports the progress that the job's other source, such as a file of events, has had since the last call.
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

// End ends the attempt, when all that it wrote has been read. finished reports
// whether the program did all of its work: then its other source should be there.
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
