package slurmconf

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/logs"
	"github.com/tfexp/tfexp/scheduler/workload/slurm"
	"github.com/tfexp/tfexp/stages/batch"
	"github.com/tfexp/tfexp/stages/batch/forecast"
)

// QueueFields are the fields requested from squeue, as its argument -o.
const QueueFields = "%i|%u|%a|%P|%q|%T|%r|%V|%S|%M|%l|%C|%D|%f|%E|%v"

// columns are the names that scontrol has for the columns of squeue.
var columns = map[string]string{
	"JOBID": "JobId", "USER": "UserId", "ACCOUNT": "Account", "PARTITION": "Partition", "QOS": "QOS",
	"STATE": "JobState", "REASON": "Reason", "SUBMIT_TIME": "SubmitTime", "START_TIME": "StartTime", "TIME": "RunTime",
	"TIME_LIMIT": "TimeLimit", "CPUS": "NumCPUs", "NODES": "NumNodes", "FEATURES": "Features", "DEPENDENCY": "Dependency",
	"RESERVATION": "Reservation", "TRES_PER_NODE": "TresPerNode", "TRES_PER_JOB": "TresPerJob", "GRES": "Gres",
	"MIN_MEMORY": "MinMemoryNode", "TRES_ALLOC": "AllocTRES", "TRES": "TRES",
}

// ReadQueue reads the output of `scontrol show job`, or `squeue -a -r -o` with QueueFields. Instants count from
// the beginning of 1970, by the wall clock of the cluster. Notes list the omissions.
func ReadQueue(file string, r io.Reader) (q forecast.Queue, notes []string, err error) {
	in := bufio.NewScanner(io.LimitReader(r, 1<<30))
	in.Buffer(nil, 1<<20)
	var (
		head []string
		job  map[string]string
		read = queueReader{left: map[string]int{}, starts: map[string]string{}, throttles: map[string]int{}}
		line int
	)
	take := func() {
		if job != nil {
			if wrong := read.job(job); wrong != nil {
				read.wrong(&ConfProblem{file, line, wrong.Error()})
			}
		}
		job = nil
	}
	for n := 1; in.Scan() && err == nil; n++ {
		text := strings.TrimSpace(in.Text())
		switch {
		case text == "" || text == "No jobs in the system":
		case strings.HasPrefix(text, "JobId="):
			take()
			job, line = map[string]string{}, n
			pairs(text, job)
		case job != nil && head == nil:
			pairs(text, job)
		case strings.HasPrefix(text, "JOBID|"):
			head = strings.Split(text, "|")
		case head != nil:
			fields, wrong := slurm.FitFields(text, "|", head)
			if wrong != nil {
				read.wrong(&ConfProblem{file, n, wrong.Error()})
				continue
			}
			job, line = map[string]string{}, n
			for i, name := range head {
				job[columns[name]] = strings.TrimSpace(fields[i])
			}
			take()
		case slurm.FixedWidth(text):
			err = &ConfProblem{file, n, slurm.ErrFixedWidth.Error()}
		default:
			err = &ConfProblem{file, n,
				fmt.Sprintf("this is no queue: print it with  scontrol show job  or  squeue -a -r -o %q", QueueFields)}
		}
	}
	if take(); err == nil {
		err = in.Err()
	}
	if err == nil && len(read.jobs) == 0 && read.first != nil {
		err = read.first
	}
	read.throttle()
	read.leaveDependents()
	for _, why := range read.order {
		notes = append(notes, fmt.Sprintf("%s: %d jobs", why, read.left[why]))
	}
	q.At, q.Jobs, q.Left = max(read.now, read.last), read.jobs, read.starts
	return q, notes, err
}

// freeFields are the fields of scontrol that a user writes: they reach to the end of their line.
var freeFields = strings.Fields("JobName Comment AdminComment SystemComment Command WorkDir StdErr StdIn StdOut SubmitLine Extra " +
	"Container MailUser")

// nameOf matches the name of a job where all fields are in one line, and the fields behind it.
var nameOf = regexp.MustCompile(`(?:^|\s)JobName=(.*)\s(UserId=\S+ GroupId=.*)$`)

// pairs reads the NAME=VALUE words of a line. Free text cannot change another field: of a name that is there already the
// first value counts.
func pairs(text string, into map[string]string) {
	rest := ""
	if m := nameOf.FindStringSubmatchIndex(text); m != nil {
		text, rest = text[:m[3]], text[m[4]:]
	}
	for text = strings.TrimSpace(text); text != ""; {
		word, more, _ := strings.Cut(text, " ")
		name, value, ok := strings.Cut(word, "=")
		if ok && slices.Contains(freeFields, name) {
			value, more = text[len(name)+1:], ""
		}
		if _, there := into[name]; ok && !there {
			into[name] = value
		}
		text = strings.TrimSpace(more)
	}
	if rest != "" {
		pairs(rest, into)
	}
}

// queueReader makes jobs from fields with the names of scontrol.
type queueReader struct {
	jobs      []forecast.Queued
	now, last time.Duration // by running jobs, and the last submission
	left      map[string]int
	order     []string
	starts    map[string]string // jobs without a start, and why
	first     error
	throttles map[string]int // by array, how many of its elements may run at once
}

// wrong notes a job that cannot be read. The others are forecast without it.
func (q *queueReader) wrong(err error) {
	if q.first == nil {
		q.first = err
	}
	q.leave(err.Error() + ": left out")
}

// without leaves out a job whose start cannot be predicted.
func (q *queueReader) without(job, reason string) {
	q.starts[job] = reason
	q.leave(reason + ": these jobs are left out")
}

// startless says why no start can be predicted for a job that waits; empty where it can.
func startless(reason, priority, dependency string) string {
	switch plain := strings.ReplaceAll(reason, "_", " "); {
	case strings.HasSuffix(plain, "held") || strings.HasPrefix(reason, "JobHeld"):
		return reason
	case priority == "0":
		return "held (the priority is 0)"
	case strings.Contains(dependency, "singleton"):
		return "the dependency singleton"
	case strings.Contains(dependency, "?"):
		return "a dependency on one of several jobs"
	case slices.Contains(predictable, plain) || limitReason.MatchString(plain) && !strings.Contains(plain, "Min"):
		return ""
	default:
		return reason
	}
}

// predictable are the reasons for which jobs wait in a twin as well.
var predictable = []string{"", "Priority", "Resources", "BeginTime", "Dependency", "JobArrayTaskLimit", "Reservation",
	"WaitingForScheduling", "Scheduling", "Prolog", "Cleaning", "SchedDefer"}

// limitReason matches the limits of associations and qualities of service on cores, nodes, GPUs and jobs.
var limitReason = regexp.MustCompile(`^(Assoc|QOS)(Grp|Max)(Cpu|CPU|Node|GRES|Jobs?|Wall|Submit)[A-Za-z]*$`)

// throttle has the elements of an array wait for those that may run before them.
func (q *queueReader) throttle() {
	running, before := map[string]int{}, map[string][]string{}
	for i := range q.jobs {
		if j := &q.jobs[i]; !j.Waits() && j.Submission().Array != "" {
			running[j.Submission().Array]++
			before[j.Submission().Array] = append(before[j.Submission().Array], j.Name)
		}
	}
	for i := range q.jobs {
		j := &q.jobs[i]
		array := j.Submission().Array
		most := q.throttles[array]
		if most < 0 { // squeue -r does not show it
			most = max(running[array], 1)
		}
		if !j.Waits() || most == 0 {
			continue
		}
		if n := len(before[array]); n >= most {
			j.Submission().After = append(slices.Clone(j.Submission().After), before[array][n-most])
		}
		before[array] = append(before[array], j.Name)
	}
}

// leaveDependents leaves out jobs that wait for one without a start.
func (q *queueReader) leaveDependents() {
	for again := true; again; {
		again = false
		q.jobs = slices.DeleteFunc(q.jobs, func(j forecast.Queued) bool {
			for _, name := range j.Submission().After {
				if _, ok := q.starts[name]; ok {
					q.without(j.Name, "they wait for jobs without a start")
					again = true
					return true
				}
			}
			return false
		})
	}
}

func (q *queueReader) leave(why string) {
	if q.left[why]++; q.left[why] == 1 {
		q.order = append(q.order, why)
	}
}

// jobNumber matches the number of a job, or of an element of an array, in a dependency; delay is the minutes behind one.
var (
	jobNumber = regexp.MustCompile(`\d+(_\d+)?`)
	delay     = regexp.MustCompile(`\+\d+`)
)

func (q *queueReader) job(f map[string]string) (err error) {
	get := func(name string) string {
		switch v := f[name]; v {
		case "(null)", "N/A", "Unknown", "None", "none", "NOT_SET", "Partition_Limit", "INVALID":
			return ""
		default:
			return v
		}
	}
	state := get("JobState")
	if !slices.Contains([]string{"PENDING", "RUNNING", "CONFIGURING", "SUSPENDED", "STOPPED", "COMPLETING"}, state) {
		return nil // it is over
	}
	user, _, _ := strings.Cut(get("UserId"), "(")
	partition, others, several := strings.Cut(get("Partition"), ",")
	if several {
		q.leave("they wait in several partitions, and count in the first alone, not in " + others)
	}
	sub := &scheduler.Submission{Account: get("Account"), Partition: partition, QOS: get("QOS"),
		Reservation: get("Reservation"), Stays: get("Requeue") == "0"}
	j := forecast.Queued{Start: scheduler.Never}
	j.Name, j.User, j.Class, j.Deadline, j.Priority = get("JobId"), user, partition, scheduler.Never, -1
	instant := func(name string) (at time.Duration) {
		if text := get(name); text != "" && err == nil {
			at, err = logs.ParseInstant(text, time.Second)
		}
		return at
	}
	j.Arrival = instant("SubmitTime")
	if sub.Begin = instant("EligibleTime"); sub.Begin <= j.Arrival {
		sub.Begin = 0
	}
	if err != nil {
		return err
	}
	if j.Name == "" || j.Arrival == 0 {
		return fmt.Errorf("the job %s has no time of submission", j.Name)
	}
	if sub.Limit, err = span(get("TimeLimit")); err != nil {
		return err
	}
	j.Predicted = sub.Limit
	cores, _, _ := strings.Cut(get("NumCPUs"), "-")
	if j.Threads, err = strconv.Atoi(cores); err != nil || j.Threads < 1 || j.Threads > workload.MaxThreads {
		return fmt.Errorf("the job %s has %q CPUs", j.Name, get("NumCPUs"))
	}
	low, high, bounded := strings.Cut(get("NumNodes"), "-")
	if n, _ := strconv.Atoi(low); n > 1 {
		sub.MinNodes = n
	}
	if bounded {
		sub.MaxNodes, _ = strconv.Atoi(high)
	}
	if features := get("Features"); features != "" {
		sub.Features = strings.Split(features, "&")
	}
	if err := q.resources(&j, sub, get); err != nil {
		return fmt.Errorf("the job %s: %w", j.Name, err)
	}
	switch reason := get("Reason"); {
	case state != "PENDING":
		if j.Start = instant("StartTime"); j.Start == 0 || err != nil {
			return fmt.Errorf("the job %s runs, and has no StartTime", j.Name)
		}
		ran, _ := logs.ParseSpan(get("RunTime"), time.Second)
		q.now = max(q.now, j.Start+ran)
		if sub.Begin = 0; state == "SUSPENDED" || state == "STOPPED" {
			q.leave("suspended jobs are taken to run")
		}
	default:
		if why := startless(reason, get("Priority"), get("Dependency")); why != "" {
			name := j.Name
			if array, task := get("ArrayJobId"), get("ArrayTaskId"); array != "" && task != "" {
				q.starts[array+"_"+task] = why
			}
			q.without(name, why)
			return nil
		}
		for _, one := range strings.Split(get("Dependency"), ",") {
			if kind, _, _ := strings.Cut(one, ":"); strings.HasPrefix(kind, "after") {
				ids := delay.ReplaceAllString(strings.TrimPrefix(one, kind), "")
				sub.After = append(sub.After, jobNumber.FindAllString(ids, -1)...)
			}
		}
		if n, err := strconv.Atoi(get("ArrayTaskThrottle")); err == nil && n > 0 {
			q.throttles[get("ArrayJobId")] = n
		} else if array, _, ok := strings.Cut(j.Name, "_"); ok && reason == "JobArrayTaskLimit" {
			q.throttles[array] = -1
		}
	}
	q.last = max(q.last, j.Arrival)
	j.Own().Submission = sub
	return q.add(j, get("ArrayJobId"), get("ArrayTaskId"))
}

// resources reads the GPUs and the memory of a job.
func (q *queueReader) resources(j *forecast.Queued, sub *scheduler.Submission, get func(string) string) error {
	tres := get("ReqTRES")
	for _, name := range []string{"TRES", "AllocTRES"} {
		if tres == "" {
			tres = get(name)
		}
	}
	list, err := slurm.ParseGres(tres)
	if err != nil {
		return err
	}
	gpus, types := slurm.AskedGPUs(list)
	for _, name := range []string{"TresPerNode", "TresPerJob", "Gres"} {
		more, err := slurm.ParseGres(get(name))
		if err != nil {
			return err
		}
		n, of := slurm.AskedGPUs(more)
		if name != "TresPerJob" {
			n *= max(sub.MinNodes, 1)
		}
		if gpus == 0 {
			gpus = n
		}
		if len(types) == 0 {
			types = of
		}
	}
	if j.GPUs = gpus; gpus > workload.MaxThreads {
		return fmt.Errorf("%d is no number of GPUs", gpus)
	}
	switch {
	case len(types) == 1:
		sub.Features = append(sub.Features, batch.GPUFeature+types[0])
	case len(types) > 1:
		q.leave("they ask for GPUs of several types, and get any")
	}
	if _, value, ok := strings.Cut(","+tres, ",mem="); ok {
		value, _, _ = strings.Cut(value, ",")
		j.Memory, _, err = slurm.ParseReqMem(value, 1<<20)
	} else if value := get("MinMemoryNode"); value != "" {
		j.Memory, _, err = slurm.ParseReqMem(value, 1<<20)
		j.Memory *= int64(max(sub.MinNodes, 1))
	} else if value := get("MinMemoryCPU"); value != "" {
		j.Memory, _, err = slurm.ParseReqMem(value, 1<<20)
		j.Memory *= int64(j.Threads)
	}
	j.Memory -= j.Memory % int64(cluster.Units(j.Threads, j.GPUs)) // the same for each part of the job
	return err
}

// add adds a job, or the elements of an array that wait together.
func (q *queueReader) add(j forecast.Queued, array, tasks string) error {
	if _, few, some := strings.Cut(j.Name, "_["); some { // as squeue writes it without -r
		array, tasks = strings.Split(j.Name, "_")[0], strings.TrimSuffix(few, "]")
	}
	if id, task, some := strings.Cut(j.Name, "_"); some && array == "" { // squeue -r
		array, tasks = id, task
	}
	if array == "" || tasks == "" {
		q.jobs = append(q.jobs, j)
		return nil
	}
	tasks, most, throttled := strings.Cut(tasks, "%")
	if n, err := strconv.Atoi(most); throttled && err == nil && n > 0 {
		q.throttles[array] = n
	}
	list, err := batch.Hosts("_[" + tasks + "]")
	if err != nil {
		return fmt.Errorf("the array %s has the elements %q: %w", array, tasks, err)
	}
	for _, task := range list {
		own, sub := *j.Special, *j.Submission()
		sub.Array, own.Submission = array, &sub
		one := j
		one.Name, one.Special = array+task, &own
		q.jobs = append(q.jobs, one)
	}
	return nil
}
