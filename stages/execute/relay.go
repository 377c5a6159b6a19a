package execute

import "github.com/tfexp/tfexp/scheduler"

// relay hands a trace on to a recorder that works beside the loop, in batches: the cell of very many jobs then takes
// as long as the slower of the two. What a recorder is given does not change afterwards, but for results.
type relay struct {
	now         *batch
	full, empty chan *batch
	over        chan struct{}
}

// batch is a part of a trace: order says, one after the other, whether it is an event.
type batch struct {
	events    []scheduler.Event
	results   []scheduler.Result // of events, which have them during the call alone
	decisions []scheduler.Decision
	order     []bool
}

// How many entries a batch has, and how many batches there are.
const (
	batchSize = 1024
	batches   = 4
)

// newRelay begins to hand on to a recorder; close must be called.
func newRelay(to scheduler.Recorder) *relay {
	r := &relay{full: make(chan *batch, batches), empty: make(chan *batch, batches), over: make(chan struct{})}
	for range batches - 1 {
		r.empty <- &batch{}
	}
	r.now = &batch{}
	go func() {
		defer close(r.over)
		for b := range r.full {
			b.play(to)
			r.empty <- b
		}
	}()
	return r
}

// play hands on a batch, and empties it.
func (b *batch) play(to scheduler.Recorder) {
	e, d, r := 0, 0, 0
	for _, event := range b.order {
		if event {
			if b.events[e].Result != nil {
				b.events[e].Result = &b.results[r]
				r++
			}
			to.Event(&b.events[e])
			e++
		} else {
			to.Decision(&b.decisions[d])
			d++
		}
	}
	clear(b.events) // what they refer to need not be kept
	clear(b.decisions)
	b.events, b.results, b.decisions, b.order = b.events[:0], b.results[:0], b.decisions[:0], b.order[:0]
}

// Event implements scheduler.Recorder.
func (r *relay) Event(e *scheduler.Event) {
	r.now.events = append(r.now.events, *e)
	if e.Result != nil {
		r.now.results = append(r.now.results, *e.Result)
	}
	r.add(true)
}

// Decision implements scheduler.Recorder.
func (r *relay) Decision(d *scheduler.Decision) {
	r.now.decisions = append(r.now.decisions, *d)
	r.add(false)
}

func (r *relay) add(event bool) {
	if r.now.order = append(r.now.order, event); len(r.now.order) == batchSize {
		r.full <- r.now
		r.now = <-r.empty
	}
}

// close hands on what is left, and waits until all of it has arrived. A second call does nothing.
func (r *relay) close() {
	if r.now == nil {
		return
	}
	r.full <- r.now
	r.now = nil
	close(r.full)
	<-r.over
}
