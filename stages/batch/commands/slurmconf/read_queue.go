package slurmconf

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/logs"
	"github.com/tfexp/tfexp/scheduler/workload/slurm"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
	"github.com/tfexp/tfexp/stages/batch"
	"github.com/tfexp/tfexp/stages/batch/forecast"
)

// ReadQueue reads the output of `scontrol show job`, of `squeue -a -r -o` with QueueFields, or of either with --json.
// Instants count from the beginning of 1970, by the wall clock of the cluster, or in UTC if they are numbers. notes
// lists the omissions.
func ReadQueue(file string, r io.Reader) (q forecast.Queue, notes []string, err error) {
	plain := bufio.NewReader(textfile.Unmarked(io.LimitReader(r, 1<<30)))
	in := bufio.NewScanner(plain)
	in.Buffer(nil, 1<<20)
	var (
		head []string
		job  map[string]string
		read = queueReader{left: map[string]int{}, throttles: map[string]int{}, limits: map[string]forecast.Limit{},
			unmet: map[string][]string{}, over: map[string]bool{}, names: map[string]bool{}}
		line int
	)
	var lines []string // lines of the present job of scontrol
	take := func() {
		if job != nil {
			var wrong error
			if head == nil {
				wrong = record(lines, job)
			}
			if head == nil && wrong == nil {
				read.judge(job)
			}
			if wrong == nil && !read.hold(job, line) {
				wrong = read.job(job, line)
			}
			if wrong != nil {
				read.wrong(&ConfProblem{file, line, wrong.Error()})
			}
		}
		job, lines = nil, nil
	}
	rows := slurm.Rows{Separator: "|", Wrong: func(line int, err error) {
		read.wrong(&ConfProblem{file, line, err.Error()})
	}}
	begin, _ := plain.Peek(512)
	empty := !slurm.IsJSON(begin)
	if !empty {
		err = read.fromJSON(file, plain)
	}
	for n := 1; in.Scan() && err == nil; n++ {
		text := strings.TrimSpace(in.Text())
		empty = empty && text == ""
		switch {
		case text == "" || text == "No jobs in the system":
		case head == nil && strings.HasPrefix(in.Text(), "JobId=") && complete(lines),
			head == nil && job == nil && strings.HasPrefix(text, "JobId="):
			take()
			job, line, lines = map[string]string{}, n, []string{text}
		case job != nil && head == nil:
			lines = append(lines, strings.TrimRight(in.Text(), " \r"))
		case strings.HasPrefix(text, "CLUSTER: "): // squeue -M
			if read.cluster != "" && read.cluster != text {
				err = &ConfProblem{file, n, fmt.Sprintf("this is the queue of a second cluster: print one with  squeue -M %s",
					strings.TrimPrefix(read.cluster, "CLUSTER: "))}
			}
			read.cluster, head = text, nil
		case strings.Contains("|"+text+"|", "|JOBID|") && job == nil:
			if head, err = read.head(text); err != nil {
				err = &ConfProblem{file, n, err.Error()}
			}
			rows.Columns = head
		case head != nil:
			var row []string
			if line, row = rows.Add(n, text); row == nil {
				continue
			}
			job = map[string]string{}
			for i, name := range head {
				into, value := columns[name], strings.TrimSpace(row[i])
				if name == "NODELIST(REASON)" && !strings.HasPrefix(value, "(") { // the job runs, and this is its list of nodes
					continue
				} else if name == "NODELIST(REASON)" {
					value = strings.Trim(value, "()")
				}
				if into != "" && job[into] == "" { // the first of STATE and ST counts
					job[into] = value
				}
			}
			take()
		case slurm.FixedWidth(text):
			err = &ConfProblem{file, n, slurm.ErrFixedWidth.Error()}
		default:
			err = &ConfProblem{file, n,
				fmt.Sprintf("this is no queue: print it with  scontrol show job  or  squeue -a -r -o %q", QueueFields)}
		}
	}
	rows.End()
	if take(); err == nil {
		err = in.Err()
	}
	if err == nil && empty {
		err = fmt.Errorf("%s is empty: print the queue again", file)
	}
	for _, h := range read.held {
		if wrong := read.job(h.fields, h.line); wrong != nil {
			read.wrong(&ConfProblem{file, h.line, wrong.Error()})
		}
	}
	if err == nil {
		err = read.compact.Err(file, "print the queue with SLURM_TIME_FORMAT=standard")
	}
	if err == nil && len(read.jobs) == 0 && read.first != nil {
		err = read.first
	}
	read.throttle()
	read.forget()
	notes = read.said
	for _, why := range read.order {
		notes = append(notes, fmt.Sprintf("%s: %s", why, schema.Plural(read.left[why], "job")))
	}
	q.At, q.Jobs, q.Without, q.Dated = max(read.now, read.last), read.jobs, read.without, read.dated
	q.Limits, q.Unmet = read.limits, read.unmet
	return q, notes, err
}

// freeFields lists the fields of scontrol with text of users. Their values extend to the end of the line.
var freeFields = strings.Fields("JobName Comment AdminComment SystemComment Command WorkDir StdErr StdIn StdOut " +
	"SubmitLine Extra Container MailUser BurstBuffer BurstBufferState Network")

// fieldsOf reads the NAME=VALUE words of a line. Free text extends to the end of the line. If a name occurs twice, the
// first value counts. So free text cannot change another field.
func fieldsOf(text string, into map[string]string) {
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
}

// queueReader makes jobs from fields with the names of scontrol.
type queueReader struct {
	jobs      []forecast.Queued
	now, last time.Duration // the present time by running jobs, and the time of the last submission
	left      map[string]int
	order     []string
	without   []forecast.WithoutStart
	first     error
	throttles map[string]int // how many elements of an array can run at once, by array
	limits    map[string]forecast.Limit
	unmet     map[string][]string // the jobs that a job waits for, by the waiting job
	over      map[string]bool     // jobs that have ended, and are still in the queue
	names     map[string]bool     // jobs of the queue, an array by its first element
	cluster   string              // the line CLUSTER: of squeue -M
	said      []string            // notes about the columns
	dates     logs.DayOrder       // order of day and month in dates that end with the year
	dated     bool                // whether instants are dates
	held      []heldJob           // jobs with such dates, until the order is known
	compact   logs.CompactDates
}

// heldJob has the fields of a job that is read after the order of day and month is known.
type heldJob struct {
	fields map[string]string
	line   int
}

// hold keeps a job with a date that ends with the year for later, and reports whether it did.
func (q *queueReader) hold(f map[string]string, line int) (held bool) {
	for _, name := range []string{"SubmitTime", "EligibleTime", "StartTime"} {
		order, ok := logs.OrderOf(f[name])
		if held = held || ok; q.dates == logs.NoOrder {
			q.dates = order
		}
	}
	if held {
		q.held = append(q.held, heldJob{f, line})
	}
	return held
}

// wrong notes a job that cannot be read. The other jobs are forecast without it.
func (q *queueReader) wrong(err error) {
	if q.first == nil {
		q.first = err
	}
	q.leave(err.Error() + ": left out")
}

// throttle makes elements of an array wait for earlier elements if only some of them can run at once.
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
		if most < 0 { // squeue -r does not print the throttle
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

// forget removes finished jobs from the dependencies of others.
func (q *queueReader) forget() {
	for job, names := range q.unmet {
		q.unmet[job] = slices.DeleteFunc(names, func(name string) bool { return q.over[name] })
	}
}

func (q *queueReader) leave(why string) {
	if q.left[why]++; q.left[why] == 1 {
		q.order = append(q.order, why)
	}
}

// jobNumber matches the number of a job, or of an element of an array, in a dependency; delay is the minutes behind
// one.
var (
	jobNumber = regexp.MustCompile(`\d+(_\d+)?`)
	delay     = regexp.MustCompile(`\+\d+`)

	onlyDigits = regexp.MustCompile(`^\d+$`)
)

func (q *queueReader) job(f map[string]string, line int) (err error) {
	get := func(name string) string {
		switch v := f[name]; v {
		case "(null)", "N/A", "Unknown", "None", "none", "NOT_SET", "Partition_Limit", "INVALID":
			return ""
		default:
			return v
		}
	}
	state, known := jobStates[get("JobState")]
	if !known {
		return fmt.Errorf("the job %s has the state %q, which is not known", get("JobId"), get("JobState"))
	}
	if state == "ending" {
		q.leave("completing jobs are taken to have ended")
	}
	if state == "over" || state == "ending" {
		q.over[get("JobId")] = true
		return nil
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
			q.compact.Add(text, line, true)
			at, err = logs.ParseInstant(q.dates.In(text), time.Second)
			q.dated = q.dated || logs.IsDate(text)
			if err == nil && strings.Contains(text, ".") && !logs.IsDate(text) {
				err = fmt.Errorf("%q is neither a whole number of seconds nor a date", text)
			}
			if err != nil {
				err = fmt.Errorf("%s: %w (print the queue with SLURM_TIME_FORMAT=standard)", name, err)
			}
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
	if unlimited(get("TimeLimit")) {
		sub.Limit = batch.NoLimit
	}
	j.Predicted = sub.Limit
	if sub.Nice, err = strconv.Atoi(cmp.Or(get("Nice"), "0")); err != nil {
		return fmt.Errorf("the job %s has the nice value %q", j.Name, get("Nice"))
	}
	cores, _, _ := strings.Cut(get("NumCPUs"), "-")
	if j.Threads, err = slurm.ParseCount(cores); err != nil || j.Threads < 1 || j.Threads > workload.MaxThreads {
		return fmt.Errorf("the job %s has %q CPUs", j.Name, get("NumCPUs"))
	}
	low, high, bounded := strings.Cut(get("NumNodes"), "-")
	if n, _ := slurm.ParseCount(low); n > 1 {
		sub.MinNodes = n
	}
	if bounded {
		sub.MaxNodes, _ = slurm.ParseCount(high)
	}
	switch shares := cmp.Or(get("OverSubscribe"), get("Shared")); shares {
	case "NO", "0":
		sub.Exclusive = true
	case "USER", "MCS", "TOPO":
		q.leave(fmt.Sprintf("OverSubscribe=%s: they share their nodes with any job", shares))
	}
	if features := get("Features"); features != "" {
		sub.Features, _ = slurm.Features(features)
	}
	if err := q.resources(&j, sub, get); err != nil {
		return fmt.Errorf("the job %s: %w", j.Name, err)
	}
	switch reason := get("Reason"); {
	case state != "PENDING" && state != "HELD":
		if j.Start = instant("StartTime"); j.Start == 0 || err != nil {
			return fmt.Errorf("the job %s runs, and has no StartTime", j.Name)
		}
		ran, _ := logs.ParseSpan(get("RunTime"), time.Second)
		q.now = max(q.now, j.Start+ran)
		if sub.Begin = 0; state == "SUSPENDED" {
			q.leave("suspended jobs are taken to run")
		}
	default:
		if err := q.waits(&j, sub, get, instant); err != nil {
			_, names, _, wrong := elements(j.Name, get("ArrayJobId"), get("ArrayTaskId"))
			for _, name := range names {
				q.without = append(q.without, forecast.WithoutStart{Job: name, User: j.User, Cores: j.Threads,
					Reason: err.Error()})
				q.leave(err.Error() + ": these jobs are left out")
			}
			return wrong
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

// elements returns the array of a job, and the names of its elements that wait together. array is empty for a job
// without an array. most is the number of elements that can run at once; 0 means all.
func elements(name, array, tasks string) (_ string, names []string, most int, err error) {
	if _, few, some := strings.Cut(name, "_["); some { // as squeue writes it without -r
		array, tasks = strings.Split(name, "_")[0], strings.TrimSuffix(few, "]")
	}
	if id, task, some := strings.Cut(name, "_"); some && array == "" { // squeue -r
		array, tasks = id, task
	}
	if array == "" || tasks == "" {
		return "", []string{name}, 0, nil
	}
	tasks, throttle, throttled := strings.Cut(tasks, "%")
	if n, err := strconv.Atoi(throttle); throttled && err == nil && n > 0 {
		most = n
	}
	for span := range strings.SplitSeq(tasks, ",") {
		span, stride, stepped := strings.Cut(span, ":")
		list, err := batch.Hosts("_[" + span + "]")
		step := 1
		if err == nil && stepped {
			step, err = strconv.Atoi(stride)
		}
		if err != nil || step < 1 {
			return array, nil, most, fmt.Errorf("the array %s has the elements %q, which is no list such as 1-8,20-30:5: "+
				"long lists are cut off, so print the queue with  squeue -r  or SLURM_BITSTR_LEN=0", array, tasks)
		}
		for i := 0; i < len(list); i += step {
			names = append(names, array+list[i])
		}
	}
	return array, names, most, nil
}

// waits reads the dependencies of a job. The error is the reason that no start can be predicted.
func (q *queueReader) waits(j *forecast.Queued, sub *scheduler.Submission, get func(string) string,
	instant func(string) time.Duration) error {
	reason := get("Reason")
	if state := get("JobState"); jobStates[state] == "HELD" {
		return errors.New(cmp.Or(reason, state) + " (held)")
	}
	if why := startless(reason, get("Priority"), get("Dependency")); why != "" {
		return errors.New(why)
	}
	if get("HetJobId") != "" || get("PackJobId") != "" || strings.Contains(j.Name, "+") {
		return errors.New("a part of a heterogeneous job")
	}
	if text := get("Features"); text != "" && sub.Features == nil {
		return errors.New("the constraint " + text)
	}
	if limit, ok := modeledLimits[reason]; ok {
		q.limits[j.Name] = limit
	}
	if reason == "BeginTime" && sub.Begin == 0 { // squeue prints the begin time as the expected start
		if sub.Begin = instant("StartTime"); sub.Begin == 0 {
			return errors.New("BeginTime (the queue does not say which)")
		}
	}
	for one := range strings.SplitSeq(get("Dependency"), ",") {
		kind, _, _ := strings.Cut(one, ":")
		switch ids := jobNumber.FindAllString(strings.TrimPrefix(delay.ReplaceAllString(one, ""), kind), -1); {
		case one == "" || strings.Contains(one, "(fulfilled)"):
		case kind == "afterany" || kind == "afterok" || kind == "aftercorr" || kind == "afterburstbuffer":
			if task := get("ArrayTaskId"); kind == "aftercorr" && task != "" && onlyDigits.MatchString(task) {
				for i := range ids {
					if ids[i] += "_" + task; strings.Count(ids[i], "_") > 1 {
						return errors.New("the dependency " + one)
					}
				}
			}
			sub.After = append(sub.After, ids...)
			if strings.Contains(one, "(unfulfilled)") {
				q.unmet[j.Name] = append(q.unmet[j.Name], ids...)
			}
		default: // a dependency on the start or the failure of another job
			return fmt.Errorf("a dependency by %s", kind)
		}
	}
	for _, name := range []string{"ReqNodeList", "ExcNodeList", "Licenses"} {
		if get(name) != "" {
			q.leave(fmt.Sprintf("%s has no effect", name))
		}
	}
	return nil
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
	tasks, _ := strconv.Atoi(get("NumTasks"))
	tasks = max(0, min(tasks, workload.MaxThreads))
	for _, one := range []struct {
		name  string
		parts int
	}{{"TresPerNode", max(sub.MinNodes, 1)}, {"TresPerJob", 1}, {"Gres", max(sub.MinNodes, 1)}, {"TresPerTask", tasks}} {
		more, err := slurm.ParseGres(get(one.name))
		if err != nil {
			return err
		}
		n, of := slurm.AskedGPUs(more)
		list = append(list, more...)
		if n > 0 && one.parts == 0 {
			q.leave("TresPerTask counts for nothing without NumTasks")
		}
		n = min(n, workload.MaxThreads+1) * one.parts
		if gpus == 0 {
			gpus = n
		}
		if len(types) == 0 {
			types = of
		}
	}
	isPart := func(g slurm.Gres) bool { return g.Count > 0 && (g.Name == "shard" || g.Name == "mps") }
	if slices.ContainsFunc(list, isPart) {
		q.leave("they ask for parts of GPUs (shard or mps), and get no GPU")
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
	if value := slurm.Tracked(tres, "mem"); value != "" {
		j.Memory, _, err = slurm.ParseReqMem(value, 1<<20)
	} else if value := get("MinMemoryNode"); value != "" {
		var each byte
		if j.Memory, each, err = slurm.ParseReqMem(value, 1<<20); each == 'c' {
			j.Memory *= int64(j.Threads)
		} else {
			j.Memory *= int64(max(sub.MinNodes, 1))
		}
	} else if value := get("MinMemoryCPU"); value != "" {
		j.Memory, _, err = slurm.ParseReqMem(value, 1<<20)
		j.Memory *= int64(j.Threads)
	} else if list, wrong := slurm.ParseGres(get("MemPerTres")); wrong == nil { // in megabytes
		each, _ := slurm.AskedGPUs(list)
		j.Memory = int64(min(each, 1<<31)) << 20 * int64(j.GPUs)
	} else {
		err = wrong
	}
	j.Memory -= j.Memory % int64(cluster.Units(j.Threads, j.GPUs)) // each core or GPU of the job gets the same amount
	return err
}

// add adds a job, or each element of an array that waits as one row.
func (q *queueReader) add(j forecast.Queued, array, tasks string) error {
	array, names, most, err := elements(j.Name, array, tasks)
	if err != nil {
		return err
	}
	if q.names[names[0]] {
		q.leave("jobs that the queue has twice count once, as in their first row")
		return nil
	}
	if q.names[names[0]] = true; array == "" {
		q.jobs = append(q.jobs, j)
		return nil
	}
	if most > 0 {
		q.throttles[array] = most
	}
	for _, name := range names {
		own, sub := *j.Special, *j.Submission()
		sub.Array, own.Submission = array, &sub
		if limit, ok := q.limits[j.Name]; ok {
			q.limits[name] = limit
		}
		if unmet := q.unmet[j.Name]; unmet != nil {
			q.unmet[name] = unmet
		}
		one := j
		one.Name, one.Special = name, &own
		q.jobs = append(q.jobs, one)
	}
	return nil
}
