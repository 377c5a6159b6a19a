package clusters

import (
	"bufio"
	"fmt"
	"io"
	"math"
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

// The Standard Workload Format has lines of 18 fields, and header lines that begin with a semicolon (S. J. Chapin et
// al., 1999; version 2.2, https://www.cs.huji.ac.il/labs/parallel/workload/swf.html).
var _ = formats.Register(&formats.Format{
	Begins: func(line string) bool { return strings.HasPrefix(line, ";") },
	Name:   "swf", Rank: 2, Endings: []string{".swf"},
	Holds: formats.RunTimes | formats.RequestedTimes | formats.Memory | formats.Users, NeedsRunTimes: true,
	Doc: "The Standard Workload Format. A job requests the requested processors, or the allocated ones " +
		"if that field is empty. Its class is `job`, and its user is `user-<number>`. Its memory is the " +
		"requested or else the used memory of each processor. Lines of partial executions (status 2 to 4) and " +
		"of jobs that were cancelled before they ran (status 5) are left out.",
	Args: []schema.Arg{formats.UnitArg, {
		Name: "memory", Type: schema.Bool, Default: `true`,
		Doc: "Whether jobs request the memory in the file, not in their job blocks. Only " +
			"nodes with a `memory` account for it.",
		Example: `false`,
	}},
	Reader: readSWF, Writer: writeSWF,
})

// readSWF reads a log.
//
// A job requests its requested processors, or else its allocated ones. Its prediction is the requested time, or else
// the true run time; it has none if no job of the file has a requested time. Its memory is the requested memory, or
// else the used memory, in KiB per processor. A line is malformed if it does not have 18 fields, or the submit time,
// run time or number of processors is unknown.
//
// Lines about parts of a job (status 2 to 4) repeat the line of the whole job. Jobs that were canceled before they
// ran (status 5) have no run time. Both are left out, and counted in Ignored.
func readSWF(file string, r io.Reader, o formats.Options) (workload.Trace, error) {
	var b logs.Builder
	fields := make([]string, 0, swfFields) // fields of the present line
	unasked := 0                           // jobs without a requested time
	after := 0                             // jobs that should start after another job
	skipped, err := textfile.EachLine(file, r, o.Lenient, func(n int, line string) error {
		line = strings.TrimSpace(line)
		if header, ok := strings.CutPrefix(line, ";"); ok {
			return swfHeader(&b, header)
		}
		if line == "" {
			return nil
		}
		fields = fields[:0]
		for f := range strings.FieldsSeq(line) {
			fields = append(fields, f)
		}
		known, err := swfJob(&b, n, fields, o)
		if err == nil && swfNumber(fields[swfPreceding]) > 0 {
			after++
		}
		if !known && err == nil {
			unasked++
		}
		return err
	})
	if err != nil {
		return workload.Trace{}, err
	}
	if unasked > 0 && unasked == len(b.Jobs) { // no job has a requested time, so true run times are no predictions
		for i := range b.Jobs {
			b.Jobs[i].Predicted = 0
		}
	} else if unasked > 0 {
		b.Assumed = append(b.Assumed,
			fmt.Sprintf("%d of %d jobs have no requested time: their run time is taken for it", unasked, len(b.Jobs)))
	}
	if after > 0 {
		b.Assumed = append(b.Assumed, fmt.Sprintf("jobs that were submitted after the end of another job (%d) arrive at their "+
			"recorded times", after))
	}
	return b.Finish(skipped), nil
}

// swfNumber parses a whole number; it returns -1 for other texts.
func swfNumber(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

func swfHeader(b *logs.Builder, line string) error {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	switch n, err := strconv.Atoi(value); strings.TrimSpace(name) {
	case "UnixStartTime":
		b.Origin = max(time.Duration(n), 0) * time.Second
	case "MaxProcs":
		if b.Processors = n; err != nil {
			return fmt.Errorf("MaxProcs %q is not a number", value)
		}
	}
	return nil
}

// The indexes of the fields of a line.
const (
	swfJobNumber = iota
	swfSubmit
	swfWait
	swfRun
	swfAllocated
	swfCPUTime
	swfUsedMemory
	swfRequested
	swfRequestedTime
	swfRequestedMemory
	swfStatus
	swfUser
	swfPreceding = 16
	swfFields    = 18
)

// swfJob adds the job of a line. known is false if the job has no requested time.
func swfJob(b *logs.Builder, line int, f []string, o formats.Options) (known bool, err error) {
	if len(f) != swfFields {
		return false, fmt.Errorf("%d fields instead of %d", len(f), swfFields)
	}
	submit, err := textfile.ParseTime(f[swfSubmit], o.Unit())
	if err != nil {
		return false, fmt.Errorf("submit %w", err)
	}
	run, err := textfile.ParseTime(f[swfRun], o.Unit())
	if err != nil {
		return false, fmt.Errorf("run %w", err)
	}
	switch status := f[swfStatus]; {
	case status == "2" || status == "3" || status == "4", status == "5" && run <= 0:
		b.Ignored++
		return true, nil
	case swfNumber(status) < -1 || swfNumber(status) > 5 || status != "-1" && swfNumber(status) == -1:
		return false, fmt.Errorf("the status %q is not one of -1 to 5", status)
	}
	unknown := false
	asked, err := textfile.ParseTime(f[swfRequestedTime], o.Unit())
	if err != nil {
		return false, fmt.Errorf("requested %w", err)
	}
	processors, err := strconv.Atoi(f[swfRequested])
	if err == nil && processors <= 0 {
		processors, err = strconv.Atoi(f[swfAllocated])
	}
	switch {
	case err != nil:
		return false, fmt.Errorf("processors %q and %q are not whole numbers", f[swfRequested], f[swfAllocated])
	case submit < 0:
		return false, fmt.Errorf("the submit time is %s", f[swfSubmit])
	case run < 0:
		return false, fmt.Errorf("the run time is %s", f[swfRun])
	case processors <= 0:
		return false, fmt.Errorf("the number of processors is %d", processors)
	case asked <= 0:
		asked = max(run, 1)
		unknown = true
	}
	memory, err := swfMemory(f[swfRequestedMemory], processors)
	used, bad := swfMemory(f[swfUsedMemory], processors)
	if err == nil && memory == 0 {
		memory, err = used, bad
		used = 0 // without a requested memory there is nothing to compare
	}
	if err != nil {
		return false, err
	}
	asks := memory
	if !formats.Option(o, "memory", true) {
		memory = 0
	}
	user := ""
	if f[swfUser] != "-1" {
		user = b.Share("user-" + f[swfUser])
	}
	err = b.Add(line, scheduler.Job{
		Name: "job-" + f[swfJobNumber], Class: "job", Arrival: submit, Threads: processors,
		Memory: memory, Priority: -1, Deadline: scheduler.Never, User: user, Predicted: asked,
	}, run)
	if wait, unreadable := textfile.ParseTime(f[swfWait], o.Unit()); err == nil && unreadable == nil && wait >= 0 {
		b.Waited(wait)
	}
	if err == nil {
		b.UsedMemory(asks, used)
	}
	return !unknown, err
}

// swfMemory returns the memory of a job in bytes, from a field in KiB per processor; 0 if unknown.
func swfMemory(field string, processors int) (int64, error) {
	if field == "-1" || field == "0" {
		return 0, nil
	}
	kib, err := strconv.ParseFloat(field, 64) // some logs have fractions
	if err != nil || math.IsNaN(kib) {
		return 0, fmt.Errorf("memory %q is not a number", field)
	}
	bytes := kib * 1024 * float64(processors)
	if bytes >= 1<<62 {
		return 0, fmt.Errorf("memory %q is out of range", field)
	}
	return int64(max(bytes, 0)), nil
}

// writeSWF writes 18 fields a line. Jobs are numbered from 1, unless all have names of SWF jobs. Other names are
// lost, and so are classes.
func writeSWF(w io.Writer, t workload.Trace) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "; Version: 2.2\n; UnixStartTime: 0\n; MaxJobs: %d\n", len(t.Jobs))
	if t.Processors > 0 {
		fmt.Fprintf(out, "; MaxProcs: %d\n", t.Processors)
	}
	number, numbered := numbers(t.Jobs, "job-")
	user := swfUsers(t.Jobs)
	for i := range t.Jobs {
		j, run := &t.Jobs[i], t.RunTimes[i]
		name := strconv.Itoa(i + 1)
		if numbered {
			name = number[i]
		}
		memory := "-1"
		if j.Memory > 0 {
			kib := float64(j.Memory) / 1024 / float64(j.Threads)
			if int64(kib*1024*float64(j.Threads)) != j.Memory {
				return formats.CannotHold(j, fmt.Sprintf("a memory of %d bytes, which is not a number of KiB a processor", j.Memory))
			}
			memory = strconv.FormatFloat(kib, 'f', -1, 64)
		}
		fmt.Fprintf(out, "%s %s -1 %s %d -1 -1 %d %s %s 1 %s -1 -1 -1 -1 -1 -1\n",
			name, decimal(j.Arrival), decimal(run), j.Threads, j.Threads, decimal(requested(j, run)), memory, user(j.User))
	}
	return out.Flush()
}

// swfUsers returns a function from a user to an SWF number. If all users have names of SWF users, it is the number
// in the name. Otherwise users are numbered as they first occur.
func swfUsers(jobs []scheduler.Job) func(string) string {
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
