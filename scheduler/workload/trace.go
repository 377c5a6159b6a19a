package workload

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// Trace is a log of jobs, as it was read from a file.
type Trace struct {
	// Jobs are numbered in the order of the file. Their predictions are the
	// run times that users asked for, where the file has them. A Priority below
	// 0 is one that the file does not tell.
	Jobs []scheduler.Job
	// RunTimes are the true run times on the full request, one for each job;
	// negative where the file does not tell, nil where it tells none.
	RunTimes []time.Duration
	// Lines are the lines of the file that the jobs are from.
	Lines []int32
	// Resizes are changes of requests while jobs run, and ResizeLines the lines
	// that ask for them.
	Resizes     []scheduler.Resize
	ResizeLines []int32
	// Processors is the size of the machine by the file; 0 if it does not say.
	Processors int
	// Ignored counts the lines that stand for no job of their own.
	Ignored int
	// Skipped are the malformed lines that a lenient reader left out.
	Skipped []error
}

// Options say how a log is read. The zero value is usable.
type Options struct {
	// Unit is that of the times in the file; 0 means seconds.
	Unit time.Duration
	// Lenient leaves out malformed lines instead of failing.
	Lenient bool
	// IgnoreMemory leaves out what the file tells of the jobs' memory, where
	// the format lets it be chosen.
	IgnoreMemory bool
}

// LineError is what is wrong with a line of a file.
type LineError struct {
	File string
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns what is wrong, without the place.
func (e *LineError) Unwrap() error { return e.Err }

// MaxErrors bounds the malformed lines of which a reader tells before it
// gives up.
const MaxErrors = 20

// reader collects a trace.
type reader struct {
	Trace
	// names is nil as long as each name was greater than the one before it, by
	// length and then by letters, as running numbers are.
	names map[string]bool
	// shared are strings that many jobs have: they are kept once.
	shared map[string]string
}

func newReader() *reader {
	return &reader{shared: map[string]string{}}
}

// add appends a job and numbers it. Names are unique, and fit to name the log
// of a job.
func (t *reader) add(line int, j scheduler.Job, run time.Duration) error {
	switch {
	case t.taken(j.Name):
		return fmt.Errorf("job %q is there twice", j.Name)
	case !fitName(j.Name):
		return fmt.Errorf("the job's name %q has a character that no file name has", j.Name)
	case j.Threads > maxThreads || j.Nodes > maxThreads || j.GPUs > maxThreads:
		return fmt.Errorf("job %q asks for more than %d threads, nodes or GPUs", j.Name, maxThreads)
	}
	if t.names != nil {
		t.names[j.Name] = true
	}
	j.Number = len(t.Jobs)
	if len(t.Jobs) == cap(t.Jobs) { // append would grow, and copy, by a quarter at a time
		t.Jobs = slices.Grow(t.Jobs, len(t.Jobs)+1)
	}
	t.Jobs = append(t.Jobs, j)
	t.RunTimes = append(t.RunTimes, run)
	t.Lines = append(t.Lines, int32(line))
	return nil
}

// taken tells whether an earlier job has the name.
func (t *reader) taken(name string) bool {
	if t.names != nil {
		return t.names[name]
	}
	if n := len(t.Jobs); n == 0 || cmp.Or(cmp.Compare(len(t.Jobs[n-1].Name), len(name)), strings.Compare(t.Jobs[n-1].Name, name)) < 0 {
		return false
	}
	t.names = make(map[string]bool, 2*len(t.Jobs))
	for i := range t.Jobs {
		t.names[t.Jobs[i].Name] = true
	}
	return t.names[name]
}

// maxThreads keeps the numbers of cores within 32 bits.
const maxThreads = 1 << 30

func fitName(name string) bool {
	return name != "." && name != ".." && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '/' || r == '\\' || r == 0x7f })
}

// share returns a string that is equal, the same one each time.
func (t *reader) share(s string) string {
	kept, ok := t.shared[s]
	if !ok {
		kept = strings.Clone(s)
		t.shared[kept] = kept
	}
	return kept
}

// eachLine calls f with every line of r. Of its errors it makes LineErrors:
// returned as skipped when lenient, joined into err otherwise.
func eachLine(file string, r io.Reader, lenient bool, f func(number int, line string) error) (skipped []error, err error) {
	s := bufio.NewScanner(unmarked(r))
	s.Buffer(make([]byte, 64<<10), 1<<20)
	n := 0
	var found []error
	for s.Scan() {
		n++
		if err := f(n, s.Text()); err != nil {
			found = append(found, &LineError{file, n, err})
			if !lenient && len(found) == MaxErrors {
				break
			}
		}
	}
	if err := s.Err(); err != nil {
		return nil, &LineError{file, n + 1, err}
	}
	if lenient {
		return found, nil
	}
	return nil, errors.Join(found...)
}

// parseTime reads a number of units.
func parseTime(text string, unit time.Duration) (time.Duration, error) {
	if unit == 0 {
		unit = time.Second
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if n > math.MaxInt64/int64(unit) || n < math.MinInt64/int64(unit) {
			return 0, fmt.Errorf("time %q is out of range", text)
		}
		return time.Duration(n) * unit, nil
	}
	if unit == time.Second { // exact, however late it is
		if d, ok := parseSeconds(text); ok {
			return d, nil
		}
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("time %q is not a number", text)
	}
	return fromUnits(x, unit)
}

func fromUnits(x float64, unit time.Duration) (time.Duration, error) {
	if unit == 0 {
		unit = time.Second
	}
	d := math.Round(x * float64(unit))
	if math.IsNaN(d) || math.Abs(d) >= math.MaxInt64 {
		return 0, fmt.Errorf("time %v is out of range", x)
	}
	return time.Duration(d), nil
}
