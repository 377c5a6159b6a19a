package contract

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// Pick is which time-writer line counts when a program printed several, as
// programs with several workers do.
type Pick int

// The choices. Longest is the line with the most epochs, the last of equals.
const (
	Last Pick = iota
	Longest
	First
)

// Report is the information about a run in a job's output.
type Report struct {
	// Startup and Save are seconds; -1 where the output does not say.
	Startup, Save float64
	// Epochs are the seconds of each epoch, in order: from the time-writer
	// line, or else from the progress lines.
	Epochs []float64
	// Steps are the seconds of each step of a program whose progress lines count these
	// alone, if each had a line.
	Steps []float64
	// Loss and Accuracy are the last that were reported; nil: never.
	Loss, Accuracy *float64
	// Progress is the last progress line, Updates counts them.
	Progress Progress
	Updates  int
	// Resized are the allotments that the program took on while it ran. The
	// four fields after it list its other actions besides training.
	Resized     []Resized
	Checkpoints []Checkpoint
	Resumed     []Resumed
	Changed     []Changed
	Deepened    []Deepened
	// Refused are the lines in which it refused a request, with the reasons.
	Refused []Progress
	// FinalAccuracy is the model's accuracy at the end of the job's budget. Trained is the service time at which the
	// program stopped training, in seconds. Both are nil if not reported.
	FinalAccuracy, Trained *float64
	// Warnings name broken lines; at most maxWarnings of them, Suppressed
	// counts the others.
	Warnings   []string
	Suppressed int
}

const (
	// maxLine bounds the memory for one line, in bytes: a time-writer line
	// with 400,000 epochs fits.
	maxLine = 4 << 20
	// maxEpochs bounds the epochs that are kept from progress lines.
	maxEpochs   = 1 << 20
	maxNews     = 1 << 16 // lines of each other kind that are kept
	maxWarnings = 20
)

// Parse reads a job's output to its end. Lines that are not part of the
// contract are skipped, whatever their length. Malformed lines of the contract
// become warnings. The error is a read error; the report then covers the lines
// before it.
func Parse(r io.Reader, pick Pick) (Report, error) {
	p := parser{pick: pick, report: Report{Startup: -1, Save: -1}}
	in := bufio.NewReaderSize(r, 64<<10)
	var err error
	for err == nil {
		var chunk []byte
		chunk, err = in.ReadSlice('\n')
		p.add(chunk)
		if !errors.Is(err, bufio.ErrBufferFull) {
			p.endLine()
			continue
		}
		err = nil
	}
	if p.times == nil {
		p.report.Epochs = p.seconds
	}
	if len(p.steps) == p.report.Progress.Step {
		p.report.Steps = p.steps
	}
	if err != io.EOF {
		return p.report, fmt.Errorf("read job output: %w", err)
	}
	return p.report, nil
}

// parser is the state of Parse between two chunks of input.
type parser struct {
	pick   Pick
	report Report

	line    []byte // the present line, up to maxLine bytes
	cut     bool   // the line was longer
	number  int    // of the present line, from 0
	times   []float64
	seconds []float64 // of epochs, from progress lines
	steps   []float64 // of lines that count steps alone
	epoch   int       // of the last progress line; 0 none since the program began or resumed
	stride  int       // how many epochs lie between two lines; 0 not known yet
}

func (p *parser) add(chunk []byte) {
	if room := maxLine - len(p.line); len(chunk) > room {
		chunk, p.cut = chunk[:room], true
	}
	p.line = append(p.line, chunk...)
}

// endLine reads the line that is complete. A carriage return ends a line too:
// progress bars overwrite theirs.
func (p *parser) endLine() {
	p.number++
	for _, part := range bytes.Split(p.line, []byte{'\r'}) {
		p.part(part)
	}
	if cap(p.line) > 1<<20 {
		p.line = nil // one long line shall not hold its memory for good
	}
	p.line, p.cut = p.line[:0], false
}

func (p *parser) part(line []byte) {
	for {
		_, rest, found := bytes.Cut(line, []byte(TimesBegin))
		if !found {
			break
		}
		body, after, closed := bytes.Cut(rest, []byte(TimesEnd))
		// A second opening mark before the closing one: the first was broken off.
		if next := bytes.Index(body, []byte(TimesBegin)); next >= 0 {
			p.warn("time-writer line has no closing mark")
			line = rest[next:]
			continue
		}
		switch {
		case closed:
			p.timesLine(string(body))
		case p.cut:
			p.warn("time-writer line is longer than %d bytes", maxLine)
		default:
			p.warn("time-writer line has no closing mark")
		}
		line = after
	}
	if t := bytes.TrimSpace(line); len(t) > 0 && t[0] == '{' && bytes.Contains(t, []byte(`"tfexp"`)) {
		p.progressLine(t)
	}
}

func (p *parser) timesLine(body string) {
	times, err := parseTimes(body)
	if err != nil {
		p.warn("time-writer line: %v", err)
		return
	}
	if p.times != nil && (p.pick == First || p.pick == Longest && len(times) < len(p.times)) {
		return
	}
	p.times = times
	p.report.Startup, p.report.Save = times[0], times[len(times)-1]
	p.report.Epochs = times[1 : len(times)-1]
}

// parseTimes reads "[startup, epoch, …, save]".
func parseTimes(body string) ([]float64, error) {
	s := strings.TrimSpace(body)
	if !strings.HasPrefix(s, "[") || !strings.HasSuffix(s, "]") {
		return nil, errors.New("want a list in brackets")
	}
	fields := strings.Split(s[1:len(s)-1], ",")
	if len(fields) < 2 {
		return nil, errors.New("want at least the times of start-up and saving")
	}
	times := make([]float64, len(fields))
	for i, f := range fields {
		t, err := strconv.ParseFloat(strings.TrimSpace(f), 64)
		if err != nil || !finite(t) || t < 0 {
			return nil, fmt.Errorf("%.40q is not a time in seconds", f)
		}
		times[i] = t
	}
	return times, nil
}

func (p *parser) progressLine(line []byte) {
	u, err := decode(line)
	if err != nil {
		if p.cut {
			err = fmt.Errorf("longer than %d bytes", maxLine)
		}
		p.warn("progress line: %s", inWords(err))
		return
	}
	if u == nil {
		return // "tfexp" is somewhere else in the object, which is not ours
	}
	if problem := u.problem(); problem != "" {
		p.warn("progress line: %s", problem)
		return
	}
	news := u.News()
	if said := u.leaveOut(); said != "" {
		p.warn("progress line: %s", said)
	}
	if news {
		p.news(*u)
		return
	}
	p.follows(u.Epoch)
	p.report.Updates++
	p.report.Progress = *u
	if u.Loss != nil {
		p.report.Loss = u.Loss
	}
	if u.Accuracy != nil {
		p.report.Accuracy = u.Accuracy
	}
	switch {
	case u.Seconds == nil || u.Epoch == 0 && u.Step == 0:
	case max(len(p.seconds), len(p.steps)) == maxEpochs:
		p.warn("progress lines of more than %d epochs or steps", maxEpochs)
	case u.Epoch > 0:
		p.seconds = append(p.seconds, *u.Seconds)
	default:
		p.steps = append(p.steps, *u.Seconds)
	}
}

// follows warns of an epoch that does not follow the previous one. A program reports every epoch, or every nth, and
// begins again at the first epoch or after it has resumed.
func (p *parser) follows(epoch int) {
	last := p.epoch
	if epoch == 0 {
		return
	}
	stride := epoch - last
	switch p.epoch = epoch; {
	case last == 0 || epoch <= 1 || stride == 0:
		p.stride = 0
	case p.stride == 0 && stride > 0:
		p.stride = stride
	case stride != p.stride:
		p.warn("progress line: epoch %d follows epoch %d", epoch, last)
	}
}

// inWords explains why a line of JSON is wrong, without names of Go types.
func inWords(err error) string {
	var kind *json.UnmarshalTypeError
	if !errors.As(err, &kind) {
		return err.Error()
	}
	wanted := "an object"
	switch kind.Type.Kind() {
	case reflect.Int, reflect.Int64:
		wanted = "a whole number"
	case reflect.Float64:
		wanted = "a number of at most 1.8e308"
	case reflect.String:
		wanted = "text"
	}
	return fmt.Sprintf("%q: %.40s stands where %s must be", kind.Field, kind.Value, wanted)
}

func (p *parser) warn(format string, args ...any) {
	if len(p.report.Warnings) == maxWarnings {
		p.report.Suppressed++
		return
	}
	p.report.Warnings = append(p.report.Warnings, fmt.Sprintf("line %d: ", p.number)+fmt.Sprintf(format, args...))
}

// news keeps a line of another kind than progress.
func (p *parser) news(u Progress) {
	r := &p.report
	switch {
	case u.Resized != nil:
		keep(&r.Resized, *u.Resized)
	case u.Checkpoint != nil:
		keep(&r.Checkpoints, *u.Checkpoint)
	case u.Resumed != nil:
		p.epoch = 0
		keep(&r.Resumed, *u.Resumed)
	case u.Changed != nil:
		keep(&r.Changed, *u.Changed)
	case u.Deepened != nil:
		keep(&r.Deepened, *u.Deepened)
	case u.Refused != "":
		keep(&r.Refused, u)
	case u.FinalAccuracy != nil:
		r.FinalAccuracy, r.Trained = u.FinalAccuracy, u.Trained
	}
}

// keep appends to a list unless the list has reached its greatest length.
func keep[T any](list *[]T, item T) {
	if len(*list) < maxNews {
		*list = append(*list, item)
	}
}
