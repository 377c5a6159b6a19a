// This file has jobs, their alternatives, and requests to resize them.

package scheduler

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Job is one job of a cell, as the scheduler sees it. All instants are since the start of the cell.
type Job struct {
	// Number identifies the job in its cell and breaks ties. Jobs are
	// numbered 0, 1, 2, … in the order of the workload, and Jobs[i].Number == i.
	Number int
	// Name is unique in the cell: the class and a number, such as "short-3".
	Name string
	// Class is the name of the job block.
	Class string

	Arrival time.Duration

	// Threads is the requested number of cores. If the policy can give it another number, that is at least
	// MinThreads (at least 1) and at most MaxThreads (at least Threads; 0 means Threads).
	Threads    int
	MinThreads int
	MaxThreads int
	// GPUs and Memory (bytes) are granted in full, or the job does not start.
	GPUs   int
	Memory int64
	// Nodes is the number of nodes on which the job runs at the same time; 0 means 1. The nodes share the request
	// equally.
	Nodes int
	// Malleable says that the job can be resized while it runs.
	Malleable bool
	// Elastic says that the job can run on any number of GPUs, with any number on each node, if the policy divides
	// the GPUs among all jobs.
	Elastic bool `json:",omitempty"`
	// Divided says that the policy may divide the request over several nodes, in equal units (cluster.Units). Such a
	// job is rigid, and has Nodes ≤ 1.
	Divided bool `json:",omitempty"`
	// Priority is the job's level before feedback; 0 is best.
	Priority int
	// Deadline is the instant by which the job should end; Never if it has no deadline.
	Deadline time.Duration
	// User is the name of the job's owner. Policies that share fairly among users read it.
	User string
	// Predicted is the predicted run time on the full request; 0 means no prediction. Orders by run time rank a job
	// without a prediction as the longest. The prediction of a job that takes no time is one nanosecond.
	Predicted time.Duration

	// Special has the rare properties of the job; nil means their defaults. Several jobs may share it. Methods of
	// Job have the names of its fields and return them; Own returns it for changes.
	Special *Special `json:",omitempty"`
}

// Within returns the time from the arrival to the deadline; 0 without a deadline.
func (j *Job) Within() time.Duration {
	if j.Deadline <= 0 || j.Deadline == math.MaxInt64 {
		return 0
	}
	return max(j.Deadline-j.Arrival, 1)
}

// Plain reports whether the job requests only cores of one node, and its request does not change. Most jobs of large
// workloads are plain; the scheduler skips many steps for them.
func (j *Job) Plain() bool {
	return j.GPUs == 0 && j.Memory == 0 && j.Nodes <= 1 && !j.Divided && !j.Malleable && !j.Elastic &&
		len(j.Roles())+len(j.Alternatives()) == 0
}

// Role is a group of equal parts of a job, such as its workers.
type Role struct {
	// Name is the name of the role, which each of its programs receives: "ps", "worker", "chief".
	Name  string
	Count int
	// Threads and GPUs are the request of each part. A part with 0 threads shares the threads and the node of the
	// job's first part that has threads.
	Threads, GPUs int
	// GPU is the type of GPU that the node of each part must have; empty for any type.
	GPU string
	// Elastic says that the job continues when parts of the role are lost, while at least Min of them run. A lost
	// part starts again when there is room. The number of parts can be changed while the job runs, up to Max (0
	// means Count).
	Elastic  bool
	Min, Max int
	// Vital says that the loss of a part of the role ends the attempt, even if the role is elastic.
	Vital bool
}

// Most returns the greatest number of parts that the role can have.
func (r *Role) Most() int { return max(r.Count, r.Max) }

// Survives reports whether the job continues when it loses its parts on a node. It does if they all belong to
// elastic roles that are not vital and keep enough parts, and the part whose end is the end of the job is not among
// them.
func (j *Job) Survives(parts []cluster.Part, node int) bool {
	return j.spares(parts, func(p *cluster.Part) bool { return p.Node == node })
}

// spares reports whether the job continues when it loses the parts for which gone is true.
func (j *Job) spares(parts []cluster.Part, gone func(p *cluster.Part) bool) bool {
	lead := cluster.Lead(parts)
	for _, role := range j.Roles() {
		lost, left := 0, 0
		for i, p := range parts {
			switch {
			case p.Role != role.Name:
			case !gone(&p):
				left++
			case i == lead || !role.Elastic || role.Vital:
				return false
			default:
				lost++
			}
		}
		if lost > 0 && left < role.Min {
			return false
		}
	}
	return len(j.Roles()) > 0
}

// WithParts returns the job with counts[i] parts of role i.
func (j Job) WithParts(counts []int) Job {
	roles := slices.Clone(j.Roles())
	j.Threads, j.GPUs = 0, 0
	for i := range roles {
		r := &roles[i]
		r.Count = counts[i]
		j.Threads, j.GPUs = j.Threads+r.Count*r.Threads, j.GPUs+r.Count*r.GPUs
	}
	j.Own().Roles = roles
	return j
}

// Resize is a request of the workload to change the number of cores of a job, or the number of parts in an elastic
// role.
type Resize struct {
	At      time.Duration
	Job     int
	Threads int
	// Role is the name of the role that is to have Parts parts. If it is empty, Threads is the requested number of
	// cores.
	Role  string
	Parts int
}

// surplus splits the parts of a running job into parts to keep and parts that are too many. parts is ordered by
// number. In each role the parts with the highest numbers are dropped. The first part of a role, with which the job
// may end, is always kept.
func (j *Job) surplus(parts []cluster.Part) (keep, drop []cluster.Part) {
	kept := make([]int, len(j.Roles()))
	for _, p := range parts {
		r := slices.IndexFunc(j.Roles(), func(r Role) bool { return r.Name == p.Role })
		if kept[r] < j.Roles()[r].Count {
			keep = append(keep, p)
			kept[r]++
		} else {
			drop = append(drop, p)
		}
	}
	return keep, drop
}

// Missing returns the parts that a running job lacks, ordered by role. A missing part gets the lowest free number of
// its role.
func (j *Job) Missing(parts []cluster.Part) (lacks []cluster.Part) {
	for _, role := range j.Roles() {
		has := map[int]bool{}
		for _, p := range parts {
			if p.Role == role.Name {
				has[p.Task] = true
			}
		}
		for task, want := 0, role.Count-len(has); want > 0; task++ {
			if !has[task] {
				lacks = append(lacks, cluster.Part{Role: role.Name, Task: task})
				want--
			}
		}
	}
	return lacks
}

// AskParts returns the number of parts of each role when one role is to have count parts. The error says why the job
// cannot have them.
func (j *Job) AskParts(role string, count int, on cluster.Cluster) (counts []int, err error) {
	i := slices.IndexFunc(j.Roles(), func(r Role) bool { return r.Name == role })
	if i < 0 {
		return nil, fmt.Errorf("job %q has no role %q", j.Name, role)
	}
	r := &j.Roles()[i]
	switch least := max(r.Min, 1); {
	case !r.Elastic:
		return nil, fmt.Errorf("the role %q of job %q is not elastic: its number of parts stays %d", role, j.Name, r.Count)
	case count < least || count > r.Most():
		return nil, fmt.Errorf("the role %q of job %q can have from %d to %d parts, not %d", role, j.Name, least, r.Most(),
			count)
	}
	counts = make([]int, len(j.Roles()))
	for k := range counts {
		counts[k] = j.Roles()[k].Count
	}
	counts[i] = count
	if more := j.WithParts(counts); !more.CouldRun(on, false) {
		return nil, fmt.Errorf("job %q cannot have %d parts of the role %q: they need more than the cluster has", j.Name,
			count, role)
	}
	return counts, nil
}

// Alternative is a request with which a job can run, and the predicted run time with it.
type Alternative struct {
	// Name identifies the alternative in results: "cpu", "gpu:V100".
	Name string
	// Threads, GPUs and Memory (bytes) are granted in full, or the job does not start.
	Threads int
	GPUs    int
	Memory  int64
	// GPU is the type of GPU that a node must have; empty for any type.
	GPU string
	// Predicted is the predicted run time; 0 means no prediction. Orders by run time rank a job without a prediction
	// as the longest.
	Predicted time.Duration
	// Beside maps a class of jobs to the fraction of its speed that this job keeps while it shares its GPUs with a
	// job of the class. The job can share GPUs only with these classes.
	Beside map[string]float64 `json:",omitempty"`
}

// WithAlternative returns the job with the request and the prediction of an alternative.
func (j Job) WithAlternative(a Alternative) Job {
	j.Threads, j.GPUs, j.Memory, j.Predicted = a.Threads, a.GPUs, a.Memory, a.Predicted
	j.MinThreads, j.MaxThreads, j.Own().Alternatives = 0, 0, nil
	return j
}

// As returns an alternative of the job by its index; for a job without alternatives, its request.
func (j *Job) As(alternative int32) Alternative {
	if len(j.Alternatives()) > 0 {
		return j.Alternatives()[alternative]
	}
	return Alternative{Threads: j.Threads, GPUs: j.GPUs, Memory: j.Memory, Predicted: j.Predicted}
}

// checkAlternatives returns an error if the job has alternatives and another setting excludes them. partial says
// that jobs can start with a part of their request.
func (j *Job) checkAlternatives(partial bool) error {
	if len(j.Alternatives()) == 0 {
		return nil
	}
	first := j.Alternatives()[0]
	switch {
	case first.Threads != j.Threads || first.GPUs != j.GPUs || first.Memory != j.Memory:
		return fmt.Errorf("job %q: its first alternative differs from its request", j.Name)
	case j.Malleable:
		return fmt.Errorf("job %q: a job with alternatives cannot be malleable", j.Name)
	case partial:
		return fmt.Errorf("job %q: a job with alternatives needs a policy that grants whole requests, such as "+
			"allocation = \"strict\"", j.Name)
	}
	for _, a := range j.Alternatives() {
		one := j.WithAlternative(a)
		if err := one.Check(j.Number); err != nil {
			return fmt.Errorf("alternative %q: %w", a.Name, err)
		}
	}
	return nil
}

// Check returns an error if the job is malformed. index is its index in the list of jobs.
func (j *Job) Check(index int) error {
	switch n := max(j.Nodes, 1); {
	case j.Number != index:
		return fmt.Errorf("job %q has the number %d, but is listed at index %d", j.Name, j.Number, index)
	case j.Threads < 1 || j.GPUs < 0 || j.Memory < 0 || j.Nodes < 0 || j.Retries() < 0:
		return fmt.Errorf("job %q has an impossible request: %s", j.Name, j.Demand())
	case j.Arrival < 0:
		return fmt.Errorf("job %q arrives at %s, before the start of the cell", j.Name, j.Arrival)
	case j.MinThreads < 0 || j.MinThreads > j.Threads || j.MaxThreads != 0 && j.MaxThreads < j.Threads:
		return fmt.Errorf("job %q requests %d threads, outside its limits %d … %d", j.Name, j.Threads, j.MinThreads,
			j.MaxThreads)
	case j.Threads%n != 0 || j.GPUs%n != 0:
		return fmt.Errorf("job %q: %s cannot be divided equally over %d nodes", j.Name, j.Demand(), n)
	}
	if j.Divided && !j.Divisible() {
		return fmt.Errorf("job %q: a job that is divided over nodes cannot be malleable or elastic, request nodes, or "+
			"have roles", j.Name)
	}
	return j.checkRoles()
}

func (j *Job) checkRoles() error {
	if len(j.Roles()) == 0 {
		return nil
	}
	threads, gpus := 0, 0
	for _, r := range j.Roles() {
		if r.Count < 1 || r.Threads < 0 || r.GPUs < 0 || r.Min < 0 || r.Min > r.Count || r.Max < 0 {
			return fmt.Errorf("job %q: role %q has an impossible request: %d parts, each with %d threads and %d GPUs, and at "+
				"least %d parts", j.Name, r.Name, r.Count, r.Threads, r.GPUs, r.Min)
		}
		threads, gpus = threads+r.Count*r.Threads, gpus+r.Count*r.GPUs
	}
	if threads != j.Threads || gpus != j.GPUs || j.Malleable || j.Nodes > 1 || j.Memory > 0 || len(j.Alternatives()) > 0 {
		return fmt.Errorf("job %q: its roles do not add up to its request, or it is malleable, requests nodes or memory, or "+
			"has alternatives", j.Name)
	}
	return nil
}

// parts returns the resources that each part of a job with roles needs; nil for other jobs.
func (j *Job) parts() *cluster.Parts {
	p := &cluster.Parts{}
	for _, r := range j.Roles() {
		for i := range r.Count {
			p.Each = append(p.Each, cluster.Room{Cores: int32(r.Threads), GPUs: int32(r.GPUs)})
			p.Names = append(p.Names, cluster.Part{Role: r.Name, Task: i})
			p.GPU = append(p.GPU, r.GPU)
		}
	}
	return p
}

// Needs returns the resources that a job needs on each node if it runs on the given number of cores in all, and the
// number of nodes.
func (j *Job) Needs(cores int32) (cluster.Room, int) {
	if len(j.Roles()) > 0 {
		need := cluster.Room{Parts: j.parts()}
		for _, r := range need.Parts.Each {
			need.Cores, need.GPUs = max(need.Cores, r.Cores), max(need.GPUs, r.GPUs)
		}
		return need, len(need.Parts.Each)
	}
	if j.Divided {
		n := j.units()
		each := int64(n)
		return cluster.Room{Cores: cores / int32(n), GPUs: int32(j.GPUs / n), Memory: (j.Memory + each - 1) / each}, n
	}
	if j.Nodes <= 1 {
		return cluster.Room{Cores: cores, GPUs: int32(j.GPUs), Memory: j.Memory}, 1
	}
	n := j.Nodes
	return cluster.Room{Cores: cores / int32(n), GPUs: int32(j.GPUs / n), Memory: (j.Memory + int64(n) - 1) / int64(n)}, n
}

// Divisible reports whether a policy can divide the job over nodes: it is rigid, has no roles,
// and does not request a number of nodes.
func (j *Job) Divisible() bool {
	return !j.Malleable && !j.Elastic && j.Nodes <= 1 && len(j.Roles()) == 0
}

// units returns the number of equal units of a divided job.
func (j *Job) units() int { return cluster.Units(j.Threads, j.GPUs) }

// Demand returns the request of the job.
func (j *Job) Demand() cluster.Demand {
	return cluster.Demand{Threads: j.Threads, GPUs: j.GPUs, Memory: j.Memory, Nodes: max(j.Nodes, 1), Divided: j.Divided}
}

// DemandAs returns the request of the job's alternative with index k.
func (j *Job) DemandAs(k int) cluster.Demand {
	a := &j.Alternatives()[k]
	return cluster.Demand{Threads: a.Threads, GPUs: a.GPUs, GPU: a.GPU, Memory: a.Memory, Nodes: max(j.Nodes, 1),
		Divided: j.Divided}
}

// CouldRun reports whether the job could start on the cluster if nothing else ran, with one of its alternatives.
// partial says that a part of the request is enough.
func (j *Job) CouldRun(on cluster.Cluster, partial bool) bool {
	if len(j.Roles()) > 0 {
		need, count := j.Needs(int32(j.Threads))
		m := cluster.NewMachine(on)
		need.Parts.On(m)
		_, ok := cluster.Fit(m.Whole, need, count, nil, nil)
		return ok
	}
	for k := range j.Alternatives() {
		if j.DemandAs(k).FitsOn(on) {
			return true
		}
	}
	d := j.Demand()
	if partial && d.Nodes == 1 && !d.Divided {
		d.Threads = min(max(j.MinThreads, 1), d.Threads)
	}
	return len(j.Alternatives()) == 0 && d.FitsOn(on)
}

// byArrival returns the numbers of the jobs, ordered by arrival, then number.
func byArrival(jobs []Job) []int32 {
	order := make([]int32, len(jobs))
	for i := range jobs {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(jobs[a].Arrival, jobs[b].Arrival) })
	return order
}

// inOrder reports whether the jobs are ordered by arrival.
func inOrder(jobs []Job) bool {
	for i := 1; i < len(jobs); i++ {
		if jobs[i].Arrival < jobs[i-1].Arrival {
			return false
		}
	}
	return true
}

// Special has the rare properties of jobs. It is separate from Job to keep Job small: there may be millions of jobs.
type Special struct {
	// Batch is the number of samples per step that the user requests; 0 means that the program decides.
	Batch int `json:",omitempty"`
	// Roles are the roles of a job that has several parts; each part is a program. Job.Threads and Job.GPUs are the
	// sums over all parts. Such a job is rigid, and all of its parts start together.
	Roles []Role
	// Budget is the greatest service time of the job, over all of its attempts; nil means no limit.
	Budget *time.Duration
	// Retries is the number of times that the job is queued again after a failure.
	Retries int
	// Changeover is the time that the job loses when it starts on another server, before its work continues.
	// Policies that choose servers use it.
	Changeover time.Duration
	// Units is the work of the job in epochs or steps; 0 counts as 1. Policies that compare the speeds of jobs use
	// it.
	Units float64
	// BatchRule is the rule by which the job's batch size changes while it trains; empty if the size is fixed.
	BatchRule string `json:",omitempty"`
	// Weight is the job's share in a fair division, relative to other jobs; 0 counts as 1.
	Weight float64

	// Alternatives are the requests with which the job can run; nil if there is only one, and the type of GPU does
	// not matter. The first equals the request in Job. Such a job is rigid.
	Alternatives []Alternative

	// Submission has the job's options for a batch system; nil if it has none.
	Submission *Submission `json:",omitempty"`
}

// Submission has the options of a job for a batch system. Policies with partitions, QOS and accounts use them.
type Submission struct {
	Account, Partition, QOS string
	// Reservation is the name of the reservation on whose nodes the job runs.
	Reservation string `json:",omitempty"`
	// Limit is the run time after which the job is ended; 0 means the limit of its partition.
	Limit time.Duration
	// Nice is subtracted from the priority of the job.
	Nice int
	// MinNodes and MaxNodes limit the number of nodes over which the job is divided; 0 means no limit.
	MinNodes, MaxNodes int
	// Features are the features that each node of the job must have.
	Features []string
	// After are the names of jobs that must be over before this job may start. Begin is the earliest instant at
	// which it may start.
	After []string
	Begin time.Duration
	// Array is the name of the job array that the job belongs to; empty for none.
	Array string
	// Exclusive says that the job shares its nodes with no other job. Stays says that the job ends when it is
	// preempted, and is not started again.
	Exclusive, Stays bool
}

// special returns the rare properties of a job, which may be shared.
func (j *Job) special() *Special {
	if j.Special == nil {
		return &ordinary
	}
	return j.Special
}

var ordinary Special

// Own returns the rare properties of a job for changes. If other jobs share them, the job first gets a copy.
func (j *Job) Own() *Special {
	s := *j.special()
	j.Special = &s
	return j.Special
}

// Batch returns Special.Batch.
func (j *Job) Batch() int { return j.special().Batch }

// Roles returns Special.Roles.
func (j *Job) Roles() []Role { return j.special().Roles }

// Budget returns Special.Budget.
func (j *Job) Budget() *time.Duration { return j.special().Budget }

// Retries returns Special.Retries.
func (j *Job) Retries() int { return j.special().Retries }

// Units returns Special.Units.
func (j *Job) Units() float64 { return j.special().Units }

// BatchRule returns Special.BatchRule.
func (j *Job) BatchRule() string { return j.special().BatchRule }

// Weight returns Special.Weight.
func (j *Job) Weight() float64 { return j.special().Weight }

// Submission returns Special.Submission.
func (j *Job) Submission() *Submission { return j.special().Submission }

// Alternatives returns Special.Alternatives.
func (j *Job) Alternatives() []Alternative { return j.special().Alternatives }
