package screen

import (
	"io"
	"sync"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/live"
	"github.com/tfexp/tfexp/pipeline"
)

// interval is the time between two checks whether the board has changed.
const interval = 100 * time.Millisecond

// progress draws the board at the bottom of a terminal. It draws in its own goroutine, so that a slow terminal does not
// delay the run.
type progress struct {
	color bool
	stop  chan struct{}
	done  chan struct{}
	once  sync.Once

	mu     sync.Mutex // guards the fields below
	board  board
	region region
	said   []string // lines to print above the region
	closed bool
}

func newProgress(w io.Writer, size func() (int, int), color bool) *progress {
	l := &progress{
		color:  color,
		stop:   make(chan struct{}),
		done:   make(chan struct{}),
		region: region{w: w, size: size},
	}
	go l.loop()
	return l
}

func (l *progress) loop() {
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

func (l *progress) draw() {
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

// Observe implements live.RunProgress.
func (l *progress) Observe(p pipeline.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.board.take(p, time.Now())
	if text := live.Notice(p); text != "" {
		l.said = append(l.said, text)
	}
}

// Say implements live.RunProgress.
func (l *progress) Say(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		io.WriteString(l.region.w, live.SafeText(text)+"\n")
		return
	}
	l.said = append(l.said, text)
}

// Close implements live.RunProgress.
func (l *progress) Close() {
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
