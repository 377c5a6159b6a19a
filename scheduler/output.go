package scheduler

import "time"

// Output hands a trace on to a recorder. Each event is put where the one before it was, so that none takes memory.
type Output struct {
	to       Recorder
	event    Event
	decision Decision
}

// NewOutput returns an Output to a recorder, which may be nil: then nothing is handed on.
func NewOutput(to Recorder) Output { return Output{to: to} }

// Begin returns the event that Send hands on, with nothing but this; the one before it is gone.
func (o *Output) Begin(at time.Duration, kind EventKind, job int) *Event {
	o.event = Event{}
	o.event.At, o.event.Kind, o.event.Job = at, kind, job
	return &o.event
}

// Send hands on the event that was begun.
func (o *Output) Send() {
	if o.to != nil {
		o.to.Event(&o.event)
	}
}

// Describe begins a decision; the one before it is gone.
func (o *Output) Describe(d Decision) *Decision {
	o.decision = d
	return &o.decision
}

// Decision hands on what Describe began, unless it is nil.
func (o *Output) Decision(d *Decision) {
	if d != nil {
		o.to.Decision(d)
	}
}
