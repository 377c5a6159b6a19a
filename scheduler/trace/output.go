package trace

// Output hands a trace on to a recorder. Each event is put where the one before it was, so that none takes memory.
type Output struct {
	to       Recorder
	event    Event
	decision Decision
}

// NewOutput returns an Output to a recorder, which may be nil: then nothing is handed on.
func NewOutput(to Recorder) Output { return Output{to: to} }

// Event hands an event on.
func (o *Output) Event(e *Event) {
	if o.to != nil {
		o.event = *e
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
