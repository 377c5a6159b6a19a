package main

import (
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tfexp/tfexp/hardware"
)

// ExchangeWatch measures repeatedly, while jobs run, how long a cache line takes from one core to another and back.
// On a virtual machine this depends on which physical cores the host uses, and changes every few seconds. It slows
// the threads of a job, while tests of arithmetic do not show it. A measurement uses two cores for about 1 ms.
type ExchangeWatch struct {
	stop, done chan struct{}
	turn       atomic.Int64
	over       atomic.Bool
	times      []float64
}

const (
	exchangeFirst  = 30 * time.Millisecond // time of the first measurement
	exchangeEvery  = time.Second           // longest time between measurements; each interval is twice the previous one
	exchangeLimit  = time.Millisecond      // longest duration of a measurement, if other programs keep a core busy
	exchangeWindow = 100                   // exchanges per mean; a measurement is the smallest mean
	exchanges      = 1000                  // exchanges per measurement
)

// WatchCoreLatency starts an ExchangeWatch. It returns nil if this process may use only one core.
func WatchCoreLatency() *ExchangeWatch {
	cpus := hardware.AllowedCPUs()
	if len(cpus) < 2 || runtime.GOMAXPROCS(0) < 2 {
		return nil
	}
	w := &ExchangeWatch{stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(w.done)
		defer bind(cpus[0])()
		for wait := exchangeFirst; ; wait = min(2*wait, exchangeEvery) {
			select {
			case <-w.stop:
				return
			case <-time.After(wait):
			}
			if t := w.measure(cpus[1]); t > 0 {
				w.times = append(w.times, t)
			}
		}
	}()
	return w
}

// measure returns the seconds of one exchange, or 0 if the two cores never ran at the same time.
func (w *ExchangeWatch) measure(other int) float64 {
	w.turn.Store(0)
	w.over.Store(false)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		defer bind(other)()
		for i := int64(1); !w.over.Load(); i += 2 {
			for w.turn.Load() != i && !w.over.Load() {
			}
			w.turn.Store(i + 1)
		}
	}()
	began := time.Now()
	last, least := began, math.Inf(1)
asking:
	for i := int64(0); i < 2*exchanges; i += 2 {
		for spins := 1; w.turn.Load() != i; spins++ {
			if spins%1024 == 0 && time.Since(began) > exchangeLimit {
				break asking
			}
		}
		w.turn.Store(i + 1)
		if i > 0 && i%(2*exchangeWindow) == 0 {
			now := time.Now()
			least = min(least, now.Sub(last).Seconds()/exchangeWindow)
			last = now
		}
	}
	w.over.Store(true)
	<-answered
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// End stops measuring, and returns the geometric mean of the measurements in seconds, or 0 if there were none.
func (w *ExchangeWatch) End() float64 {
	if w == nil {
		return 0
	}
	close(w.stop)
	<-w.done
	if len(w.times) == 0 {
		return 0
	}
	sum := 0.0
	for _, t := range w.times {
		sum += math.Log(t)
	}
	return math.Exp(sum / float64(len(w.times)))
}

// bind binds the calling goroutine to a thread on one CPU; the thread ends with the goroutine.
func bind(cpu int) (release func()) {
	runtime.LockOSThread()
	var one unix.CPUSet
	one.Set(cpu)
	_ = unix.SchedSetaffinity(0, &one)
	return func() {}
}
