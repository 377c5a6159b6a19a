// Job has the requests: jobs, the alternatives with which they can run, and
// changes of their requests.

package scheduler

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Job is the scheduler's description of one job. All instants are since
// the start of the cell.
type Job struct {
	// Number identifies the job in its cell and breaks ties. Jobs are
	// numbered 0, 1, 2, … in the order of the workload, and Jobs[i].Number == i.
	Number int
	// Name is unique in the cell: the class and a running number, "short-3".
	Name string
	// Class is the name of the job block that it was made from.
	Class string

	Arrival time.Duration

	// Threads is the request in cores. Under a malleable allocation the job
	// holds between MinThreads (at least 1) and MaxThreads (at least Threads;
	// 0 means Threads).
	Threads    int
	MinThreads int
	MaxThreads int
	// GPUs and Memory (bytes) are requested in full or not at all.
	GPUs   int
	Memory int64
	// Nodes is the number of nodes of a gang; 0 and 1 mean a job on one node.
	// The request is then divided evenly over the nodes.
	Nodes int
	// Malleable jobs can be resized while they run; the others are rigid.
	Malleable bool
	// Elastic jobs can run on any number of GPUs, with any number on each node, when a policy
	// divides the GPUs among all jobs.
	Elastic bool `json:",omitempty"`
	// Divided jobs, of one node by themselves, have their requests divided over nodes as the policy
	// places them, in equal units (cluster.Units). They are rigid.
	Divided bool `json:",omitempty"`
	// Priority is the job's own level: 0 is best.
	Priority int
	// Deadline is an instant; Never when the job has none.
	Deadline time.Duration
	// User owns the job, for policies that are fair between users.
	User string
	// Predicted is the run time on the full request by the policy's estimates;
	// 0 means no estimate, which counts as longer than any. A job that is known
	// to take no time has one nanosecond.
	Predicted time.Duration

	// Special has the rare properties of a job, and jobs may share it; nil for none. Methods of the same names read
	// its fields, and Own changes them.
	Special *Special `json:",omitempty"`
}

// Within returns the time after its arrival by which the job must be done; 0 without a deadline.
func (j *Job) Within() time.Duration {
	if j.Deadline <= 0 || j.Deadline == math.MaxInt64 {
		return 0
	}
	return max(j.Deadline-j.Arrival, 1)
}

// Plain reports whether the job asks for cores of one node and nothing else, and keeps its request.
// There may be millions of such jobs, and the scheduler need not look at each of them.
func (j *Job) Plain() bool {
	return j.GPUs == 0 && j.Memory == 0 && j.Nodes <= 1 && !j.Divided && !j.Malleable && !j.Elastic &&
		len(j.Roles())+len(j.Alternatives()) == 0
}

// Role is a kind of parts of a job.
type Role struct {
	// Name is the role name that the program receives: "ps", "worker", "chief".
	Name  string
	Count int
	// Threads and GPUs are the numbers of each part. A part without threads
	// shares the threads and the node of the job's first part that has some.
	Threads, GPUs int
	// GPU is the type of GPU that the node of each part must have; empty for any.
	GPU string
	// Elastic lets the job continue without a lost part of this role, while at least
	// Min of them remain; the part starts again when there is room. The number of its
	// parts can be changed while the job runs, up to Max (0 means Count).
	Elastic  bool
	Min, Max int
	// Vital ends the attempt when a part of the role is lost, elastic or not.
	Vital bool
}

// Most returns the greatest number of parts of the role.
func (r *Role) Most() int { return max(r.Count, r.Max) }

// Survives reports whether the job continues without its parts on a node. They must all
// belong to elastic roles that are not vital and keep enough parts, and none may be the part
// that ends the job.
func (j *Job) Survives(parts []cluster.Part, node int) bool {
	return j.spares(parts, func(p *cluster.Part) bool { return p.Node == node })
}

// spares is Survives for any parts that are lost together.
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

// WithParts returns the job with other numbers of parts, by role.
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

// Resize is a request of the workload to change a job's thread request or, of a job with
// roles, the number of parts of an elastic one.
type Resize struct {
	At      time.Duration
	Job     int
	Threads int
	// Role names the resized role, which is to have Parts parts; Threads does not count then.
	Role  string
	Parts int
}

// surplus divides the parts of a running job, which are in the order of their numbers, into those that it is to keep
// and those that are too many: of each role the ones with the highest numbers. The part that ends the job is the first
// of its role, and stays.
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

// Missing returns the parts that a running job lacks, in the order of its roles. Each gets the lowest free number
// of its role.
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

// AskParts returns the numbers of parts of a job's roles when one role is to have count parts. The
// error says why the job cannot have them.
func (j *Job) AskParts(role string, count int, on cluster.Cluster) (counts []int, err error) {
	i := slices.IndexFunc(j.Roles(), func(r Role) bool { return r.Name == role })
	if i < 0 {
		return nil, fmt.Errorf("job %q has no role %q", j.Name, role)
	}
	r := &j.Roles()[i]
	switch least := max(r.Min, 1); {
	case !r.Elastic:
		return nil, fmt.Errorf("the role %q of job %q is not elastic: it keeps its %d parts", role, j.Name, r.Count)
	case count < least || count > r.Most():
		return nil, fmt.Errorf("the role %q of job %q has from %d to %d parts, not %d", role, j.Name, least, r.Most(), count)
	}
	counts = make([]int, len(j.Roles()))
	for k := range counts {
		counts[k] = j.Roles()[k].Count
	}
	counts[i] = count
	if more := j.WithParts(counts); !more.CouldRun(on, false) {
		return nil, fmt.Errorf("job %q cannot have %d parts of the role %q: more than the cluster has", j.Name, count, role)
	}
	return counts, nil
}

// Alternative is one of the requests with which a job can run, and its predicted
// run time.
type Alternative struct {
	// Name distinguishes the alternatives of one job in results: "cpu", "gpu:V100".
	Name string
	// Threads, GPUs and Memory (bytes) are requested in full or not at all.
	Threads int
	GPUs    int
	Memory  int64
	// GPU is the type of GPU that a node must have; empty for any node.
	GPU string
	// Predicted is the run time with it; 0 when there is no estimate, which
	// counts as longer than any.
	Predicted time.Duration
	// Beside has the fraction of its speed that the job keeps when it shares its GPUs, by the
	// class of the other job. It shares them with no other classes.
	Beside map[string]float64 `json:",omitempty"`
}

// WithAlternative returns the job as if the alternative were its only request.
func (j Job) WithAlternative(a Alternative) Job {
	j.Threads, j.GPUs, j.Memory, j.Predicted = a.Threads, a.GPUs, a.Memory, a.Predicted
	j.MinThreads, j.MaxThreads, j.Own().Alternatives = 0, 0, nil
	return j
}

// As returns the request of the job with one of its alternatives.
func (j *Job) As(alternative int32) Alternative {
	if len(j.Alternatives()) > 0 {
		return j.Alternatives()[alternative]
	}
	return Alternative{Threads: j.Threads, GPUs: j.GPUs, Memory: j.Memory, Predicted: j.Predicted}
}

// checkAlternatives refuses settings that have no meaning for a job with alternatives.
func (j *Job) checkAlternatives(partial bool) error {
	if len(j.Alternatives()) == 0 {
		return nil
	}
	first := j.Alternatives()[0]
	switch {
	case first.Threads != j.Threads || first.GPUs != j.GPUs || first.Memory != j.Memory:
		return fmt.Errorf("job %q: its first alternative is not its request", j.Name)
	case j.Malleable:
		return fmt.Errorf("job %q: it has alternatives, and cannot be malleable", j.Name)
	case partial:
		return fmt.Errorf("job %q: it has alternatives, and wants an allocation of whole requests", j.Name)
	}
	for _, a := range j.Alternatives() {
		one := j.WithAlternative(a)
		if err := one.Check(j.Number); err != nil {
			return fmt.Errorf("alternative %q: %w", a.Name, err)
		}
	}
	return nil
}

// Check refuses a malformed job.
func (j *Job) Check(index int) error {
	switch n := max(j.Nodes, 1); {
	case j.Number != index:
		return fmt.Errorf("job %q has number %d at index %d", j.Name, j.Number, index)
	case j.Threads < 1 || j.GPUs < 0 || j.Memory < 0 || j.Nodes < 0 || j.Retries() < 0:
		return fmt.Errorf("job %q: it asks for %s", j.Name, j.Demand())
	case j.Arrival < 0:
		return fmt.Errorf("job %q arrives at %s, before the start", j.Name, j.Arrival)
	case j.MinThreads < 0 || j.MinThreads > j.Threads || j.MaxThreads != 0 && j.MaxThreads < j.Threads:
		return fmt.Errorf("job %q: %d threads are not within %d … %d", j.Name, j.Threads, j.MinThreads, j.MaxThreads)
	case j.Threads%n != 0 || j.GPUs%n != 0:
		return fmt.Errorf("job %q: %s cannot be divided over %d nodes", j.Name, j.Demand(), n)
	}
	if j.Divided && !j.Divisible() {
		return fmt.Errorf("job %q is divided over nodes, and malleable, elastic, a gang or has roles as well", j.Name)
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
			return fmt.Errorf("job %q: its role %q has %d parts of %d threads and %d GPUs, at least %d", j.Name, r.Name,
				r.Count, r.Threads, r.GPUs, r.Min)
		}
		threads, gpus = threads+r.Count*r.Threads, gpus+r.Count*r.GPUs
	}
	if threads != j.Threads || gpus != j.GPUs || j.Malleable || j.Nodes > 1 || j.Memory > 0 || len(j.Alternatives()) > 0 {
		return fmt.Errorf("job %q: its roles are not its request, or it is malleable, a gang, or has alternatives", j.Name)
	}
	return nil
}

// parts returns the needs of the parts of a job with roles.
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

// Needs returns a job's need per node with the given number of cores in
// all, and the number of nodes.
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

// Divisible reports whether a policy can divide the job over nodes: it is rigid, of one part, and
// asks for no number of nodes.
func (j *Job) Divisible() bool {
	return !j.Malleable && !j.Elastic && j.Nodes <= 1 && len(j.Roles()) == 0
}

// units returns the number of units in the request of a divided job.
func (j *Job) units() int { return cluster.Units(j.Threads, j.GPUs) }

// Demand returns the request of the job itself, without its alternatives.
func (j *Job) Demand() cluster.Demand {
	return cluster.Demand{Threads: j.Threads, GPUs: j.GPUs, Memory: j.Memory, Nodes: max(j.Nodes, 1), Divided: j.Divided}
}

// DemandAs returns the request of the job with an alternative.
func (j *Job) DemandAs(k int) cluster.Demand {
	a := &j.Alternatives()[k]
	return cluster.Demand{Threads: a.Threads, GPUs: a.GPUs, GPU: a.GPU, Memory: a.Memory, Nodes: max(j.Nodes, 1),
		Divided: j.Divided}
}

// CouldRun reports whether a free cluster has room for the job: for an alternative, or
// for its request; with partial, for a part of the request.
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

// byArrival returns the job numbers by arrival, then number.
func byArrival(jobs []Job) []int32 {
	order := make([]int32, len(jobs))
	for i := range jobs {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(jobs[a].Arrival, jobs[b].Arrival) })
	return order
}

// inOrder reports whether jobs arrive in the order of their numbers.
func inOrder(jobs []Job) bool {
	for i := 1; i < len(jobs); i++ {
		if jobs[i].Arrival < jobs[i-1].Arrival {
			return false
		}
	}
	return true
}

// Special has the rare properties of jobs. They are kept outside Job, as there may be millions of jobs without them.
type Special struct {
	// Batch is the number of samples per step that its user asked for; 0 leaves it to the program.
	Batch int `json:",omitempty"`
	// Roles are the parts of a job that has several, each a program, on the same node
	// or on different ones; Threads and GPUs are their sums. Such a job is rigid, and
	// starts whole.
	Roles []Role
	// Budget is the greatest training time of the job, in service time over all of
	// its attempts; nil means that its work alone ends it.
	Budget *time.Duration
	// Retries is how often a job that failed while it ran returns to the
	// queue, to be restarted.
	Retries int
	// Changeover is the time that the job loses when it starts on another server,
	// before its work continues. Policies that choose the source of servers use it.
	Changeover time.Duration
	// Units is the work of the job in epochs or steps, for policies that compare the speeds of
	// jobs; 0 counts as 1.
	Units float64
	// BatchRule is the rule by which the job's batch size changes while it trains; empty if it does not.
	BatchRule string `json:",omitempty"`
	// Weight is the job's part of a fair division, relative to others; 0 counts as 1.
	Weight float64

	// Alternatives are the requests with which a job can run, when there are several
	// or the type of GPU matters: it starts with one of them, and keeps it. The
	// first is the request of the job, so that a job with alternatives has at least
	// one. Such a job is rigid.
	Alternatives []Alternative

	// Submission has the job's options for a batch system; nil for none.
	Submission *Submission `json:",omitempty"`
}

// Submission has a job's options for a batch system, except for its size. Policies with partitions, qualities of
// service and accounts use it.
type Submission struct {
	Account, Partition, QOS string
	// Reservation is the reservation whose nodes the job gets.
	Reservation string `json:",omitempty"`
	// Limit is the run time after which the job is ended; 0 leaves it to the partition.
	Limit time.Duration
	// Nice lowers the priority of the job.
	Nice int
	// MinNodes and MaxNodes bound the number of nodes over which the job is divided; 0 for no bound.
	MinNodes, MaxNodes int
	// Features are the features that each of its nodes must have.
	Features []string
	// After are the jobs, by name, that must be over before this one is eligible; Begin is the earliest instant, since the
	// start of the cell.
	After []string
	Begin time.Duration
	// Array is the name of the array that the job is an element of.
	Array string
	// Exclusive jobs share their nodes with no other. Stays says that a preempted job ends and is not started again.
	Exclusive, Stays bool
}

// special returns the rare properties of a job, or the defaults of a job without any.
func (j *Job) special() *Special {
	if j.Special == nil {
		return &ordinary
	}
	return j.Special
}

var ordinary Special

// Own returns the rare properties of a job for changes: no other job shares them.
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
