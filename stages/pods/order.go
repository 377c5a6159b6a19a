package pods

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// Cluster is the order under which the cluster itself starts jobs.
const Cluster policy.Order = "cluster"

// clusterArgs are the arguments of the order.
type clusterArgs struct {
	// The LocalQueue of Kueue that jobs are submitted to.
	//
	// Default: none: jobs go to the scheduler of the cluster at once.
	//
	//	queue = "team-a"
	Queue string `arg:"queue"`
	// The LocalQueues of single users, by `user` of the `submit` block.
	//
	// Default: none.
	//
	//	queues = { ann = "team-a", ben = "team-b" }
	Queues []schema.Setting `arg:"queues"`
}

//go:embed order.go
var source embed.FS

// Queuer is an engine whose cluster can decide when jobs start.
type Queuer interface {
	// Submit gives a job to a queue of the cluster, or to its scheduler if the name is empty. A job that is in the
	// queue already stays there.
	Submit(job int, queue string)
	// Placement returns the node on which the cluster has placed a job, or why the job waits; empty if the cluster
	// gives no reason. After a change the engine gives a notice of progress.
	Placement(job int) (node int, placed bool, why string)
	// Withdraw removes a job that has ended or is not wanted any more.
	Withdraw(job int)
}

func init() {
	var wants []policy.Want
	for _, w := range []policy.Want{
		{Of: policy.BackfillOf, Name: policy.FirstFit, Implied: true}, {Of: policy.AllocationOf, Name: policy.Strict},
		{Of: policy.PreemptionOf, Name: policy.NoPreemption}, {Of: policy.PlacementOf, Name: policy.PlaceFirst},
	} {
		w.Detail = fmt.Sprintf("Under the order %q the cluster decides this itself: remove %s.", Cluster, w.Of)
		wants = append(wants, w)
	}
	policy.RegisterOrder(policy.OrderChoice{
		Choice: policy.Choice{
			Name: Cluster, Title: "The cluster's own", Place: 16, Wants: wants, Settings: schema.Described[clusterArgs](source),
			Doc: "the cluster decides when jobs start, by its own scheduler or by Kueue",
		},
		New: func(policy.Setup) scheduler.Ranker { return byArrival{} },
	})
	stages.RegisterDecider(Cluster, func(_ context.Context, t stages.Task) stages.Decider { return &clusterPolicy{t} })
	language.RegisterRule(func(c *language.Checker, cell experiment.Cell) {
		if cell.Policy.Order == Cluster && c.First(cell.Policy, cell.Hardware) {
			decides(c, cell.Policy, cell.Hardware)
		}
		for _, s := range cell.Workload.Submits {
			if cell.Policy.Order == Cluster && cell.Hardware.Real() && s.Job.RunsAsSeveralPrograms() &&
				c.First(s.Job, cell.Policy, cell.Hardware) {
				c.Fail(s.Job.Range, "Roles under the order of a cluster", "The parts of the job %q are several pods, which start "+
					"together. Under the order %q of the policy %q the cluster would start each by itself. Use another order, or "+
					"a job without roles.", s.Job.Name, Cluster, cell.Policy.Name)
			}
		}
	})
}

// decides refuses the order on real hardware whose jobs do not run in pods, and warns how simulations treat the order.
func decides(c *language.Checker, p *experiment.Policy, h *experiment.Hardware) {
	at := language.Place(p.At, "order", p.Range)
	switch _, ok := h.Settings.(Settings); {
	case ok:
	case h.Real():
		c.Fail(at, "No cluster that decides", "Under the order %q a cluster decides when jobs start, but "+
			"the hardware %q is no cluster with pods: use the engine kubernetes.", Cluster, h.Name)
	default:
		c.Add(experiments.WarningAt(at, "Order of a cluster in simulation", "On the simulated hardware %q the order %q starts "+
			"each job that fits, by arrival. Queues and their quotas are not simulated.", h.Name,
			Cluster))
	}
}

// queues returns the queues of the cluster that a cell uses.
func queues(cell experiment.Cell) (names []string) {
	if cell.Policy.Order != Cluster {
		return nil
	}
	var args clusterArgs
	schema.Fill(&args, cell.Policy.Settings)
	for _, s := range append(args.Queues, schema.Setting{Value: args.Queue}) {
		if s.Value != "" {
			names = append(names, s.Value)
		}
	}
	return names
}

// byArrival lists waiting jobs by arrival. In simulations, they start in this order.
type byArrival struct{}

func (byArrival) Rank(j scheduler.JobView) int64 { return int64(j.Job().Arrival) }

// clusterPolicy makes the rules of a cell. If the engine is no Queuer, as in simulations, the rules follow from the
// settings.
type clusterPolicy struct{ task stages.Task }

func (p *clusterPolicy) String() string { return p.task.Policy.String() }

// Rules implements scheduler.SchedulingPolicy.
func (p *clusterPolicy) Rules(r scheduler.Run) (scheduler.PolicyRules, error) {
	rules, err := p.task.Policy.Rules(r)
	if on, ok := r.Engine.(Queuer); ok && err == nil {
		q := &admission{Queuer: on, run: r, saves: p.task.ForEngine().Kind.Capabilities(p.task.ForEngine()).Pause,
			wakes: scheduler.Never, late: map[int32]time.Duration{}, waited: map[int32]string{}}
		schema.Fill(&q.args, p.task.Policy.Settings)
		rules.Order, rules.Admission, rules.AlwaysConsult = q, q, true
	}
	return rules, err
}

// Close implements stages.Decider.
func (*clusterPolicy) Close(*record.Cell) {}

// admission carries out the decisions of the cluster.
type admission struct {
	Queuer
	byArrival
	args  clusterArgs
	run   scheduler.Run
	saves bool // jobs that lose their pods continue from checkpoints
	wakes time.Duration
	// late has the jobs that the cluster has placed although the hardware has no room yet, and since when.
	late   map[int32]time.Duration
	waited map[int32]string // by job: the last reason of the cluster for its wait
}

// Waits implements scheduler.QueueObserver.
func (q *admission) Waits(job int32) {
	queue, user := q.args.Queue, q.run.Jobs[job].User
	for _, s := range q.args.Queues {
		if s.Name == user {
			queue = s.Value
		}
	}
	q.Submit(int(job), queue)
}

// Ended implements scheduler.UsageObserver. The other methods do nothing: the cluster itself counts usage.
func (q *admission) Ended(job int32) { q.Withdraw(int(job)) }

func (*admission) Arrived(int32)                              {}
func (*admission) Used(int32, time.Duration, scheduler.Grant) {}
func (*admission) Served(int32)                               {}

const (
	// lookAgain is how often tfexp looks at waiting jobs if the engine gives no notice.
	lookAgain = time.Minute
	// mostLate is how long a placed job waits for the cores of jobs whose ends tfexp does not know yet.
	mostLate = 30 * time.Second
)

// NextWakeup and OnWakeup implement scheduler.TimedPolicy.
func (q *admission) NextWakeup() time.Duration { return q.wakes }
func (q *admission) OnWakeup()                 { q.wakes = scheduler.Never }

// Admit implements scheduler.Admitter: it carries out the decisions of the cluster.
func (q *admission) Admit(v scheduler.View, do scheduler.Actions) error {
	q.wakes = scheduler.Never
	for _, j := range slices.Clone(v.Running().All()) {
		_, placed, why := q.Placement(int(j))
		if placed {
			continue
		}
		var err error
		if q.saves {
			err = do.Pause(j, why)
		} else {
			err = do.(scheduler.ClusterActions).Requeue(j, why)
		}
		if err != nil {
			return err
		}
	}
	for _, j := range v.Waiting().First(nil) {
		q.wakes = min(q.wakes, v.Now()+lookAgain)
		node, placed, why := q.Placement(int(j))
		if !placed {
			q.waited[j] = why
			continue
		}
		job := v.Job(j)
		name, cores := cmp.Or(q.run.Cluster.Nodes[node].Name, "its node"), int32(max(job.Job().Threads, 1))
		if need, can := job.NeedOn(int32(node), cores); !can || !v.Machine().Free()[node].Holds(need) {
			since, is := q.late[j]
			if !is {
				since, q.late[j] = v.Now(), v.Now()
			}
			if v.Now()-since > mostLate {
				return fmt.Errorf("the cluster has placed the job %q on %s, where this hardware has too little room for it: "+
					"describe nodes as large as in the cluster, or remove threads and node blocks", job.Job().Name, name)
			}
			q.wakes = min(q.wakes, v.Now()+time.Second)
			continue
		}
		reason := "the cluster placed it on " + name
		if q.waited[j] != "" {
			reason += "; before, it waited: " + q.waited[j]
		}
		if since, is := q.late[j]; is && v.Now()-since > 2*time.Second {
			reason += fmt.Sprintf("; the cluster placed it %.0f s earlier, when this hardware had no room: its run time is "+
				"measured too short", (v.Now() - since).Seconds())
		}
		delete(q.late, j)
		delete(q.waited, j)
		if err := do.Start(j, cores, []int32{int32(node)}, reason); err != nil {
			return err
		}
	}
	return nil
}

// Why implements scheduler.Explainer.
func (q *admission) Why(_ scheduler.View, job int32) string {
	if _, placed, why := q.Placement(int(job)); !placed {
		return cmp.Or(why, "the cluster has not placed it")
	}
	return "the cluster has placed it, but an earlier job still holds its cores"
}

// HeldBack implements scheduler.Admitter.
func (q *admission) HeldBack(v scheduler.View, job int32) string { return q.Why(v, job) }
