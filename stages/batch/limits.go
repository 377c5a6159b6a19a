package batch

import (
	"cmp"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// usage is the number of cores, nodes and GPUs that jobs hold, and the number of running and submitted jobs.
type usage struct{ cores, nodes, gpus, jobs, submitted int }

func (u *usage) add(o usage, sign int) {
	u.cores += sign * o.cores
	u.nodes += sign * o.nodes
	u.gpus += sign * o.gpus
	u.jobs += sign * o.jobs
	u.submitted += sign * o.submitted
}

// counters has the usage that counts against each limit.
type counters struct {
	assoc map[*association]*usage
	qos   map[*QOS]*usage
	users map[userOf]*usage
}

// userOf is a user within a quality of service. Such a user has separate limits.
type userOf struct {
	qos  *QOS
	user string
}

func newCounters() *counters {
	return &counters{map[*association]*usage{}, map[*QOS]*usage{}, map[userOf]*usage{}}
}

// counterOf returns the counter for a key, and creates it at zero if it is missing.
func counterOf[K comparable](of map[K]*usage, key K) *usage {
	u := of[key]
	if u == nil {
		u = &usage{}
		of[key] = u
	}
	return u
}

// count adds (sign 1) or subtracts (sign -1) usage from all counters that apply to a job.
func (c *counters) count(m *jobRecord, user string, what usage, sign int) {
	for a := m.assoc; a != nil; a = a.parent {
		counterOf(c.assoc, a).add(what, sign)
	}
	for _, q := range m.rules() {
		counterOf(c.qos, q).add(what, sign)
		counterOf(c.users, userOf{q, user}).add(what, sign)
	}
}

// rules returns the qualities of service whose limits hold for a job: its partition's and its own.
func (m *jobRecord) rules() []*QOS {
	if m.over == nil || m.over == m.qos {
		return []*QOS{m.qos}
	}
	return []*QOS{m.over, m.qos}
}

// inherited returns the first limit above zero of an association and its parent accounts; 0 if none is set.
func inherited(a *association, of func(*Limits) int) int {
	for ; a != nil; a = a.parent {
		if v := of(&a.Limits); v > 0 {
			return v
		}
	}
	return 0
}

func exceeds(value, limit int) bool { return limit > 0 && value > limit }

// refuses returns a description of the limit that forbids to submit a job; empty if no limit does.
func (c *counters) refuses(m *jobRecord, user string) string {
	for _, q := range m.rules() {
		if exceeds(counterOf(c.qos, q).submitted+1, q.GroupSubmit) || exceeds(counterOf(c.users, userOf{q,
			user}).submitted+1, q.MaxSubmit) {
			return "more jobs than the qos " + q.Name + " takes"
		}
	}
	for a := m.assoc; a != nil; a = a.parent {
		if exceeds(counterOf(c.assoc, a).submitted+1, a.GroupSubmit) {
			return "more jobs than the account " + a.Name + " may submit"
		}
	}
	if exceeds(counterOf(c.assoc, m.assoc).submitted+1, inherited(m.assoc, func(l *Limits) int { return l.MaxSubmit })) {
		return "more jobs than the user may submit"
	}
	return ""
}

// holds returns a description of the limit that keeps a job from running now; empty if no limit does.
func (c *counters) holds(m *jobRecord, j *scheduler.Job) string {
	return cmp.Or(c.jobs(m, j), c.resources(m, j))
}

// jobs checks the limits on running jobs and on time limits. It returns a description of the exceeded limit; empty if
// no limit is exceeded.
func (c *counters) jobs(m *jobRecord, j *scheduler.Job) string {
	for _, q := range m.rules() {
		switch {
		case q.MaxWall > 0 && m.limit > q.MaxWall:
			return "is longer than a job of the qos " + q.Name
		case exceeds(counterOf(c.qos, q).jobs+1, q.GroupJobs):
			return "the limit of the qos " + q.Name
		case exceeds(counterOf(c.users, userOf{q, j.User}).jobs+1, q.MaxJobs):
			return "the limit of the user in the qos " + q.Name
		}
	}
	longest := time.Duration(0)
	for a := m.assoc; a != nil; a = a.parent {
		if longest = cmp.Or(longest, a.MaxWall); exceeds(counterOf(c.assoc, a).jobs+1, a.GroupJobs) {
			return "the limit of the account " + a.Name
		}
	}
	switch {
	case exceeds(counterOf(c.assoc, m.assoc).jobs+1, inherited(m.assoc, func(l *Limits) int { return l.MaxJobs })):
		return "the limit of the user"
	case longest > 0 && m.limit > longest:
		return "is longer than the account allows"
	}
	return ""
}

// resources checks the limits on cores, nodes and GPUs. It returns a description of the exceeded limit; empty if there
// is none.
func (c *counters) resources(m *jobRecord, j *scheduler.Job) string {
	least := max(m.sub.MinNodes, j.Nodes, 1)
	group := func(used *usage, l *Limits) bool {
		return exceeds(used.cores+j.Threads, l.GroupCores) || exceeds(used.nodes+least, l.GroupNodes) ||
			exceeds(used.gpus+j.GPUs, l.GroupGPUs)
	}
	for _, q := range m.rules() {
		switch {
		case exceeds(j.Threads, q.MaxCores) || exceeds(least, q.MaxNodes):
			return "is larger than a job of the qos " + q.Name
		case group(counterOf(c.qos, q), &q.Limits):
			return "the limit of the qos " + q.Name
		case exceeds(counterOf(c.users, userOf{q, j.User}).cores+j.Threads, q.MaxCoresPerUser):
			return "the limit of the user in the qos " + q.Name
		}
	}
	for a := m.assoc; a != nil; a = a.parent {
		if group(counterOf(c.assoc, a), &a.Limits) {
			return "the limit of the account " + a.Name
		}
	}
	most := func(of func(*Limits) int) int { return inherited(m.assoc, of) }
	switch {
	case exceeds(counterOf(c.assoc, m.assoc).cores+j.Threads, most(func(l *Limits) int { return l.MaxCoresPerUser })):
		return "the limit of the user"
	case exceeds(j.Threads, most(func(l *Limits) int { return l.MaxCores })),
		exceeds(least, most(func(l *Limits) int { return l.MaxNodes })):
		return "is larger than the account allows"
	}
	return ""
}
