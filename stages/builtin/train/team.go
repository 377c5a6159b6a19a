package train

import (
	"runtime"
	"sync/atomic"
)

// team is a group of workers that use a job's threads: the goroutine that calls do, and threads−1 helpers. Only one
// goroutine at a time may use it.
//
// A step of a small network takes 100 µs. The operating system takes about as long to wake up a thread, so a waiting
// thread polls for a few microseconds before it sleeps.
type team struct {
	threads int
	helpers []*gate // helpers started so far; those beyond threads−1 sleep

	// The present work of the helpers. It is written while all helpers wait.
	f     func(worker, item int)
	items int64
	next  atomic.Int64 // next item that no worker has taken
	busy  atomic.Int64 // number of helpers that are still working
	done  gate         // opened by the last helper
}

// resize sets the number of threads of the team, and of the Go runtime.
func (t *team) resize(threads int) {
	t.threads = threads
	runtime.GOMAXPROCS(threads)
}

// do calls f once for each of the items 0 … items−1, and returns when all calls have ended. Which worker gets an item
// is random, so f's result must not depend on the worker (0 … threads−1). f may use the worker's number to select
// memory.
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

// help runs one helper: it waits for work and takes part in it.
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

// gate lets one goroutine wait until another one opens it. When the wait ends, the gate is closed again. It must not be
// opened twice without a wait.
type gate struct {
	state   atomic.Int32
	sleeper chan struct{} // wakes up the waiting goroutine; capacity 1
	closing bool          // the helper must end; written before the gate is opened
}

// The states of a gate.
const (
	gateClosed int32 = iota
	gateOpen
	gateAsleep // closed, and the waiting goroutine sleeps
)

// looks is the number of times that a waiting goroutine polls before it sleeps: about 20 µs.
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
