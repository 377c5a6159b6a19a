package external

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
)

// Version is the version of the protocol.
const Version = 1

// desk is where a program decides: it turns the events of a run into messages, and answers into decisions. It is the
// Admitter of the run.
type desk struct {
	scheduler.View
	scheduler.Actions

	talk  *talk
	run   scheduler.Run
	cell  *record.CellRef
	ready ready
	can   scheduler.Capabilities
	// goesOn reports whether paused jobs can go on on other nodes.
	goesOn bool
	number map[string]int32 // of jobs, by name
	cores  int              // of the cluster

	line    []byte        // the next message: its events so far
	wakes   time.Duration // when the program wants to be asked
	waits   map[string]string
	time    spent
	idle    idleWakeups
	state   json.RawMessage // left by the program
	journal *journal
	err     error
}

// ready is the first answer of a program.
type ready struct {
	Protocol int    `json:"protocol"`
	Name     string `json:"name"`
	// Ask is when the program is asked: always, or waiting: only while jobs wait.
	Ask string `json:"ask"`
	// Sizes reports whether the program sets the number of cores of jobs.
	Sizes bool   `json:"sizes"`
	Type  string `json:"type"`
}

const (
	askAlways  = "always"
	askWaiting = "waiting"
)

// open starts the program of a cell, and greets it.
func open(ctx context.Context, t *stages.Task, r scheduler.Run) (d *desk, err error) {
	d = &desk{
		run: r, cell: &t.Setup.Cell, wakes: scheduler.Never, number: make(map[string]int32, len(r.Jobs)),
		can: scheduler.Capabilities{Pause: true, Resize: true, Memory: true, GPUs: true},
	}
	if on, ok := r.Engine.(interface{ Capabilities() scheduler.Capabilities }); ok {
		d.can = on.Capabilities()
	}
	if on, ok := r.Engine.(scheduler.Migrator); ok {
		d.goesOn, _ = on.Migrates()
	}
	d.can.Migrate = d.goesOn
	for i := range r.Jobs {
		d.number[r.Jobs[i].Name] = int32(i)
	}
	for _, n := range r.Cluster.Nodes {
		d.cores += n.Threads
	}
	hello, err := d.hello(t)
	if err != nil {
		return nil, err
	}
	if d.talk, err = start(ctx, t); err != nil {
		return nil, err
	}
	d.journal = newJournal(t)
	answer, err := d.say(hello)
	if err == nil {
		err = d.greeted(answer)
	}
	if err != nil {
		d.talk.kill("its first answer is wrong")
		d.talk.end(farewell)
		return nil, fmt.Errorf("policy %q: %w", d.cell.Policy, err)
	}
	d.time = spent{}
	return d, nil
}

// greeted takes the answer to the first message.
func (d *desk) greeted(answer []byte) error {
	if err := unpack(answer, &d.ready); err != nil {
		return d.talk.quote(err.Error())
	}
	d.ready.Ask = cmp.Or(d.ready.Ask, askAlways)
	switch r := &d.ready; {
	case r.Type != "ready":
		return fmt.Errorf("its first answer is %s, want {\"type\":\"ready\",\"protocol\":%d}", shown(answer), Version)
	case r.Protocol != Version:
		return fmt.Errorf("it speaks version %d of the protocol, and this tfexp version %d", r.Protocol, Version)
	case r.Ask != askAlways && r.Ask != askWaiting:
		return fmt.Errorf("its first answer has ask = %q, want %q or %q", r.Ask, askAlways, askWaiting)
	}
	return nil
}

// say sends a message and returns the answer.
func (d *desk) say(message []byte) ([]byte, error) {
	began := time.Now()
	answer, err := d.talk.ask(message)
	d.time.add(time.Since(began))
	d.journal.add(message, answer)
	return answer, err
}

// Admit implements scheduler.Admitter.
func (d *desk) Admit(v scheduler.View, h scheduler.Actions) error {
	d.View, d.Actions = v, h
	answer, err := d.say(d.message(v.Now()))
	if err == nil {
		err = d.carryOut(answer)
	}
	if err == nil {
		err = d.idle.decided(v.Now())
	}
	if err != nil {
		d.err = fmt.Errorf("policy %q: at %s: %w", d.cell.Policy, v.Now(), err)
	}
	return d.err
}

// A program that asks for maxIdleWakeups wake-ups within idleSpan, and changes nothing, is ended.
const (
	timerEvent     = "timer" // of a wake-up
	maxIdleWakeups = 10_000
	idleSpan       = time.Second
)

// idleWakeups counts the wake-ups in a row at which nothing had happened and the program changed nothing.
type idleWakeups struct {
	changed bool // the next message has an event that is not a wake-up
	count   int
	since   time.Duration // the first of them
}

// decided is called after each answer; it errs when the run makes no progress.
func (i *idleWakeups) decided(now time.Duration) error {
	if i.changed || now-i.since > idleSpan {
		*i = idleWakeups{since: now}
		return nil
	}
	if i.count++; i.count < maxIdleWakeups {
		return nil
	}
	return fmt.Errorf("since %s it has asked %d times to be called again (call_at_ns), and changed nothing: ask for a later "+
		"moment, or leave call_at_ns out to be called when something happens", i.since, i.count)
}

// HeldBack implements scheduler.Admitter.
func (d *desk) HeldBack(v scheduler.View, job int32) string {
	if why, ok := d.waits[v.Job(job).Job().Name]; ok && why != "" {
		return why
	}
	return "the policy did not start it"
}

// NextWakeup implements scheduler.TimedPolicy.
func (d *desk) NextWakeup() time.Duration { return d.wakes }

// OnWakeup implements scheduler.TimedPolicy.
func (d *desk) OnWakeup() {
	d.event(timerEvent, d.wakes)
	d.line = append(d.line, '}')
	d.wakes = scheduler.Never
}

// close says to the program that the cell is over, waits for its end, and takes its output.
func (d *desk) close(out *record.Cell) {
	if d.err == nil {
		answer, err := d.talk.ask(d.bye())
		if err == nil {
			err = d.left(answer)
		}
		if end := d.talk.end(farewell); err == nil && end != "" {
			err = d.talk.quote("it ended badly: " + end)
		}
		if err != nil && out.Error == "" {
			out.Error = fmt.Sprintf("policy %q: when the cell was over: %v", d.cell.Policy, err)
		}
	} else {
		d.talk.kill("its answer is wrong")
		d.talk.end(farewell)
	}
	if d.time.asked > 0 && d.cell.Real() { // metrics of simulated cells depend on no machine
		out.Metrics.Set(DecisionTime, d.time.mean())
	}
	d.journal.close(d, out)
}

// unpack reads an answer.
func unpack(answer []byte, into any) error {
	from := json.NewDecoder(bytes.NewReader(answer))
	from.DisallowUnknownFields()
	err := from.Decode(into)
	if err == nil && from.More() {
		err = fmt.Errorf("there is more than one value in the line")
	}
	if err != nil {
		return fmt.Errorf("its answer %s is not one of the protocol: %w (what is printed to standard output must be the "+
			"protocol alone)", shown(answer), err)
	}
	return nil
}

// mostShown is how much of an answer is shown.
const mostShown = 120

// shown is an answer in a message.
func shown(answer []byte) string {
	if len(answer) > mostShown {
		return fmt.Sprintf("%q…", answer[:mostShown])
	}
	return fmt.Sprintf("%q", answer)
}
