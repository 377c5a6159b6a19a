package train

import (
	"runtime"
	"sync/atomic"
)

// team is the workers that share a job's threads: the goroutine that calls do,
// and threads-1 helpers. It must not be used by two goroutines at once.
//
// A step of a small network takes 100 µs, about as long as the operating system
// takes to wake a thread up. So a waiting thread spins for a few microseconds
// before it sleeps.
type team struct {
	threads int
	helpers []*gate // started so far; those beyond threads-1 sleep

	// The present work of the helpers. Written while all helpers wait.
	f     func(worker, item int)
	items int64
	next  atomic.Int64 // item that nobody has taken yet
	busy  atomic.Int64 // helpers that are not done
	done  gate         // opened by the last helper
}

// resize sets the number of threads, for this team and for the Go runtime,
// which then runs no more of them at once.
func (t *team) resize(threads int) {
	t.threads = threads
	runtime.GOMAXPROCS(threads)
}

// do calls f for the items 0 … items-1, each once, and returns when all are
// done. The assignment of items to workers is random, so the result of f must
// not depend on the worker (0 … threads-1). The worker's number only selects
// the scratch memory that f may use.
func (t *team) do(items int, f func(worker, item int)) {
	helpers := min(t.threads, items) - 1
	if helpers < 1 {
		for i := range items {
			f(0, i)
		}
		return
	}
	for len(t.helpers) < helpers {
		g := newGate()
		t.helpers = append(t.helpers, g)
		go t.help(g, len(t.helpers))
	}
	if t.done.sleeper == nil {
		t.done.sleeper = make(chan struct{}, 1)
	}
	t.f, t.items = f, int64(items)
	t.next.Store(0)
	t.busy.Store(int64(helpers))
	for _, g := range t.helpers[:helpers] {
		g.open()
	}
	t.work(0)
	t.done.wait()
}

// close ends the helpers.
func (t *team) close() {
	for _, g := range t.helpers {
		g.closing = true
		g.open()
	}
	t.helpers = nil
}

// help is the loop of one helper's goroutine.
func (t *team) help(g *gate, worker int) {
	for {
		g.wait()
		if g.closing {
			return
		}
		t.work(worker)
		if t.busy.Add(-1) == 0 {
			t.done.open()
		}
	}
}

func (t *team) work(worker int) {
	for i := t.next.Add(1) - 1; i < t.items; i = t.next.Add(1) - 1 {
		t.f(worker, int(i))
	}
}

// gate lets one goroutine wait until another opens it; passing closes it
// again. Each opening is waited for before the next.
type gate struct {
	state   atomic.Int32
	sleeper chan struct{} // wakes the goroutine that waits; room for one
	closing bool          // written before open
}

// The states of a gate.
const (
	gateClosed int32 = iota
	gateOpen
	gateAsleep // closed, and the goroutine that waits needs to be woken
)

// looks is how often a waiting goroutine polls before it sleeps: some 20 µs.
const looks = 20_000

func newGate() *gate { return &gate{sleeper: make(chan struct{}, 1)} }

func (g *gate) open() {
	if g.state.Swap(gateOpen) == gateAsleep {
		g.sleeper <- struct{}{}
	}
}

func (g *gate) wait() {
	for range looks {
		if g.state.Load() == gateOpen {
			g.state.Store(gateClosed)
			return
		}
	}
	if g.state.CompareAndSwap(gateClosed, gateAsleep) {
		<-g.sleeper
	}
	g.state.Store(gateClosed)
}
