// Package profiling lets policies learn the run times of jobs from samples on the cluster itself. A policy knows a job
// after the job, or a job like it, has run as a sample with each alternative (T. N. Le and others, "AlloX", EuroSys
// 2020, with samples of about 3%).
package profiling

import (
	"embed"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/queue"
	"github.com/tfexp/tfexp/stages/language"
)

// profilingSettings are the arguments of policies that decide by predicted run times.
type profilingSettings struct {
	// The part of its work that each job runs as a sample, on each of its alternatives, before the policy knows its run
	// time. Samples hold cores and GPUs of the cluster; they go before all other jobs, in the order of arrivals, as
	// soon as there is room, and their work is not kept: they cost the start and this part of the run time. In
	// simulations only. Without it, samples cost no simulated time.
	//
	// Default: off.
	//
	//	profiling = 0.03
	Part float64 `arg:"profiling,positive" max:"1"`
	// Which run times one sample reveals: of its `job` alone, or of all jobs of its `class`. The others of the class
	// wait until the first is profiled.
	//
	// Default: "job".
	//
	//	profiled_by = "class"
	By string `arg:"profiled_by" allowed:"job class"`
}

//go:embed profiling.go
var source embed.FS

// setting is the name of the argument that enables profiling.
const setting = "profiling"

func init() {
	policy.RegisterModifier(policy.Modifier{
		Settings: schema.Described[profilingSettings](source), Check: check,
		Of: func(_ policy.Question, c *policy.Choice) bool { return c.OfJobs },
		On: func(s policy.Settings) bool { return termsOf(s) != nil },
		Modify: func(p policy.Policy, rules *scheduler.PolicyRules, r *scheduler.Run) error {
			return termsOf(p.Settings).set(p, rules, r)
		},
		Sampling: func(s policy.Settings) *policy.Sampling {
			return &policy.Sampling{Setting: setting, ByClass: termsOf(s).byClass}
		},
	})
	language.RegisterRule(rule)
}

// check returns an error in the settings of a policy, and the name of the wrong argument.
func check(settings policy.Settings) (arg string, err error) {
	if _, set := settings["profiled_by"]; set && termsOf(settings) == nil {
		return "profiled_by", errors.New("profiled_by needs profiling: it chooses the jobs that one profile serves")
	}
	return "", nil
}

// terms are a policy's settings for profiling.
type terms struct {
	// part is the fraction of a job's work that each sample runs.
	part float64
	// byClass is set if one job is sampled for all jobs of its class with the same alternatives.
	byClass bool
}

// termsOf returns the settings of a policy for profiling; nil if the policy does no profiling.
func termsOf(settings policy.Settings) *terms {
	p, ok := settings[setting].(float64)
	if !ok {
		return nil
	}
	return &terms{part: p, byClass: settings["profiled_by"] == "class"}
}

// set changes a policy's rules so that they take samples of unknown jobs first. The engine must be a
// scheduler.Simulator.
func (t terms) set(p policy.Policy, rules *scheduler.PolicyRules, r *scheduler.Run) error {
	if _, ok := r.Engine.(scheduler.Simulator); !ok {
		return errors.New("profiling: the engine cannot run samples of jobs")
	}
	if p.Promises() {
		return errors.New("profiling: samples would break the promises of reservations")
	}
	d := newDesk(t, rules, r)
	rules.Order, rules.Admission, rules.Sampled = order{d}, d, d.Sampled
	rules.QuantumOf, rules.Reranks = nil, nil
	if why, ok := d.Admitter.(scheduler.Explainer); ok {
		rules.Admission = explaining{d, why}
	}
	rules.RankDependsOnOthers = true // a job that becomes known moves in the queue
	return nil
}

// desk takes samples of the jobs that the policy does not know yet, and passes the others to the policy. It is the
// Admitter of the rules.
type desk struct {
	scheduler.Admitter
	order scheduler.Ranker
	terms terms
	// Whether the policy also decides about running jobs (scheduler.PolicyRules.AlwaysConsult).
	anew   bool
	waiter scheduler.QueueObserver // the policy, if it has its own list of waiting jobs
	later  []int32                 // jobs that the policy's list gets once they are known
	listed []bool                  // whether a job is in later, by job
	of     []int32                 // the group with which a job is sampled, by job
	groups []group
}

// group is a set of jobs that are sampled together.
type group struct {
	begun, known bool
	left         []int32 // the alternatives without a finished sample
	leader       int32   // the job that runs the samples, if they have begun
}

func newDesk(t terms, rules *scheduler.PolicyRules, r *scheduler.Run) *desk {
	d := &desk{Admitter: rules.Admission, order: rules.Order, terms: t, anew: rules.AlwaysConsult,
		of: make([]int32, len(r.Jobs))}
	if d.waiter, _ = rules.Admission.(scheduler.QueueObserver); d.waiter != nil {
		d.listed = make([]bool, len(r.Jobs))
	}
	groups := map[string]int32{}
	for i := range r.Jobs {
		key := like(&r.Jobs[i])
		g, ok := groups[key]
		if !ok || !t.byClass {
			g = int32(len(d.groups))
			groups[key] = g
			d.groups = append(d.groups, group{})
		}
		d.of[i] = g
	}
	return d
}

// like returns a key that is equal for jobs that are sampled together.
func like(j *scheduler.Job) string {
	names := []string{j.Class}
	for _, a := range j.Alternatives() {
		names = append(names, a.Name)
	}
	return strings.Join(names, "\x00")
}

func (d *desk) known(j int32) bool { return d.groups[d.of[j]].known }

// last is the last place in the queue of unknown jobs. Unknown jobs are before all others, sorted by arrival.
var last = queue.Key{Rank: unknown, Second: math.MaxInt64, Job: math.MaxInt32}

const unknown = math.MinInt64

// order is the queue's order: unknown jobs first, then the policy's order.
type order struct{ *desk }

// Rank implements scheduler.Ranker.
func (o order) Rank(j scheduler.JobView) int64 {
	if !o.known(j.Number()) {
		return unknown
	}
	return o.order.Rank(j)
}

// The next methods pass events to the policy if it is a scheduler.UsageObserver.

// Arrived implements scheduler.UsageObserver.
func (o order) Arrived(job int32) { o.follow(func(f scheduler.UsageObserver) { f.Arrived(job) }) }

// Served implements scheduler.UsageObserver.
func (o order) Served(job int32) { o.follow(func(f scheduler.UsageObserver) { f.Served(job) }) }

// Used implements scheduler.UsageObserver: samples count as service of their jobs.
func (o order) Used(job int32, t time.Duration, g scheduler.Grant) {
	o.follow(func(f scheduler.UsageObserver) { f.Used(job, t, g) })
}

// Ended implements scheduler.UsageObserver. If the job has not run all samples of its group, another job of the group
// will.
func (o order) Ended(job int32) {
	if g := &o.groups[o.of[job]]; !g.known && g.leader == job {
		g.begun = false
	}
	o.follow(func(f scheduler.UsageObserver) { f.Ended(job) })
}

func (o order) follow(tell func(scheduler.UsageObserver)) {
	if f, ok := o.order.(scheduler.UsageObserver); ok {
		tell(f)
	}
}

// knowing is a view that shows only known jobs as waiting.
type knowing struct{ scheduler.View }

// Waiting returns the known jobs that wait.
func (v knowing) Waiting() scheduler.WaitingJobs { return v.View.Waiting().Behind(last) }

// Admit implements scheduler.Admitter: it starts samples first, in the order of arrival, while there is room.
func (d *desk) Admit(v scheduler.View, h scheduler.Actions) error {
	waiting := v.Waiting()
	for j := waiting.Next(queue.Front, queue.Anyone); j != queue.Nobody && !d.known(j); {
		at := waiting.KeyOf(j)
		if err := d.sample(v.Job(j), h); err != nil {
			return err
		}
		j = waiting.Next(at, queue.Anyone)
	}
	d.later = slices.DeleteFunc(d.later, func(job int32) bool {
		switch v.Job(job).State() {
		case scheduler.Running:
			return false
		case scheduler.Queued, scheduler.Paused:
			if !d.known(job) {
				return false
			}
			d.waiter.Waits(job)
		}
		d.listed[job] = false
		return true
	})
	if v = (knowing{v}); v.Waiting().Len() == 0 && !d.anew {
		return nil
	}
	return d.Admitter.Admit(v, h)
}

// Waits implements scheduler.QueueObserver.
func (d *desk) Waits(job int32) {
	if d.waiter != nil && !d.listed[job] {
		d.later, d.listed[job] = append(d.later, job), true
	}
}

// sample starts or resumes a sample of a job, with the first of its remaining alternatives that has room.
func (d *desk) sample(j scheduler.JobView, h scheduler.Actions) error {
	g := &d.groups[d.of[j.Number()]]
	if !g.begun {
		g.begun, g.leader = true, j.Number()
		if g.left == nil {
			g.left = slices.Clone(j.Choices())
		}
	}
	switch {
	case g.leader != j.Number():
		return nil
	case j.State() != scheduler.Queued:
		if nodes, ok := j.Fits(j.Request()); ok {
			return h.Start(j.Number(), j.Request(), nodes, "its sample goes on")
		}
		return nil
	}
	for _, k := range g.left {
		why := "a sample of it"
		if name := j.Job().As(k).Name; name != "" {
			why += " on " + name
		}
		h.Choose(j.Number(), k)
		if started, err := d.start(j, h, why); started || err != nil {
			return err
		}
	}
	return nil
}

func (d *desk) start(j scheduler.JobView, h scheduler.Actions, why string) (started bool, err error) {
	nodes, ok := j.Fits(j.Request())
	if !ok {
		return false, nil
	}
	return true, h.(scheduler.ClusterActions).Sample(j.Number(), j.Request(), nodes, d.terms.part, why)
}

// Sampled processes the end of a sample.
func (d *desk) Sampled(job, alternative int32) {
	g := &d.groups[d.of[job]]
	g.left = slices.DeleteFunc(g.left, func(k int32) bool { return k == alternative })
	g.known = len(g.left) == 0
}

// HeldBack implements scheduler.Admitter.
func (d *desk) HeldBack(v scheduler.View, job int32) string {
	if !d.known(job) {
		return "waits for its sample, or for that of a job like it"
	}
	return d.Admitter.HeldBack(knowing{v}, job)
}

// explaining is a desk for a policy that explains why a job does not start.
type explaining struct {
	*desk
	policy scheduler.Explainer
}

// Why implements scheduler.Explainer.
func (e explaining) Why(v scheduler.View, job int32) string {
	if !e.known(job) {
		return e.HeldBack(v, job)
	}
	return e.policy.Why(knowing{v}, job)
}
