package workload

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// Request is a line of a request file.
type Request struct {
	Line int
	// Update asks for a new number of threads for an instance that was asked
	// for before; otherwise the line asks for a new one.
	Update   bool
	Instance string
	// Job is the image or job that the instance runs.
	Job     string
	Threads int
	// At is the instant of the request: the sum of the waits before it.
	At          time.Duration
	Priority    int
	HasPriority bool
}

// ReadRequests reads a request file. Each line is
//
//	execution|update,instance,job,threads,wait[,priority]
//
// where wait is the time to the next request. Empty lines and lines that begin
// with # are left out. Malformed lines are LineErrors: an unknown action, too
// few or too many fields, a number that is none, less than one thread, a
// negative wait or priority, an instance that is asked for twice, or an update
// of one that was not asked for.
func ReadRequests(file string, r io.Reader, o Options) (requests []Request, skipped []error, err error) {
	skipped, err = eachRequest(file, r, o, func(q Request, _ int) error {
		requests = append(requests, q)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return requests, skipped, nil
}

// eachRequest calls f with every request, and the number of its instance in
// the order of executions.
func eachRequest(file string, r io.Reader, o Options, f func(q Request, number int) error) (skipped []error, err error) {
	at := time.Duration(0)
	asked := map[string]int32{}
	skipped, err = eachLine(file, r, o.Lenient, func(n int, line string) error {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			return nil
		}
		q, wait, err := parseRequest(line, o)
		// Later requests keep their instants even if this one is left out.
		now := at
		if at += wait; at < now {
			at = now
			return errors.New("the waits add up to more than can be told")
		}
		number, known := asked[q.Instance]
		switch {
		case err != nil:
			return err
		case q.Update && !known:
			return fmt.Errorf("update of instance %q, which was not asked for", q.Instance)
		case !fitName(q.Instance):
			return fmt.Errorf("instance %q has a character that no file name has", q.Instance)
		case !q.Update && known:
			return fmt.Errorf("instance %q is asked for twice", q.Instance)
		}
		if !q.Update {
			number = int32(len(asked))
			asked[q.Instance] = number
		}
		q.Line, q.At = n, now
		return f(q, int(number))
	})
	if err != nil {
		return nil, fmt.Errorf("read requests: %w", err)
	}
	return skipped, nil
}

func parseRequest(line string, o Options) (q Request, wait time.Duration, err error) {
	f := strings.Split(line, ",")
	for i := range f {
		f[i] = strings.TrimSpace(f[i])
	}
	if len(f) >= 5 {
		if wait, err = parseTime(f[4], o.Unit); err != nil || wait < 0 {
			return q, 0, fmt.Errorf("wait %q is not a time from 0 on", f[4])
		}
	}
	if len(f) != 5 && len(f) != 6 {
		return q, wait, fmt.Errorf("%d fields instead of 5 or 6", len(f))
	}
	switch f[0] {
	case "execution":
	case "update":
		q.Update = true
	default:
		return q, wait, fmt.Errorf("unknown action %q, not execution or update", f[0])
	}
	q.Instance, q.Job = f[1], f[2]
	if q.Instance == "" || q.Job == "" {
		return q, wait, errors.New("the instance or the job has no name")
	}
	if q.Threads, err = strconv.Atoi(f[3]); err != nil || q.Threads < 1 || q.Threads > maxThreads {
		return q, wait, fmt.Errorf("threads %q is not a number from 1 on", f[3])
	}
	if len(f) == 6 {
		q.HasPriority = true
		if q.Priority, err = strconv.Atoi(f[5]); err != nil || q.Priority < 0 {
			return q, wait, fmt.Errorf("priority %q is not a number from 0 on", f[5])
		}
	}
	return q, wait, nil
}

// ReadRequestTrace reads a request file as a trace: the jobs are named as the
// instances, their class is the job that they run, and updates are resizes.
func ReadRequestTrace(file string, r io.Reader, o Options) (Trace, error) {
	t := newReader()
	var err error
	t.Skipped, err = eachRequest(file, r, o, func(q Request, number int) error {
		if q.Update {
			t.Resizes = append(t.Resizes, scheduler.Resize{At: q.At, Job: number, Threads: q.Threads})
			t.ResizeLines = append(t.ResizeLines, int32(q.Line))
			return nil
		}
		j := scheduler.Job{
			Name: q.Instance, Class: t.share(q.Job), Arrival: q.At, Threads: q.Threads, Priority: -1, Deadline: scheduler.Never,
		}
		if q.HasPriority {
			j.Priority = q.Priority
		}
		return t.add(q.Line, j, -1)
	})
	if err != nil {
		return Trace{}, err
	}
	t.RunTimes = nil
	return t.Trace, nil
}
