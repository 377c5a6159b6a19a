package workload

import (
	"bufio"
	"encoding/json"
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

// ErrInexpressible is wrapped when a format has no place for what a workload
// holds.
var ErrInexpressible = errors.New("the format has no place for it")

// Write writes a workload in a format. Reading what was written, and writing it
// again, gives the same bytes. The error wraps ErrInexpressible when the
// workload has something that the format cannot tell: nothing is dropped in
// silence.
func (f Format) Write(w io.Writer, t Trace) error {
	switch f {
	case CSV:
		return WriteCSV(w, t)
	case SWF:
		return writeSWF(w, t)
	case Requests:
		return writeRequests(w, t)
	case Batsim:
		return writeBatsim(w, t)
	}
	return fmt.Errorf("write workload: unknown format %q", f)
}

// lacking says what of a job a format has no place for.
func lacking(f Format, j *scheduler.Job, what string) error {
	return fmt.Errorf("write workload as %s: job %q has %s: %w", f, j.Name, what, ErrInexpressible)
}

// common reports what neither SWF, nor Batsim, nor a request file can tell.
func common(f Format, j *scheduler.Job) error {
	switch {
	case j.GPUs > 0:
		return lacking(f, j, "GPUs")
	case j.Nodes > 1:
		return lacking(f, j, "several nodes")
	case j.Malleable || j.MinThreads > 1 || j.MaxThreads > 0:
		return lacking(f, j, "a size that changes")
	case j.Deadline != scheduler.Never:
		return lacking(f, j, "a deadline")
	}
	return nil
}

// decimal writes a time in seconds, with as many decimals as it needs.
func decimal(d time.Duration) string {
	s := strings.TrimRight(seconds(d), "0")
	return strings.TrimSuffix(s, ".")
}

// runTime returns the run time of a job that the trace must tell.
func (t *Trace) runTime(f Format, i int) (time.Duration, error) {
	if t.RunTimes == nil || t.RunTimes[i] < 0 {
		return 0, fmt.Errorf("write workload as %s: nobody tells how long job %q runs, for its job block has no runtime: %w", f, t.Jobs[i].Name, ErrInexpressible)
	}
	return t.RunTimes[i], nil
}

// writeSWF writes 18 fields a line. Jobs are numbered from 1, unless each is
// named as an SWF log names it; the names of others are lost, and so are
// classes.
func writeSWF(w io.Writer, t Trace) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "; Version: 2.2\n; UnixStartTime: 0\n; MaxJobs: %d\n", len(t.Jobs))
	if t.Processors > 0 {
		fmt.Fprintf(out, "; MaxProcs: %d\n", t.Processors)
	}
	if len(t.Resizes) > 0 {
		return lacking(SWF, &t.Jobs[t.Resizes[0].Job], "a change of its request")
	}
	number, numbered := numbers(t.Jobs, "job-")
	user := users(t.Jobs)
	for i := range t.Jobs {
		j := &t.Jobs[i]
		if err := common(SWF, j); err != nil {
			return err
		}
		if j.Priority > 0 {
			return lacking(SWF, j, "a priority")
		}
		run, err := t.runTime(SWF, i)
		if err != nil {
			return err
		}
		name := strconv.Itoa(i + 1)
		if numbered {
			name = number[i]
		}
		memory := "-1"
		if j.Memory > 0 {
			kib := float64(j.Memory) / 1024 / float64(j.Threads)
			if int64(kib*1024*float64(j.Threads)) != j.Memory {
				return lacking(SWF, j, fmt.Sprintf("a memory of %d bytes, which no number of KiB a processor is", j.Memory))
			}
			memory = strconv.FormatFloat(kib, 'f', -1, 64)
		}
		fmt.Fprintf(out, "%s %s -1 %s %d -1 -1 %d %s %s 1 %s -1 -1 -1 -1 -1 -1\n",
			name, decimal(j.Arrival), decimal(run), j.Threads, j.Threads, decimal(asked(j, run)), memory, user(j.User))
	}
	return flush(out)
}

// asked is the run time that a job's user asked for, which is taken to be the
// true one where it is not known.
func asked(j *scheduler.Job, run time.Duration) time.Duration {
	if j.Predicted > 0 {
		return j.Predicted
	}
	return max(run, 1)
}

// numbers cuts a prefix from the names of jobs; false unless all have it, with
// a number behind.
func numbers(jobs []scheduler.Job, prefix string) ([]string, bool) {
	list := make([]string, len(jobs))
	for i := range jobs {
		rest, ok := strings.CutPrefix(jobs[i].Name, prefix)
		if n, err := strconv.Atoi(rest); !ok || err != nil || n < 0 || strconv.Itoa(n) != rest {
			return nil, false
		}
		list[i] = rest
	}
	return list, true
}

// users numbers the users of jobs: those that are named as SWF users by their
// numbers, if all are; else in the order in which they come.
func users(jobs []scheduler.Job) func(string) string {
	number := map[string]string{"": "-1"}
	named := true
	for i := range jobs {
		if rest, ok := strings.CutPrefix(jobs[i].User, "user-"); jobs[i].User != "" {
			n, err := strconv.Atoi(rest)
			named = named && ok && err == nil && strconv.Itoa(n) == rest
		}
	}
	return func(user string) string {
		if rest, ok := strings.CutPrefix(user, "user-"); ok && named {
			return rest
		}
		n, ok := number[user]
		if !ok {
			n = strconv.Itoa(len(number))
			number[user] = n
		}
		return n
	}
}

// writeRequests writes a line for each job and each change of its request, in
// the order of their instants. A wait is the time to the next line. What the
// format does not tell of a job's size, memory and GPUs, its job block does.
func writeRequests(w io.Writer, t Trace) error {
	type line struct {
		at   time.Duration
		text string // without the wait
		rest string // behind it
	}
	var lines []line
	for i := range t.Jobs {
		j := &t.Jobs[i]
		switch { // sizes, memory and GPUs are those of the job block
		case j.Deadline != scheduler.Never:
			return lacking(Requests, j, "a deadline")
		case j.User != "":
			return lacking(Requests, j, "a user")
		case j.Predicted > 0:
			return lacking(Requests, j, "a requested time")
		case t.RunTimes != nil && t.RunTimes[i] >= 0:
			return lacking(Requests, j, "a run time of its own")
		case strings.ContainsAny(j.Name+j.Class, ",\n\r") || strings.TrimSpace(j.Name) != j.Name || strings.TrimSpace(j.Class) != j.Class:
			return lacking(Requests, j, "a name with a comma, or with space around it")
		}
		l := line{at: j.Arrival, text: fmt.Sprintf("execution,%s,%s,%d", j.Name, j.Class, j.Threads)}
		if j.Priority >= 0 {
			l.rest = "," + strconv.Itoa(j.Priority)
		}
		lines = append(lines, l)
	}
	for _, z := range t.Resizes {
		j := &t.Jobs[z.Job]
		if z.At < j.Arrival {
			return lacking(Requests, j, "a change of its request before it arrives")
		}
		lines = append(lines, line{at: z.At, text: fmt.Sprintf("update,%s,%s,%d", j.Name, j.Class, z.Threads)})
	}
	slices.SortStableFunc(lines, func(a, b line) int { return int(min(max(a.at-b.at, -1), 1)) })
	out := bufio.NewWriter(w)
	if len(lines) > 0 && lines[0].at > 0 { // the first request of a file is at 0
		fmt.Fprintf(out, "# The first request is at %ss: trace { start = \"%[1]ss\" } puts it there.\n", decimal(lines[0].at))
	}
	for i, l := range lines {
		wait := time.Duration(0)
		if i+1 < len(lines) {
			wait = lines[i+1].at - l.at
		}
		fmt.Fprintf(out, "%s,%s%s\n", l.text, decimal(wait), l.rest)
	}
	return flush(out)
}

// writeBatsim writes a JSON object with a job a line, and a delay profile for
// each class, or for each of its run times where it has several.
func writeBatsim(w io.Writer, t Trace) error {
	if len(t.Resizes) > 0 {
		return lacking(Batsim, &t.Jobs[t.Resizes[0].Job], "a change of its request")
	}
	out := bufio.NewWriter(w)
	most := 1
	for i := range t.Jobs {
		most = max(most, t.Jobs[i].Threads)
	}
	if t.Processors > 0 {
		most = t.Processors
	}
	fmt.Fprintf(out, "{\n  \"nb_res\": %d,\n  \"jobs\": [", most)
	ids, numbered := numbers(t.Jobs, "job-")
	prefixed := !slices.ContainsFunc(t.Jobs, func(j scheduler.Job) bool { return !strings.HasPrefix(j.Name, "job-") })
	type profile struct {
		class string
		run   time.Duration
	}
	names, known := map[profile]string{}, map[string]bool{}
	var order []profile
	for i := range t.Jobs {
		j := &t.Jobs[i]
		if err := common(Batsim, j); err != nil {
			return err
		}
		switch {
		case j.Memory > 0:
			return lacking(Batsim, j, "a memory")
		case j.User != "":
			return lacking(Batsim, j, "a user")
		case j.Priority > 0:
			return lacking(Batsim, j, "a priority")
		}
		run, err := t.runTime(Batsim, i)
		if err != nil {
			return err
		}
		p := profile{j.Class, run}
		name, ok := names[p]
		if !ok {
			name = j.Class
			for n := 2; known[name]; n++ {
				name = fmt.Sprintf("%s-%d", j.Class, n)
			}
			names[p], known[name] = name, true
			order = append(order, p)
		}
		id := j.Name
		if prefixed { // which reading puts before it
			id = strings.TrimPrefix(id, "job-")
		}
		if numbered {
			id = ids[i]
		} else {
			id = quoted(id)
		}
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(out, "\n    {\"id\": %s, \"subtime\": %s, \"res\": %d, \"walltime\": %s, \"profile\": %s}",
			id, exact(j.Arrival), j.Threads, exact(asked(j, run)), quoted(name))
	}
	out.WriteString("\n  ],\n  \"profiles\": {")
	for i, p := range order {
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(out, "\n    %s: {\"type\": \"delay\", \"delay\": %s}", quoted(names[p]), exact(p.run))
	}
	out.WriteString("\n  }\n}\n")
	return flush(out)
}

func quoted(s string) string {
	text, _ := json.Marshal(s) // a string is always written
	return string(text)
}

// exact writes a time for a reader that keeps it as a floating-point number of
// seconds: the shortest that is rounded to the same nanosecond.
func exact(d time.Duration) string {
	return strconv.FormatFloat(math.Round(float64(d))/1e9, 'f', -1, 64)
}

func flush(out *bufio.Writer) error {
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write workload: %w", err)
	}
	return nil
}
