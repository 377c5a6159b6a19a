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

// Pick selects a time-writer line if a program printed several, as programs with several workers do.
type Pick int

// The values of Pick. Longest is the line with the most epochs; of equal lines, the last one.
const (
	Last Pick = iota
	Longest
	First
)

// Report is what a job's output says about its run.
type Report struct {
	// Startup and Save are seconds; -1 if the output lacks them.
	Startup, Save float64
	// Epochs are the seconds of each epoch, in order. They are from the time-writer line or, without such a line, from
	// progress lines.
	Epochs []float64
	// Steps are the seconds of each step, if progress lines count only steps and each step had a line.
	Steps []float64
	// Loss and Accuracy are the last reported values; nil if never reported.
	Loss, Accuracy *float64
	// Progress is the last progress line. Updates is the number of progress lines.
	Progress Progress
	Updates  int
	// Resized are the allotments that the program adopted while it ran. The next four fields list its other actions
	// besides training.
	Resized     []Resized
	Checkpoints []Checkpoint
	Resumed     []Resumed
	Changed     []Changed
	Deepened    []Deepened
	// Refused are lines in which the program refused a request, with the reason.
	Refused []Progress
	// FinalAccuracy is the model's accuracy at the end of the job's budget. Trained is the service time in seconds at
	// which training stopped. Both are nil if not reported.
	FinalAccuracy, Trained *float64
	// Warnings describe malformed lines, at most maxWarnings of them. Suppressed is the number of the others.
	Warnings   []string
	Suppressed int
}

const (
	// maxLine is the largest size of a line in bytes. A time-writer line with 400,000 epochs fits.
	maxLine = 4 << 20
	// maxEpochs is the largest number of epochs that are kept from progress lines.
	maxEpochs   = 1 << 20
	maxNews     = 1 << 16 // kept lines of each other kind
	maxWarnings = 20
)

// Parse reads a job's output to its end. It skips lines that are not part of the contract, whatever their length.
// Malformed lines of the contract become warnings. After a read error, the report covers the lines before it.
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

// parser is the state of Parse between two blocks of input.
type parser struct {
	pick   Pick
	report Report

	line    []byte // the current line, at most maxLine bytes
	cut     bool   // whether the line was longer
	number  int    // number of the current line, from 0
	times   []float64
	seconds []float64 // seconds of epochs, from progress lines
	steps   []float64 // seconds of steps, from lines that count only steps
	epoch   int       // epoch of the last progress line; 0 after a start or resume
	stride  int       // number of epochs between two lines; 0 if not known yet
}

func (p *parser) add(chunk []byte) {
	if room := maxLine - len(p.line); len(chunk) > room {
		chunk, p.cut = chunk[:room], true
	}
	p.line = append(p.line, chunk...)
}

// endLine parses the complete line. A carriage return ends a line too, since progress bars overwrite their line.
func (p *parser) endLine() {
	p.number++
	for part := range bytes.SplitSeq(p.line, []byte{'\r'}) {
		p.part(part)
	}
	if cap(p.line) > 1<<20 {
		p.line = nil // release the memory of a long line
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
		// A second opening mark comes before the closing one: the first list was incomplete.
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

// parseTimes parses "[startup, epoch, …, save]".
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
		return // "tfexp" is elsewhere in the object: the line is not part of the contract
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

// follows warns about an epoch that does not follow the previous one. A program reports every epoch or every n-th one.
// It may begin again at the first epoch, or at any epoch after it has resumed.
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

// inWords explains an error in a JSON line without naming Go types.
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

// news keeps a line that is not about progress.
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

// keep appends an item unless the list is full.
func keep[T any](list *[]T, item T) {
	if len(*list) < maxNews {
		*list = append(*list, item)
	}
}
