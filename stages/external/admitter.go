package external

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
)

// ProtocolVersion is the version of the protocol between tfexp and programs.
const ProtocolVersion = 1

// programAdmitter is the Admitter of a run whose decisions a program makes. It converts events into messages, and
// answers into decisions.
type programAdmitter struct {
	scheduler.View
	scheduler.Actions

	process *policyProcess
	run     scheduler.Run
	cell    *record.CellRef
	ready   readyMessage
	can     scheduler.Capabilities
	// migrates reports whether the engine can continue paused jobs on other nodes.
	migrates bool
	number   map[string]int32 // job numbers by name
	cores    int              // cores of the cluster

	line       []byte        // the next message, with the events so far
	wakes      time.Duration // when the program wants the next message
	waits      map[string]string
	time       answerTimes
	idle       idleWakeups
	state      json.RawMessage // the state that the program returned at its end
	transcript *transcript
	err        error
}

// readyMessage is the first answer of a program.
type readyMessage struct {
	Protocol int    `json:"protocol"`
	Name     string `json:"name"`
	// Ask is "always" or "waiting"; the latter means that the program is asked only while jobs wait.
	Ask string `json:"ask"`
	// Sizes reports whether the program sets the number of cores of jobs.
	Sizes bool   `json:"sizes"`
	Type  string `json:"type"`
}

const (
	askAlways  = "always"
	askWaiting = "waiting"
)

// startProgram starts the program of a cell and exchanges the first messages with it.
func startProgram(ctx context.Context, t *stages.Task, r scheduler.Run) (d *programAdmitter, err error) {
	d = &programAdmitter{
		run: r, cell: &t.Setup.Cell, wakes: scheduler.Never, number: make(map[string]int32, len(r.Jobs)),
		can: scheduler.Capabilities{Pause: true, Resize: true, Memory: true, GPUs: true},
	}
	if on, ok := r.Engine.(interface{ Capabilities() scheduler.Capabilities }); ok {
		d.can = on.Capabilities()
	}
	if on, ok := r.Engine.(scheduler.Migrator); ok {
		d.migrates, _ = on.Migrates()
	}
	d.can.Migrate = d.migrates
	for i := range r.Jobs {
		d.number[r.Jobs[i].Name] = int32(i)
	}
	for _, n := range r.Cluster.Nodes {
		d.cores += n.Threads
	}
	hello, err := d.helloMessage(t)
	if err != nil {
		return nil, err
	}
	if d.process, err = startProcess(ctx, t); err != nil {
		return nil, err
	}
	d.transcript = newTranscript(t)
	answer, err := d.send(hello)
	if err == nil {
		err = d.readReady(answer)
	}
	if err != nil {
		d.process.kill("its first answer is wrong")
		d.process.waitForExit(exitPatience)
		return nil, fmt.Errorf("policy %q: %w", d.cell.Policy, bounded(err))
	}
	d.time = answerTimes{}
	return d, nil
}

// readReady processes the answer to the first message.
func (d *programAdmitter) readReady(answer []byte) error {
	if err := decodeAnswer(answer, &d.ready); err != nil {
		return d.process.withStderr(err.Error())
	}
	d.ready.Ask = cmp.Or(d.ready.Ask, askAlways)
	switch r := &d.ready; {
	case r.Type != "ready":
		return fmt.Errorf("its first answer is %s, but must be {\"type\":\"ready\",\"protocol\":%d}", excerpt(answer),
			ProtocolVersion)
	case r.Protocol != ProtocolVersion:
		return fmt.Errorf("it uses version %d of the protocol, but this tfexp needs version %d", r.Protocol, ProtocolVersion)
	case r.Ask != askAlways && r.Ask != askWaiting:
		return fmt.Errorf("its first answer has ask = %q, but ask must be %q or %q", r.Ask, askAlways, askWaiting)
	}
	return nil
}

// send sends a message and returns the program's answer.
func (d *programAdmitter) send(message []byte) ([]byte, error) {
	began := time.Now()
	answer, err := d.process.roundTrip(message)
	d.time.add(time.Since(began))
	d.transcript.add(message, answer)
	return answer, err
}

// Admit implements scheduler.Admitter.
func (d *programAdmitter) Admit(v scheduler.View, h scheduler.Actions) error {
	d.View, d.Actions = v, h
	answer, err := d.send(d.eventsMessage(v.Now()))
	if err == nil {
		err = d.applyDecisions(answer)
	}
	if err == nil {
		err = d.idle.decided(v.Now())
	}
	if err != nil {
		d.err = fmt.Errorf("policy %q: at %s: %w", d.cell.Policy, v.Now(), bounded(err))
	}
	return d.err
}

// HeldBack implements scheduler.Admitter.
func (d *programAdmitter) HeldBack(v scheduler.View, job int32) string {
	if why, ok := d.waits[v.Job(job).Job().Name]; ok && why != "" {
		return why
	}
	return "the policy's program did not start it"
}

// NextWakeup implements scheduler.TimedPolicy.
func (d *programAdmitter) NextWakeup() time.Duration { return d.wakes }

// OnWakeup implements scheduler.TimedPolicy.
func (d *programAdmitter) OnWakeup() {
	d.beginEvent(timerEvent, d.wakes)
	d.line = append(d.line, '}')
	d.wakes = scheduler.Never
}

// close sends the program the end of the cell, waits until it exits, and adds its results to the record.
func (d *programAdmitter) close(out *record.Cell) {
	if d.err == nil {
		answer, err := d.process.roundTrip(d.endMessage())
		if err == nil {
			err = d.readState(answer)
		}
		if end := d.process.waitForExit(exitPatience); err == nil && end != "" {
			err = d.process.withStderr("it did not exit as it should: " + end)
		}
		if err != nil && out.Error == "" {
			out.Error = fmt.Sprintf("policy %q: at the end of the cell: %v", d.cell.Policy, bounded(err))
		}
	} else {
		d.process.kill("its answer is wrong")
		d.process.waitForExit(exitPatience)
	}
	if d.time.asked > 0 && d.cell.Real() { // metrics of simulated cells must not depend on the machine
		out.Metrics.Set(DecisionTime, d.time.mean())
	}
	d.transcript.close(d, out)
}

// decodeAnswer reads an answer.
func decodeAnswer(answer []byte, into any) error {
	from := json.NewDecoder(bytes.NewReader(answer))
	from.DisallowUnknownFields()
	err := from.Decode(into)
	if err == nil && from.More() {
		err = fmt.Errorf("the line has more than one JSON value")
	}
	if err != nil {
		return fmt.Errorf("its answer %s is not one of the protocol: %w (standard output must contain only "+
			"messages of the protocol)", excerpt(answer), err)
	}
	return nil
}

// Largest lengths of texts that a program chooses: an answer in an error message, the reason of a decision, a line of
// error output, and an error message, which may quote names from an answer.
const (
	maxExcerpt = 120
	maxReason  = 1000
	maxLine    = 500
	maxMessage = 8000
)

// bounded returns an error with a message of bounded length.
func bounded(err error) error {
	if text := err.Error(); len(text) > maxMessage {
		return errors.New(schema.Shortened(text, maxMessage))
	}
	return err
}

// excerpt returns the beginning of an answer, for an error message.
func excerpt(answer []byte) string {
	if len(answer) > maxExcerpt {
		return fmt.Sprintf("%q…", answer[:maxExcerpt])
	}
	return fmt.Sprintf("%q", answer)
}
