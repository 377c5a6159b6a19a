// Package forecast predicts when waiting jobs will start: it simulates the present queue of a cluster many times, by the
// cluster's own rules, with run times and arrivals drawn from its log.
package forecast

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/workload/slurm"
	"github.com/tfexp/tfexp/stages/batch"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Twin is a cluster with known rules, and its log.
type Twin struct {
	policy    policy.Policy
	cluster   scheduler.Cluster
	overheads simulated.Overheads
	divides   bool
	// Origin is the instant of the log's clock from which its times count, since 1970; 0 if it is not known.
	Origin time.Duration
	// InUTC reports whether the log's clock is UTC, and not the clock of the cluster.
	InUTC bool
	log   []logged // by arrival
	past  *batch.Priorities
	heard []scheduler.Event // events of the log that are not yet counted in past
}

// logged is a job of the log with its recorded start and end, which are Never if they are not known.
type logged struct {
	scheduler.Job
	start, end time.Duration
}

// never is later than any instant of a log. Adding a time to it does not overflow.
const never = scheduler.Never / 4

// New returns the twin of a cell, with its policy, nodes and log. The error says why no starts can be predicted.
func New(c experiment.Cell) (*Twin, error) {
	t := &Twin{policy: c.Policy.Complete(), cluster: c.Hardware.Cluster, divides: c.Policy.Divides()}
	if c.Hardware.Overheads != nil {
		t.overheads = *c.Hardware.Overheads
	}
	trace := c.Workload.Trace
	rules, err := t.policy.Rules(scheduler.Run{Cluster: t.cluster})
	switch {
	case err != nil:
		return nil, err
	case rules.Round > 0 || rules.Quantum > 0 || rules.Partial || rules.Supply != nil || t.policy.Program().Command != nil:
		return nil, fmt.Errorf("the policy %s pauses or resizes jobs: starts are predicted only for policies that run "+
			"each job on its request until it ends", c.Policy.Name)
	case trace == nil:
		return nil, fmt.Errorf("the workload %s is no log: give it a trace block with the log of the cluster",
			c.Workload.Name)
	case trace.Waits == nil || trace.RunTimes == nil:
		return nil, fmt.Errorf("%s does not have when its jobs started and ended", trace.File)
	}
	t.Origin, t.InUTC = trace.Origin, slices.Contains(trace.Assumed, slurm.InUTC)
	for i := range trace.Jobs {
		j := logged{trace.Jobs[i], never, never}
		if trace.Waits[i] >= 0 {
			j.start = j.Arrival + trace.Waits[i]
			if trace.Timed(i) {
				j.end = j.start + trace.RunTimes[i]
			}
		}
		t.log = append(t.log, j)
	}
	slices.SortStableFunc(t.log, func(a, b logged) int { return cmp.Compare(a.Arrival, b.Arrival) })
	if rules.Predicted && !slices.ContainsFunc(t.log, func(j logged) bool { return j.Predicted > 0 }) {
		return nil, fmt.Errorf("the policy %s decides by the times that users asked for, which %s does not have",
			c.Policy.Name, trace.File)
	}
	return t, t.listen()
}

// listen prepares the past usage for the policy's priorities, if they depend on usage.
func (t *Twin) listen() (err error) {
	if t.policy.Order != batch.Multifactor || t.policy.Settings.Number("weight_fair_share") == 0 {
		return nil
	}
	run := scheduler.Run{Cluster: t.cluster, Jobs: make([]scheduler.Job, len(t.log))}
	for i := range t.log {
		j := &t.log[i]
		run.Jobs[i] = j.Job
		run.Jobs[i].Number = i
		if j.start < never {
			cores := scheduler.CoreSet{{Hi: int32(j.Threads)}}
			t.heard = append(t.heard, scheduler.Event{At: j.start, Kind: scheduler.Start, Job: i, Cores: cores},
				scheduler.Event{At: j.end, Kind: scheduler.Finish, Job: i})
		}
	}
	slices.SortStableFunc(t.heard, func(a, b scheduler.Event) int { return cmp.Compare(a.At, b.At) })
	t.past, err = batch.NewPriorities(policy.Setup{Policy: t.policy, Run: &run})
	return err
}

// hear adds the usage of the log up to an instant. Instants never decrease between calls.
func (t *Twin) hear(at time.Duration) {
	if t.past == nil {
		return
	}
	for len(t.heard) > 0 && t.heard[0].At <= at {
		t.past.OnEvent(&t.heard[0])
		t.heard = t.heard[1:]
	}
	t.past.Rerank(at)
}

// Queue has the running and waiting jobs at an instant of the log's clock.
type Queue struct {
	At   time.Duration
	Jobs []Queued
	// Dated reports whether the instants were read from dates, which are by the clock of the cluster.
	Dated bool
	// Without has the waiting jobs whose starts cannot be predicted.
	Without []WithoutStart
	// Limits has the limits that keep jobs waiting, by job.
	Limits map[string]Limit
	// Unmet has the jobs that must end before a job starts, by the waiting job. Some may be missing in the queue.
	Unmet map[string][]string
}

// WithoutStart is a waiting job whose start cannot be predicted, and why.
type WithoutStart struct {
	Job, User string
	Cores     int
	Reason    string
}

// Limit is a limit that the controller gives as the reason for waiting. Block and Arg are the block and the argument of
// a policy that set it.
type Limit struct{ Reason, Block, Arg string }

// Reason returns why no start is predicted for a job, or for elements of an array; empty if a start is predicted.
func (q *Queue) Reason(job string) string {
	i := slices.IndexFunc(q.Without, func(w WithoutStart) bool { return w.Job == job || strings.HasPrefix(w.Job, job+"_") })
	if i < 0 {
		return ""
	}
	return q.Without[i].Reason
}

// Queued is a job in the queue. Start is when it started; Never while it waits.
type Queued struct {
	scheduler.Job
	Start time.Duration
}

// Waits reports whether the job waits.
func (j *Queued) Waits() bool { return j.Start >= never }

// QueueAt returns the queue at an instant of the log.
func (t *Twin) QueueAt(at time.Duration) (q Queue) {
	q.At = at
	for i := range t.log {
		j := &t.log[i]
		if j.Arrival > at {
			break
		}
		switch {
		case j.start <= at && j.end > at:
			q.Jobs = append(q.Jobs, Queued{j.Job, j.start})
		case j.start > at && j.start < never:
			q.Jobs = append(q.Jobs, Queued{j.Job, scheduler.Never})
		}
	}
	return q
}

// Arrival returns when a job of the log arrived.
func (t *Twin) Arrival(job string) (at time.Duration, ok bool) {
	i := slices.IndexFunc(t.log, func(j logged) bool { return j.Name == job })
	if i < 0 {
		return 0, false
	}
	return t.log[i].Arrival, true
}

// Span returns the first arrival and the last start of the log.
func (t *Twin) Span() (first, last time.Duration) {
	first = t.log[0].Arrival
	for i := range t.log {
		if t.log[i].start < never {
			last = max(last, t.log[i].start)
		}
	}
	return first, last
}

// horizonOf returns the default horizon: three times the longest wait in the log.
func (t *Twin) horizonOf() (d time.Duration) {
	for i := range t.log {
		if j := &t.log[i]; j.start < never {
			d = max(d, j.start-j.Arrival)
		}
	}
	return max((3 * d).Round(time.Minute), 10*time.Minute)
}

// Backlog returns the time that all cores of the cluster would need for the requested times of a queue. A job without
// a requested time counts with the longest run time of the log.
func (t *Twin) Backlog(q *Queue) time.Duration {
	work, cores, longest := 0.0, 0, time.Duration(0)
	for i := range t.log {
		if j := &t.log[i]; j.end < never {
			longest = max(longest, j.end-j.start)
		}
	}
	for i := range q.Jobs {
		j := &q.Jobs[i]
		left := j.Predicted
		if !limited(&j.Job) {
			left = longest
		}
		if !j.Waits() {
			left = max(left-(q.At-j.Start), 0)
		}
		work += left.Seconds() * float64(j.Threads)
	}
	for i := range t.cluster.Nodes {
		cores += t.cluster.Nodes[i].Threads
	}
	return time.Duration(work / float64(max(cores, 1)) * 1e9).Round(time.Minute)
}

// OnClock puts a queue whose instants count from 1970 on the log's clock. It leaves out waiting jobs whose starts the twin
// cannot predict: no node can hold them, they wait for a limit or a reservation that the twin does not have, or for jobs without
// a start.
func (t *Twin) OnClock(q Queue) (out Queue, left []string) {
	out = Queue{At: q.At - t.Origin, Without: slices.Clone(q.Without)}
	there := map[string]bool{}
	leave := func(j *Queued, why string) {
		left = append(left, why)
		if j.Waits() {
			out.Without = append(out.Without, WithoutStart{j.Name, j.User, j.Threads, why})
		}
	}
	never := make([]string, len(q.Jobs))
	if t.policy.Order == batch.Multifactor {
		jobs := make([]scheduler.Job, len(q.Jobs))
		for i := range jobs {
			jobs[i] = q.Jobs[i].Job
		}
		never = batch.Unstartable(t.cluster, t.policy.Blocks, jobs)
	}
	strange, mixed := map[string]bool{}, false
	for i, j := range q.Jobs {
		if s := j.Submission(); s != nil && s.Account != "" && t.lacksAccount(s.Account) && !strange[s.Account] {
			strange[s.Account] = true
			left = append(left, fmt.Sprintf("the account %s is not in the twin: its jobs have one share, and no "+
				"limits", s.Account))
		}
		if !mixed && j.Waits() && t.mixed(j.Submission()) {
			mixed = true
			left = append(left, "GPUs of several types on a node count as one type: jobs may get another type than they "+
				"ask for, or too many of one")
		}
		t.complete(&j)
		j.Arrival -= t.Origin
		if !j.Waits() {
			j.Start -= t.Origin
		}
		resubmit(&j.Job, func(s *scheduler.Submission) {
			if s.Begin > 0 {
				s.Begin = max(s.Begin-t.Origin, 1)
			}
		})
		if why := t.lacks(&j, q.Limits[j.Name], out.At); why != "" {
			leave(&j, why)
		} else if err := t.Check(j.Job); err != nil {
			leave(&j, err.Error())
		} else if never[i] != "" && j.Waits() {
			leave(&j, fmt.Sprintf("the job %s %s", j.Name, never[i]))
		} else {
			out.Jobs = append(out.Jobs, j)
			there[j.Name] = true
			if s := j.Submission(); s != nil && s.Array != "" {
				there[s.Array] = true
			}
		}
	}
	for again := true; again; {
		again = false
		out.Jobs = slices.DeleteFunc(out.Jobs, func(j Queued) bool {
			for _, name := range waitsFor(&j, q.Unmet[j.Name]) {
				why := ""
				if out.Reason(name) != "" {
					why = "they wait for jobs without a start"
				} else if slices.Contains(q.Unmet[j.Name], name) && !there[name] {
					why = "they wait for jobs that the queue does not have"
				}
				if why != "" {
					leave(&j, why)
					again = true
					return true
				}
			}
			return false
		})
	}
	endless := endless(out.Jobs, q.Unmet)
	out.Jobs = slices.DeleteFunc(out.Jobs, func(j Queued) bool {
		if endless[j.Name] {
			leave(&j, "they wait for jobs that wait for each other")
		}
		return endless[j.Name]
	})
	return out, left
}

// endless returns the jobs that wait for each other in a circle, and the jobs that wait for these.
func endless(jobs []Queued, unmet map[string][]string) map[string]bool {
	waits, behind := map[string]int{}, map[string][]string{} // by job, and by array for all of its elements
	after := func(name, other string) {
		waits[name]++
		behind[other] = append(behind[other], name)
	}
	never, free := map[string]bool{}, []string(nil)
	for i := range jobs {
		j := &jobs[i]
		never[j.Name] = true
		for _, other := range waitsFor(j, unmet[j.Name]) {
			after(j.Name, other)
		}
		if s := j.Submission(); s != nil && s.Array != "" && s.Array != j.Name {
			after(s.Array, j.Name)
		}
	}
	for name := range never {
		free = append(free, name)
	}
	for name := range behind {
		if !never[name] {
			free = append(free, name)
		}
	}
	free = slices.DeleteFunc(free, func(name string) bool { return waits[name] > 0 })
	for len(free) > 0 {
		name := free[len(free)-1]
		free = free[:len(free)-1]
		delete(never, name)
		for _, next := range behind[name] {
			if waits[next]--; waits[next] == 0 {
				free = append(free, next)
			}
		}
	}
	return never
}

// mixed reports whether a job asks for GPUs of a type that nodes have beside others.
func (t *Twin) mixed(s *scheduler.Submission) bool {
	of := func(f string) bool { return strings.HasPrefix(f, batch.GPUFeature) }
	return s != nil && slices.ContainsFunc(t.policy.Blocks, func(b schema.Settings) bool {
		if b.Name != "node_set" {
			return false
		}
		all := slices.DeleteFunc(slices.Clone(schema.Get[[]string](b, "features")), func(f string) bool { return !of(f) })
		return len(all) > 1 && slices.ContainsFunc(s.Features, func(f string) bool { return slices.Contains(all, f) })
	})
}

// complete gives a job without a time limit the limit of its partition.
func (t *Twin) complete(j *Queued) {
	s := j.Submission()
	if s == nil || limited(&j.Job) {
		return
	}
	limit := s.Limit
	for _, b := range t.policy.Blocks {
		if b.Name != "partition" || s.Partition != "" && batch.BlockName(b) != s.Partition {
			continue
		}
		most := schema.Get[time.Duration](b, "max_time")
		if limit == 0 {
			limit = schema.Get[time.Duration](b, "default_time")
		}
		if limit = cmp.Or(limit, most); limit == batch.NoLimit && most > 0 {
			limit = most
		}
		break
	}
	own := *s
	own.Limit = cmp.Or(limit, batch.NoLimit)
	j.Own().Submission, j.Predicted = &own, own.Limit
}

// lacksAccount reports whether the twin has accounts, and not the account of a name.
func (t *Twin) lacksAccount(name string) bool {
	some := false
	for _, b := range t.policy.Blocks {
		if b.Name == "account" {
			if some = true; batch.BlockName(b) == name {
				return false
			}
		}
	}
	return some
}

// waitsFor returns the jobs that must end before a job starts, including the jobs that the controller calls
// unfulfilled.
func waitsFor(j *Queued, unmet []string) []string {
	if s := j.Submission(); s != nil && j.Waits() {
		return append(slices.Clone(s.After), unmet...)
	}
	return nil
}

// lacks names the dependency of a job that the twin does not have; empty for none.
func (t *Twin) lacks(j *Queued, limit Limit, now time.Duration) string {
	s := j.Submission()
	if s == nil || !j.Waits() {
		return ""
	}
	if limit.Arg != "" && !slices.ContainsFunc(t.policy.Blocks, limit.in) {
		return limit.Reason + " (the twin has no such limit)"
	}
	partitions, known := 0, false
	for _, b := range t.policy.Blocks {
		if b.Name == "partition" {
			partitions++
			known = known || batch.BlockName(b) == s.Partition
		}
	}
	if s.Partition != "" && partitions > 0 && !known {
		return fmt.Sprintf("their partition %s is not in the twin", s.Partition)
	}
	if s.Reservation != "" && !slices.ContainsFunc(t.policy.Blocks, func(b schema.Settings) bool {
		return b.Name == "reservation" && batch.BlockName(b) == s.Reservation && schema.Get[time.Duration](b, "until") > now
	}) {
		return fmt.Sprintf("their reservation %s is not in the twin", s.Reservation)
	}
	return ""
}

// in reports whether a block, or a block within it, sets the limit.
func (l Limit) in(b schema.Settings) bool {
	_, set := b.Args[l.Arg]
	return set && (b.Name == l.Block || b.Name == "user" && l.Block == "account") || slices.ContainsFunc(b.Blocks, l.in)
}

// resubmit changes the instants and the dependencies of a job's submission, if it has any. Other jobs may share the
// submission, so the job gets a new one.
func resubmit(j *scheduler.Job, change func(*scheduler.Submission)) {
	if s := j.Submission(); s != nil && (s.Begin > 0 || len(s.After) > 0) {
		own := *s
		change(&own)
		j.Own().Submission = &own
	}
}

// Check says why a job can never run on the cluster.
func (t *Twin) Check(j scheduler.Job) error {
	j.Number, j.Arrival, j.Divided = 0, 0, t.divides && j.Divisible()
	return scheduler.CheckAll(t.cluster, []scheduler.Job{j}, nil, false)
}
