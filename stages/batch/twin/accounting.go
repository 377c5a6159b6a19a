package twin

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
)

// Fields are the columns requested from sacct, as its argument -o.
const Fields = "JobID,User,Account,Partition,QOS,Submit,Eligible,Start,End,TimelimitRaw,ReqCPUS,ReqNodes,ReqMem," +
	"AllocCPUS,NNodes,ReqTRES,State,Constraints,Reservation"

var _ = formats.Register(&formats.Format{
	Name: "accounting", Rank: 19,
	Holds: formats.RunTimes | formats.RequestedTimes | formats.Memory | formats.GPUs | formats.Users,
	Doc: "What Slurm's `sacct -a -X -P -D -o " + Fields + "` prints, for policies with partitions and accounts: a job " +
		"has its account, partition, quality of service, time limit and features, and its cores are divided over nodes by " +
		"the policy. `User`, `Submit`, `Start`, `End` and one of the numbers of CPUs must be there. The class of a job is " +
		"its partition. Jobs that never started are left out; of one that was started several times the last time counts.",
	Reader: readAccounting,
})

// entry is a job of the accounting.
type entry struct {
	job   scheduler.Job
	start time.Duration // of its first attempt
	run   time.Duration
	begin time.Duration // when it became eligible; 0 if that is not known
	line  int
}

// accounting reads the output of sacct.
type accounting struct {
	workload.Builder
	at       map[string]int
	entries  map[string]*entry
	specials map[alike]*scheduler.Special
	list     []*entry
	waited   int // jobs that never started
}

func readAccounting(file string, r io.Reader, o formats.Options) (workload.Trace, error) {
	a := &accounting{at: map[string]int{}, entries: map[string]*entry{}, specials: map[alike]*scheduler.Special{}}
	skipped, err := workload.Table{Separator: '|', Loose: true}.EachRow(file, r, o.Lenient, a.head, a.row)
	if err == nil && len(a.list) == 0 {
		err = fmt.Errorf("%s: none of its jobs has started: print a longer time with  sacct -S and -E", file)
	}
	if err != nil {
		return workload.Trace{}, err
	}
	first := scheduler.Never
	for _, e := range a.list {
		first = min(first, e.job.Arrival)
	}
	slices.SortStableFunc(a.list, func(x, y *entry) int {
		return cmp.Or(cmp.Compare(x.job.Arrival, y.job.Arrival), cmp.Compare(x.line, y.line))
	})
	a.entries = nil
	for i, e := range a.list {
		a.list[i] = nil // for the next ones
		e.job.Arrival -= first
		if e.begin > 0 && e.begin-first > e.job.Arrival {
			own := *e.job.Submission()
			own.Begin = e.begin - first
			e.job.Special = a.special(&own)
		}
		if err := a.Add(e.line, e.job, e.run); err != nil {
			return workload.Trace{}, &workload.LineError{File: file, Line: e.line, Err: err}
		}
		a.Waited(e.start - first - e.job.Arrival)
	}
	a.Ignored, a.Origin = a.waited, first
	return a.Finish(skipped), nil
}

// special returns the properties of jobs that were submitted alike, which they share.
func (a *accounting) special(s *scheduler.Submission) *scheduler.Special {
	key := alike{s.Account, s.Partition, s.QOS, s.Reservation, s.Array, strings.Join(s.Features, "&"), s.Limit, s.Begin,
		s.MinNodes, s.MaxNodes}
	if a.specials[key] == nil {
		own := *s
		a.specials[key] = &scheduler.Special{Submission: &own}
	}
	return a.specials[key]
}

// alike is a submission in a form that can be compared.
type alike struct {
	account, partition, qos, reservation, array, features string
	limit, begin                                          time.Duration
	minNodes, maxNodes                                    int
}

// head finds the columns.
func (a *accounting) head(columns []string) error {
	for i, name := range columns {
		a.at[strings.TrimSpace(name)] = i
	}
	for _, need := range []string{"JobID", "User", "Submit", "Start", "End"} {
		if _, ok := a.at[need]; !ok {
			return fmt.Errorf("there is no column %q: print the log with  sacct -a -X -P -D -o %s", need, Fields)
		}
	}
	_, asked := a.at["ReqCPUS"]
	if _, given := a.at["AllocCPUS"]; !asked && !given {
		return errors.New(`there is neither a column "AllocCPUS" nor one "ReqCPUS"`)
	}
	return nil
}

// text returns a field; empty where nothing is known.
func (a *accounting) text(fields []string, column string) string {
	i, ok := a.at[column]
	if !ok || i >= len(fields) {
		return ""
	}
	switch s := strings.TrimSpace(fields[i]); s {
	case "Unknown", "None", "N/A", "(null)", "Partition_Limit", "UNLIMITED", "INVALID":
		return ""
	default:
		return s
	}
}

func (a *accounting) instant(fields []string, column string) (time.Duration, error) {
	text := a.text(fields, column)
	if text == "" {
		return 0, fmt.Errorf("it has no %s", column)
	}
	at, err := workload.ParseInstant(text, time.Second)
	if err != nil {
		return 0, fmt.Errorf("%s: %w (print the log with SLURM_TIME_FORMAT=standard)", column, err)
	}
	return at, nil
}

func (a *accounting) number(fields []string, columns ...string) (int, error) {
	for _, c := range columns {
		if text := a.text(fields, c); text != "" && text != "0" {
			text, _, _ = strings.Cut(text, "-")
			n, err := strconv.Atoi(text)
			if err != nil || n < 0 || n > workload.MaxThreads {
				return 0, fmt.Errorf("%s %q is not a number from 0", c, text)
			}
			return n, nil
		}
	}
	return 0, nil
}

// row reads an attempt of a job.
func (a *accounting) row(line int, fields []string) error {
	id := a.text(fields, "JobID")
	if id == "" || strings.Contains(id, ".") {
		a.Ignored++
		return nil
	}
	submit, err := a.instant(fields, "Submit")
	if err != nil {
		return err
	}
	if a.text(fields, "Start") == "" || a.text(fields, "End") == "" {
		a.waited++
		return nil
	}
	start, err := a.instant(fields, "Start")
	if err != nil {
		return err
	}
	end, err := a.instant(fields, "End")
	if err != nil {
		return err
	}
	if end < start {
		return errors.New("it ends before it starts")
	}
	if e := a.entries[id]; e != nil { // another attempt
		e.run = end - start
		return nil
	}
	e := &entry{start: start, run: end - start, line: line}
	j := &e.job
	j.Name, j.User, j.Class = strings.Clone(id), a.Share(a.text(fields, "User")), a.Share(a.text(fields, "Partition"))
	if j.Class == "" {
		j.Class = "job"
	}
	j.Arrival, j.Deadline, j.Priority = submit, scheduler.Never, -1
	if j.Threads, err = a.number(fields, "AllocCPUS", "ReqCPUS"); err != nil {
		return err
	}
	if j.Threads == 0 {
		return errors.New("it has no CPUs")
	}
	s := &scheduler.Submission{}
	s.Account, s.Partition = a.Share(a.text(fields, "Account")), a.Share(a.text(fields, "Partition"))
	s.QOS, s.Reservation = a.Share(a.text(fields, "QOS")), a.Share(a.text(fields, "Reservation"))
	if s.MinNodes, err = a.number(fields, "ReqNodes"); err != nil {
		return err
	}
	_, most, bounded := strings.Cut(a.text(fields, "ReqNodes"), "-")
	if bounded { // as squeue shows it
		s.MaxNodes, _ = strconv.Atoi(most)
	}
	if s.MinNodes <= 1 {
		s.MinNodes = 0
	} else if n, _ := a.number(fields, "NNodes"); n == s.MinNodes {
		s.MaxNodes = n // sacct does not show whether more would have worked
	}
	if text := a.text(fields, "TimelimitRaw"); text != "" {
		minutes, err := strconv.Atoi(text)
		if err != nil || minutes < 0 {
			return fmt.Errorf("TimelimitRaw %q is not a number of minutes", text)
		}
		s.Limit = time.Duration(minutes) * time.Minute
	} else if text := a.text(fields, "Timelimit"); text != "" {
		if s.Limit, err = workload.ParseSpan(text, time.Minute); err != nil {
			return fmt.Errorf("the column Timelimit: %w", err)
		}
	}
	j.Predicted = s.Limit
	if text := a.text(fields, "Constraints"); text != "" {
		for _, f := range strings.Split(text, "&") {
			s.Features = append(s.Features, a.Share(f))
		}
	}
	if err := a.resources(j, fields); err != nil {
		return err
	}
	if text := a.text(fields, "Eligible"); text != "" {
		if e.begin, err = a.instant(fields, "Eligible"); err != nil {
			return err
		}
	}
	if array, _, some := strings.Cut(id, "_"); some {
		s.Array = a.Share(array)
	}
	j.Special = a.special(s)
	a.entries[id] = e
	a.list = append(a.list, e)
	return nil
}

// resources reads the GPUs and the memory of a job, which node settings may not count.
func (a *accounting) resources(j *scheduler.Job, fields []string) error {
	for _, one := range strings.Split(a.text(fields, "ReqTRES"), ",") {
		name, value, _ := strings.Cut(one, "=")
		if name == "gres/gpu" {
			n, err := strconv.Atoi(value)
			if err != nil || n < 0 {
				return fmt.Errorf("ReqTRES: %q is not a number of GPUs", value)
			}
			j.GPUs = n
		}
	}
	return nil
}
