package live

import (
	"io"
	"sync"
	"time"

	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/stages"
)

// interval is the time between two looks at the board; the region is drawn
// only when it would look different.
const interval = 100 * time.Millisecond

// live draws the board in a region of the terminal, from a goroutine of its
// own, so that a slow terminal never holds up a run.
type live struct {
	color bool
	stop  chan struct{}
	done  chan struct{}
	once  sync.Once

	mu     sync.Mutex // guards all below
	board  board
	region region
	said   []string // to be printed above the region
	closed bool
}

func newLive(w io.Writer, size func() (int, int), color bool) *live {
	l := &live{
		color:  color,
		stop:   make(chan struct{}),
		done:   make(chan struct{}),
		region: region{w: w, size: size},
	}
	go l.loop()
	return l
}

func (l *live) loop() {
	defer close(l.done)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
			l.draw()
		}
	}
}

func (l *live) draw() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, text := range l.said {
		l.region.above(text)
	}
	l.said = nil
	width, _ := l.region.usable()
	if lines := l.board.lines(time.Now(), width, l.color); len(lines) > 0 {
		l.region.draw(lines)
	}
}

// Observe implements RunProgress.
func (l *live) Observe(p pipeline.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.board.take(p, time.Now())
	if text := notice(p); text != "" {
		l.said = append(l.said, text)
	}
}

// Say implements RunProgress.
func (l *live) Say(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		io.WriteString(l.region.w, SafeText(text)+"\n")
		return
	}
	l.said = append(l.said, text)
}

// Close implements RunProgress.
func (l *live) Close() {
	l.once.Do(func() {
		close(l.stop)
		<-l.done
		l.draw()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.region.close()
		l.closed = true
	})
}

// notice returns the permanent message of a step: a warning or a failure.
func notice(p pipeline.Progress) string {
	switch {
	case p.Kind == stages.WarningSeen && p.Unit != "":
		return "warning: " + p.Unit + ": " + p.Text
	case p.Kind == stages.WarningSeen:
		return "warning: " + p.Text
	case p.Kind == stages.UnitEnd && p.Err != nil:
		return p.Stage + ": " + p.Unit + " failed: " + p.Err.Error()
	}
	return ""
}
