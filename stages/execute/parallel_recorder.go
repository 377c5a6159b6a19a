package execute

import (
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// relay passes a trace in batches to a recorder in another goroutine. A cell with very many jobs then takes only as
// long as the slower of loop and recorder. Recorded data must not change afterwards, except for results, which are
// copied.
type relay struct {
	now         *batch
	full, empty chan *batch
	over        chan struct{}
}

// batch is a part of a trace. Nearly all events are simple, which keeps copies small and needs no clearing.
type batch struct {
	order     []entry
	cores     []scheduler.CoreSet // cores of the simple events that have cores
	results   []scheduler.Result  // results of events, which are valid only during the call
	others    []scheduler.Event   // events that are not simple
	decisions []scheduler.Decision
}

// entry is an event or a decision. The fields below are of simple events.
type entry struct {
	what          entryKind
	at            time.Duration
	job           int32
	kind          scheduler.EventKind
	holds, result bool // whether the event has cores, or a result
}

type entryKind uint8

const (
	simpleEvent entryKind = iota
	otherEvent
	decision
)

// The number of entries in a batch, and the number of batches.
const (
	batchSize = 1024
	batches   = 4
)

// newRelay starts the goroutine that passes the trace to a recorder. The caller must call close.
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

// play passes the events of a batch to a recorder and empties the batch.
func (b *batch) play(to scheduler.Recorder) {
	var simple scheduler.Event
	cores, results, others, decisions := b.cores, b.results, b.others, b.decisions
	result := func() *scheduler.Result {
		r := &results[0]
		results = results[1:]
		return r
	}
	for i := range b.order {
		switch x := &b.order[i]; x.what {
		case simpleEvent:
			e := &simple
			e.At, e.Kind, e.Job, e.Cores, e.Result = x.at, x.kind, int(x.job), nil, nil
			if x.holds {
				e.Cores, cores = cores[0], cores[1:]
			}
			if x.result {
				e.Result = result()
			}
			to.Event(e)
		case otherEvent:
			e := &others[0]
			if others = others[1:]; e.Result != nil {
				e.Result = result()
			}
			to.Event(e)
		case decision:
			to.Decision(&decisions[0])
			decisions = decisions[1:]
		}
	}
	clear(b.others) // lets the garbage collector free the events' data
	clear(b.decisions)
	*b = batch{b.order[:0], b.cores[:0], b.results[:0], b.others[:0], b.decisions[:0]}
}

// Event implements scheduler.Recorder.
func (r *relay) Event(e *scheduler.Event) {
	b := r.now
	if e.Result != nil {
		b.results = append(b.results, *e.Result)
	}
	if !simple(e) {
		b.others = append(b.others, *e)
		r.add(entry{what: otherEvent})
		return
	}
	if len(e.Cores) > 0 {
		b.cores = append(b.cores, e.Cores)
	}
	r.add(entry{
		at: e.At, job: int32(e.Job), kind: e.Kind, holds: len(e.Cores) > 0, result: e.Result != nil,
	})
}

// simple reports whether an event has only an instant, kind, job, cores and result.
func simple(e *scheduler.Event) bool {
	return e.GPUs == nil && e.Layout == nil && e.Beside == nil && e.Alternative == 0 && !e.Migrated && e.Reason == "" &&
		e.Request == 0 && e.Roles == nil && e.Control == nil && e.Levels == scheduler.Levels{} && e.Prediction == nil &&
		e.Attempt == nil && e.Node == 0 && e.Server == nil && e.Until == 0 && !e.Revoked
}

// Decision implements scheduler.Recorder.
func (r *relay) Decision(d *scheduler.Decision) {
	r.now.decisions = append(r.now.decisions, *d)
	r.add(entry{what: decision})
}

func (r *relay) add(x entry) {
	if r.now.order = append(r.now.order, x); len(r.now.order) == batchSize {
		r.full <- r.now
		r.now = <-r.empty
	}
}

// close passes the last batch and waits until the recorder has received everything. A second call does nothing.
func (r *relay) close() {
	if r.now == nil {
		return
	}
	r.full <- r.now
	r.now = nil
	close(r.full)
	<-r.over
}
