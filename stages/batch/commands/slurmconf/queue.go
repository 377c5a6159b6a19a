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
		read = queueReader{left: map[string]int{}}
		line int
	)
	take := func() {
		if job != nil && err == nil {
			if err = read.job(job); err != nil {
				err = &Problem{file, line, err.Error()}
			}
		}
		job = nil
	}
	for n := 1; in.Scan() && err == nil; n++ {
		text := strings.TrimSpace(in.Text())
		switch fields := strings.Split(text, "|"); {
		case text == "" || text == "No jobs in the system":
		case strings.HasPrefix(text, "JobId="):
			take()
			job, line = map[string]string{}, n
			pairs(text, job)
		case job != nil && head == nil:
			pairs(text, job)
		case fields[0] == "JOBID":
			head = fields
		case head != nil && len(fields) >= len(head):
			job, line = map[string]string{}, n
			for i, name := range head {
				job[columns[name]] = strings.TrimSpace(fields[i])
			}
			take()
		default:
			err = &Problem{file, n,
				fmt.Sprintf("this is no queue: print it with  scontrol show job  or  squeue -a -r -o %q", QueueFields)}
		}
	}
	if take(); err == nil {
		err = in.Err()
	}
	for _, why := range read.order {
		notes = append(notes, fmt.Sprintf("%s: %d jobs", why, read.left[why]))
	}
	q.At, q.Jobs = max(read.now, read.last), read.jobs
	return q, notes, err
}

// pairs reads NAME=VALUE words.
func pairs(text string, into map[string]string) {
	for _, word := range strings.Fields(text) {
		if name, value, ok := strings.Cut(word, "="); ok {
			into[name] = value
		}
	}
}

// queueReader makes jobs from fields with the names of scontrol.
type queueReader struct {
	jobs      []forecast.Queued
	now, last time.Duration // by running jobs, and the last submission
	left      map[string]int
	order     []string
}

func (q *queueReader) leave(why string) {
	if q.left[why]++; q.left[why] == 1 {
		q.order = append(q.order, why)
	}
}

var jobNumber = regexp.MustCompile(`\d+`)

func (q *queueReader) job(f map[string]string) (err error) {
	get := func(name string) string {
		switch v := f[name]; v {
		case "(null)", "N/A", "Unknown", "None", "none":
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
			at, err = workload.ParseInstant(text, time.Second)
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
		ran, _ := workload.ParseSpan(get("RunTime"), time.Second)
		q.now = max(q.now, j.Start+ran)
		if sub.Begin = 0; state == "SUSPENDED" || state == "STOPPED" {
			q.leave("suspended jobs are taken to run")
		}
	case strings.HasPrefix(reason, "JobHeld"), reason == "DependencyNeverSatisfied":
		q.leave(reason + ": these jobs are left out")
		return nil
	default:
		for _, one := range strings.Split(get("Dependency"), ",") {
			if kind, _, _ := strings.Cut(one, ":"); strings.HasPrefix(kind, "after") {
				sub.After = append(sub.After, jobNumber.FindAllString(strings.TrimPrefix(one, kind), -1)...)
			}
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
	list, err := workload.ParseGres(tres)
	if err != nil {
		return err
	}
	gpus, types := workload.AskedGPUs(list)
	for _, name := range []string{"TresPerNode", "TresPerJob", "Gres"} {
		more, err := workload.ParseGres(get(name))
		if err != nil {
			return err
		}
		n, of := workload.AskedGPUs(more)
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
		j.Memory, _, err = workload.ParseReqMem(value, 1<<20)
	} else if value := get("MinMemoryNode"); value != "" {
		j.Memory, _, err = workload.ParseReqMem(value, 1<<20)
		j.Memory *= int64(max(sub.MinNodes, 1))
	} else if value := get("MinMemoryCPU"); value != "" {
		j.Memory, _, err = workload.ParseReqMem(value, 1<<20)
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
	if array == "" {
		q.jobs = append(q.jobs, j)
		return nil
	}
	tasks, _, _ = strings.Cut(tasks, "%")
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
