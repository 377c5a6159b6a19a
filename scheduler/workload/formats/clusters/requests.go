package clusters

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
	"github.com/tfexp/tfexp/scheduler/workload/logs"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// A request file has a line for each job, and for each change of a request:
//
//	execution|update,instance,job,threads,wait[,priority]
//
// wait is the time to the next line. Empty lines and lines that begin with # are comments.
var _ = formats.Register(&formats.Format{
	Name: "requests", Rank: 1, Endings: []string{".requests", ".req"},
	Holds: formats.Priorities | formats.Resizes, FromJobBlocks: formats.Memory | formats.GPUs | formats.Nodes | formats.Sizes,
	Doc: "A line is `execution|update,<instance>,<image or job>,<threads>,<wait s>[,<priority>]`. The " +
		"wait is the time until the next line; it may be written as a list of one number, `[41.23]`. An " +
		"update changes the request of an instance. A job's class is its image or job.",
	Args:   []schema.Arg{formats.UnitArg},
	Reader: readRequests, Writer: writeRequests,
})

// request is a line of a request file.
type request struct {
	// update says that the line changes the threads of an earlier instance. Otherwise the line is a new job.
	update   bool
	instance string
	// job is the name of the image or job that the instance runs.
	job     string
	threads int
	// at is the instant of the request: the sum of the waits in the lines before.
	at          time.Duration
	priority    int
	hasPriority bool
}

// readRequests reads a request file. The name of a job is its instance, and its class is its job. Updates become
// resizes. A line is malformed if its action is unknown, the number of fields or a number is wrong, or an instance
// is repeated or unknown.
func readRequests(file string, r io.Reader, o formats.Options) (workload.Trace, error) {
	var b logs.Builder
	at := time.Duration(0)
	number := map[string]int{} // job number by instance
	skipped, err := textfile.EachLine(file, r, o.Lenient, func(n int, line string) error {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			return nil
		}
		q, wait, err := parseRequest(line, o)
		// Later requests keep their instants even if this line is skipped.
		q.at = at
		if at += wait; at < q.at {
			at = q.at
			return errors.New("the sum of the waits is out of range")
		}
		if err != nil {
			return err
		}
		return addRequest(&b, n, q, number)
	})
	if err != nil {
		return workload.Trace{}, err
	}
	return b.Finish(skipped), nil
}

// addRequest adds a job, or a change of its request.
func addRequest(b *logs.Builder, line int, q request, number map[string]int) error {
	job, known := number[q.instance]
	switch {
	case q.update && !known:
		return fmt.Errorf("update of instance %q, which was not requested", q.instance)
	case !q.update && known:
		return fmt.Errorf("instance %q is requested twice", q.instance)
	case q.update:
		b.Resize(line, scheduler.Resize{At: q.at, Job: job, Threads: q.threads})
		return nil
	}
	j := scheduler.Job{
		Name: q.instance, Class: b.Share(q.job), Arrival: q.at, Threads: q.threads, Priority: -1, Deadline: scheduler.Never,
	}
	if q.hasPriority {
		j.Priority = q.priority
	}
	job = len(b.Jobs)
	if err := b.Add(line, j, -1); err != nil {
		return err
	}
	number[q.instance] = job
	return nil
}

func parseRequest(line string, o formats.Options) (q request, wait time.Duration, err error) {
	f := strings.Split(line, ",")
	for i := range f {
		f[i] = strings.TrimSpace(f[i])
	}
	if len(f) >= 5 {
		if text, ok := strings.CutPrefix(f[4], "["); ok { // some programs write a wait as a list of one
			f[4] = strings.TrimSpace(strings.TrimSuffix(text, "]"))
		}
		if wait, err = textfile.ParseTime(f[4], o.Unit()); err != nil || wait < 0 {
			return q, 0, fmt.Errorf("wait %q is not a time from 0 on", f[4])
		}
	}
	if len(f) != 5 && len(f) != 6 {
		return q, wait, fmt.Errorf("%d fields instead of 5 or 6", len(f))
	}
	switch f[0] {
	case "execution":
	case "update":
		q.update = true
	default:
		return q, wait, fmt.Errorf("unknown action %q, not execution or update", f[0])
	}
	q.instance, q.job = f[1], f[2]
	if q.instance == "" || q.job == "" {
		return q, wait, errors.New("the instance or the job has no name")
	}
	if q.threads, err = strconv.Atoi(f[3]); err != nil || q.threads < 1 || q.threads > workload.MaxThreads {
		return q, wait, fmt.Errorf("threads %q is not a number from 1 on", f[3])
	}
	if len(f) == 6 {
		q.hasPriority = true
		if q.priority, err = strconv.Atoi(f[5]); err != nil || q.priority < 0 {
			return q, wait, fmt.Errorf("priority %q is not a number from 0 on", f[5])
		}
	}
	return q, wait, nil
}

// requestLine is a line to write: the texts before and after its wait.
type requestLine struct {
	at     time.Duration
	before string
	behind string
}

// writeRequests writes a line for each job and each change of its request, in the order of their instants.
func writeRequests(w io.Writer, t workload.Trace) error {
	lines, err := requestLines(t)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	if len(lines) > 0 && lines[0].at > 0 { // the first line of a file is at 0
		fmt.Fprintf(out, "# The first request is at %ss: trace { start = \"%[1]ss\" } puts it there.\n", decimal(lines[0].at))
	}
	for i, l := range lines {
		wait := time.Duration(0)
		if i+1 < len(lines) {
			wait = lines[i+1].at - l.at
		}
		fmt.Fprintf(out, "%s,%s%s\n", l.before, decimal(wait), l.behind)
	}
	return out.Flush()
}

// requestLines returns the lines of a workload in the order of their instants.
func requestLines(t workload.Trace) ([]requestLine, error) {
	var lines []requestLine
	for i := range t.Jobs {
		j := &t.Jobs[i]
		if j.Class == "" {
			return nil, formats.CannotHold(j, "no class")
		}
		if strings.ContainsAny(j.Name+j.Class, ",\n\r") || strings.TrimSpace(j.Name) != j.Name ||
			strings.TrimSpace(j.Class) != j.Class {
			return nil, formats.CannotHold(j, "a name with a comma, or with space around it")
		}
		l := requestLine{at: j.Arrival, before: fmt.Sprintf("execution,%s,%s,%d", j.Name, j.Class, j.Threads)}
		if j.Priority >= 0 {
			l.behind = "," + strconv.Itoa(j.Priority)
		}
		lines = append(lines, l)
	}
	for _, z := range t.Resizes {
		j := &t.Jobs[z.Job]
		if z.At < j.Arrival {
			return nil, formats.CannotHold(j, "a change of its request before it arrives")
		}
		lines = append(lines, requestLine{at: z.At, before: fmt.Sprintf("update,%s,%s,%d", j.Name, j.Class, z.Threads)})
	}
	slices.SortStableFunc(lines, func(a, b requestLine) int { return int(min(max(a.at-b.at, -1), 1)) })
	return lines, nil
}
