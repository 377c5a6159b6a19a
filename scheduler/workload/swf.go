package workload

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/scheduler"
)

// ReadSWF reads a log in the Standard Workload Format: 18 fields a line, and
// header lines that begin with a semicolon (S. J. Chapin et al., 1999; version
// 2.2, https://www.cs.huji.ac.il/labs/parallel/workload/swf.html).
//
// A job asks for the requested processors, or those it was allocated if the
// log does not say. Its prediction is the requested time; without one it is
// the true run time. Its memory is the requested one, or else the used one: so
// many KiB a processor. A job whose submit time, run time or number of
// processors is not known is malformed, and so is a line without 18 fields.
//
// Lines of partial executions (status 2 to 4) repeat what the line of the whole
// job says, and jobs that were cancelled before they ran (status 5) have
// nothing to run: both are left out, and counted in Ignored.
func ReadSWF(file string, r io.Reader, o Options) (Trace, error) {
	t := newReader()
	fields := make([]string, 0, swfFields) // of the present line
	var err error
	t.Skipped, err = eachLine(file, r, o.Lenient, func(n int, line string) error {
		line = strings.TrimSpace(line)
		if header, ok := strings.CutPrefix(line, ";"); ok {
			return t.swfHeader(header)
		}
		if line == "" {
			return nil
		}
		fields = fields[:0]
		for f := range strings.FieldsSeq(line) {
			fields = append(fields, f)
		}
		return t.swfJob(n, fields, o)
	})
	if err != nil {
		return Trace{}, fmt.Errorf("read SWF log: %w", err)
	}
	return t.Trace, nil
}

func (t *reader) swfHeader(line string) error {
	name, value, ok := strings.Cut(line, ":")
	if !ok || strings.TrimSpace(name) != "MaxProcs" {
		return nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil {
		return fmt.Errorf("MaxProcs %q is not a number", strings.TrimSpace(value))
	}
	t.Processors = n
	return nil
}

// The fields of a line, from 0.
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
	swfFields = 18
)

func (t *reader) swfJob(line int, f []string, o Options) error {
	if len(f) != swfFields {
		return fmt.Errorf("%d fields instead of %d", len(f), swfFields)
	}
	submit, err := parseTime(f[swfSubmit], o.Unit)
	if err != nil {
		return fmt.Errorf("submit %w", err)
	}
	run, err := parseTime(f[swfRun], o.Unit)
	if err != nil {
		return fmt.Errorf("run %w", err)
	}
	switch status := f[swfStatus]; {
	case status == "2" || status == "3" || status == "4", status == "5" && run <= 0:
		t.Ignored++
		return nil
	}
	requested, err := parseTime(f[swfRequestedTime], o.Unit)
	if err != nil {
		return fmt.Errorf("requested %w", err)
	}
	processors, err := strconv.Atoi(f[swfRequested])
	if err == nil && processors <= 0 {
		processors, err = strconv.Atoi(f[swfAllocated])
	}
	switch {
	case err != nil:
		return fmt.Errorf("processors: %w", err)
	case submit < 0:
		return fmt.Errorf("the submit time is %s", f[swfSubmit])
	case run < 0:
		return fmt.Errorf("the run time is %s", f[swfRun])
	case processors <= 0:
		return fmt.Errorf("the number of processors is %d", processors)
	case requested <= 0:
		requested = max(run, 1)
	}
	memory, err := swfMemory(f, processors)
	if err != nil {
		return err
	}
	if o.IgnoreMemory {
		memory = 0
	}
	user := ""
	if f[swfUser] != "-1" {
		user = t.share("user-" + f[swfUser])
	}
	return t.add(line, scheduler.Job{
		Name: "job-" + f[swfJobNumber], Class: "job", Arrival: submit, Threads: processors,
		Memory: memory, Priority: -1, Deadline: scheduler.Never, User: user, Predicted: requested,
	}, run)
}

// swfMemory is the memory of a job in bytes; 0 when the log tells none.
func swfMemory(f []string, processors int) (int64, error) {
	for _, field := range []int{swfRequestedMemory, swfUsedMemory} {
		if f[field] == "-1" || f[field] == "0" {
			continue
		}
		kib, err := strconv.ParseFloat(f[field], 64) // some logs have fractions
		if err != nil || math.IsNaN(kib) {
			return 0, fmt.Errorf("memory %q is not a number", f[field])
		}
		if bytes := kib * 1024 * float64(processors); bytes >= 1<<62 {
			return 0, fmt.Errorf("memory %q is out of range", f[field])
		} else if bytes > 0 {
			return int64(bytes), nil
		}
	}
	return 0, nil
}
