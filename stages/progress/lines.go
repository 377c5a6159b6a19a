package progress

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
)

// linesCode is the code of warnings about lines that do not match the pattern, or have invalid values.
const linesCode = "progress_lines"

// progressLines finds progress in a program's output, by a pattern.
type progressLines struct {
	*linePattern
	epochs bool // whether lines without a count mean epochs, not steps
	output terminalLines

	counted int // number of lines without a count; again is set if the current line repeats one
	again   bool
	// running is the current epoch, with the values of its last line; 0 if no epoch is running.
	running int
	latest  reading
	last    contract.Progress // the last reported progress
	inEpoch int               // number of lines about the running epoch
	single  bool              // whether epochs have a single line, with a batch whose number of batches is unknown

	// held is the first line without a loss. It is kept until it is known whether other lines have a loss.
	held     *reading
	heldAt   time.Time
	without  bool // whether lines without a loss count
	matched  bool // whether a line has matched the whole pattern
	lines    int  // number of lines that are not empty
	sample   string
	strange  string
	stranges int
}

// report receives progress, and the time at which it was made.
type report = func(p contract.Progress, made time.Time)

// add processes the next piece of output and reports the progress in its lines.
func (l *progressLines) add(piece []byte, tell report) {
	now := time.Now()
	l.output.add(piece, func(line string, ended bool) { l.line(line, ended, now, tell) })
}

// finished processes the last line, which may lack a line break, and reports the last epoch. It warns about lines with
// invalid values.
func (l *progressLines) finished(tell report, warn func(code, text string)) {
	now := time.Now()
	l.output.flush(true, func(line string, ended bool) { l.line(line, ended, now, tell) })
	if l.held != nil && !l.matched {
		l.without = true
		l.take(*l.held, l.heldAt, tell)
	}
	if l.running > 0 {
		l.ends(now, tell)
	}
	switch {
	case !l.matched && !l.without:
		text := fmt.Sprintf("no line that it printed matches the pattern of its progress block, lines = %q: its progress is not "+
			"known", l.full)
		if l.lines == 0 {
			text += "; it printed nothing"
		} else {
			text += fmt.Sprintf("; it printed %d lines, such as %q", l.lines, l.sample)
		}
		warn(linesCode, text)
	case l.last.Epoch == 0 && l.last.Step == 0:
		warn(linesCode, fmt.Sprintf("lines that it printed match the pattern of its progress block, lines = %q, but none says "+
			"that an epoch or a step has finished", l.full))
	case l.without:
		warn(linesCode, fmt.Sprintf("no line that it printed has the loss as in the pattern of its progress block, lines = %q: "+
			"the epochs count, and their loss is not known", l.full))
	}
	if l.stranges > 0 {
		warn(linesCode, fmt.Sprintf("%d of its progress lines have a value that is left out, such as %q: a count, a loss and an "+
			"accuracy are numbers, and an accuracy is a part of 1, or has %% behind it; name its group percent if it is in "+
			"percent without a sign", l.stranges, l.strange))
	}
}

// line processes a line; ended reports whether a line feed ended the line before it.
func (l *progressLines) line(line string, ended bool, now time.Time, tell report) {
	if ended {
		l.again = false
		return
	}
	if line != "" {
		if l.lines++; l.sample == "" || !l.matched && len(line) < 200 && plainNumber.MatchString(line) {
			l.sample = line[:min(len(line), 200)]
		}
	}
	r := l.read(l.full, line)
	switch {
	case r != nil:
		l.matched, l.held = true, nil
	case l.bare == nil || l.matched:
		return
	default:
		if r = l.read(l.bare, line); r == nil {
			return
		}
		if l.held == nil && !l.without {
			l.held, l.heldAt = r, now
			return
		}
		if held := l.held; held != nil {
			if held.equal(r) {
				return
			}
			l.held, l.without = nil, true
			l.take(*held, l.heldAt, tell)
		}
	}
	if r.strange != "" {
		l.stranges, l.strange = l.stranges+1, r.strange
	}
	l.take(*r, now, tell)
}

// take processes the values of a line.
func (l *progressLines) take(r reading, now time.Time, tell report) {
	switch {
	case !l.counts:
		if l.again && r.inside || r.inside && !r.isLast() { // a progress bar that is drawn again
			return
		}
		if !l.again {
			l.counted++
		}
		l.again = true
		if r.epoch, r.step = l.counted, 0; !l.epochs {
			r.epoch, r.step = 0, l.counted
		}
		l.tell(r, now, tell)
		return
	case !r.counted && !(l.batches && r.inside): // a loss or an accuracy in a line behind the count
		if l.running > 0 {
			l.latest.loss, l.latest.accuracy = cmp.Or(r.loss, l.latest.loss), cmp.Or(r.accuracy, l.latest.accuracy)
			return
		}
		r.epoch, r.step = l.last.Epoch, l.last.Step
		l.tell(r, now, tell)
		return
	case l.batches && !r.inside && r.loss == nil && r.step == 0: // an epoch begins
		if l.running == r.epoch {
			return
		}
		if l.running > 0 && l.running < r.epoch {
			l.ends(now, tell)
		}
		l.running, l.latest = r.epoch, reading{epoch: r.epoch}
		return
	case l.batches && r.inside && r.epoch == 0 && r.step == 0:
		if r.epoch = l.running; r.epoch == 0 && l.again {
			r.epoch = l.last.Epoch // the last line of an epoch, drawn again
		}
		if r.epoch == 0 {
			return
		}
	}
	if r.inside && r.batches == 0 && !l.batches {
		l.single = r.epoch > l.running && (l.single && r.epoch > l.last.Epoch || l.running > 0 && l.inEpoch == 1)
		r.inside = !l.single
	}
	if r.epoch > 0 && r.epoch == l.running { // the values of an earlier line of the epoch
		r.loss, r.accuracy = cmp.Or(r.loss, l.latest.loss), cmp.Or(r.accuracy, l.latest.accuracy)
	}
	if r.inside && r.epoch > 0 && !r.isLast() {
		if l.running > 0 && l.running < r.epoch {
			l.ends(now, tell)
		}
		if r.epoch == l.last.Epoch && r.step == 0 { // a line about validation
			return
		}
		if l.inEpoch++; l.running != r.epoch {
			l.inEpoch = 1
		}
		l.running, l.latest = r.epoch, r
		if r.step > 0 {
			r.epoch--
			l.tell(r, now, tell)
		}
		return
	}
	if l.running > 0 && l.running < r.epoch && (r.inside || l.single) {
		l.ends(now, tell)
	}
	l.running, l.again = 0, true
	l.tell(r, now, tell)
}

// ends reports the running epoch as finished, with the values of its last line.
func (l *progressLines) ends(now time.Time, tell report) {
	l.latest.step = 0
	l.tell(l.latest, now, tell)
	l.running = 0
}

// tell reports progress, unless nothing has finished yet or the same progress was reported before.
func (l *progressLines) tell(r reading, now time.Time, tell report) {
	p := contract.Progress{Epoch: r.epoch, Step: r.step, Loss: r.loss, Accuracy: r.accuracy}
	if p.Epoch == l.last.Epoch && p.Step == l.last.Step { // another line about the same epoch and step
		p.Loss, p.Accuracy = cmp.Or(p.Loss, l.last.Loss), cmp.Or(p.Accuracy, l.last.Accuracy)
	}
	if p.Epoch <= 0 && p.Step <= 0 ||
		p.Epoch == l.last.Epoch && p.Step == l.last.Step && same(p.Loss, l.last.Loss) && same(p.Accuracy, l.last.Accuracy) {
		return
	}
	l.last = p
	tell(p, now)
}

// same reports whether two optional values are equal.
func same(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return math.Float64bits(*a) == math.Float64bits(*b)
}

// lossOf returns a loss for reports. A loss that is not finite becomes +Inf, which means that the training has
// diverged.
func lossOf(v float64) float64 {
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		return v
	}
	return math.Inf(1)
}
