package policy

import (
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Choice has the common fields of all registered choices.
type Choice struct {
	// Name is the choice in the language, in keys and in results: "round_robin".
	Name string
	// Title begins a sentence for people: "Round robin".
	Title string
	// Doc describes the choice, after its name in the reference of the language.
	Doc string
	// Place sorts the choices of a question in lists, from 1 on; those without one
	// come last, by name. The first is the default.
	Place int
	// Weighs marks the placement, or an order without one, that weighs the alternatives of jobs.
	Weighs bool
	// Version is raised when the decisions of a choice change, so that cells with
	// it run again; 0 and 1 are the first.
	Version int
	// Settings are the choice's own arguments in a policy block.
	Settings []schema.Arg
	// Estimates says that it reads predicted run times, and PairEstimates that it does under the placement pairs.
	Estimates, PairEstimates bool
	// ByTime says that it orders by predicted run times alone, which also weigh the alternatives of a job.
	ByTime bool
	// OfJobs says that it reads the predicted run time of each job, which may become known during the run.
	OfJobs bool
	// SetsCores says that on hardware without GPUs it sets the cores of each job, by predicted run times on other numbers
	// than its request.
	SetsCores bool
	// Needs are its other requirements on jobs, for the reference: "jobs whose progress is known".
	Needs []string
	// Program returns the external program of a choice that asks one; it is nil for others.
	Program func(Settings) Program
	// Draws reports whether it draws random numbers, by the seed of the run; it may be nil.
	Draws func(Settings) bool
	// Wants are the requirements on the other choices.
	Wants []Want
	// Check returns an error in the settings and the argument that has it; it may be nil.
	Check func(Settings) (arg string, err error)
	// Extend changes the rules of a run, by the settings; it may be nil. Such a choice looks at all jobs.
	Extend    func(Settings, *scheduler.PolicyRules)
	modifiers []*Modifier // whose settings it has
	// Fits returns the blocks of the policy that do not fit the cluster or the jobs of a run; it may be nil.
	Fits func(Policy, *scheduler.Run) []Misfit
}

// Misfit is a mistake in a block of a policy or in a job; the other number is -1.
type Misfit struct {
	Block, Job int
	Err        error
}

// Misfits returns the parts of the policy that do not fit a run.
func (p Policy) Misfits(r *scheduler.Run) (all []Misfit) {
	for _, c := range p.answered().Choices() {
		if c.Fits != nil && len(all) == 0 {
			all = c.Fits(p, r)
		}
	}
	return all
}

// Program is a program that a policy asks.
type Program struct {
	// Command is empty for a policy without a program. Files are the files that the program depends on, besides those
	// that the command names.
	Command, Files []string
	// Learns says that the program starts with its knowledge from the end of the previous replicate.
	Learns bool
}

// Want is a requirement of one choice on another choice of the policy.
type Want struct {
	// Of is the question that the other choice answers.
	Of Question
	// Name is the answer that goes with it, and Or others.
	Name string
	Or   []string
	// Implied makes it the answer where the file does not set one.
	Implied bool
	// Detail is a sentence for users who have set another answer.
	Detail string
}

// Setup has the inputs for the rules of a run.
type Setup struct {
	// Policy is complete: implied choices are filled in.
	Policy Policy
	// Run has the jobs and the cluster.
	Run *scheduler.Run
	// Pauses says that waiting jobs may pause running ones that are worse.
	Pauses bool
	// Allocation, Backfill and Placement are the policy's choices.
	Allocation *AllocationChoice
	Backfill   *BackfillChoice
	Placement  *PlacementChoice
	// Order is the order of the run; nil while it is made.
	Order scheduler.Ranker
}

// OrderChoice is an order of jobs.
type OrderChoice struct {
	Choice
	// Turns makes a job whose quantum has ended return to the queue. Then no job
	// is paused for being worse.
	RequeueAfterQuantum bool
	// Levels lets waiting jobs pause running ones that are worse though jobs take turns:
	// turns are among jobs of one rank.
	Levels bool
	// RankDependsOnOthers says that the rank of a waiting job changes when others are served.
	RankDependsOnOthers bool
	// OneByOne orders look at jobs through views alone, when they rank them.
	OneByOne bool
	// New returns the order for a run. It may also be a scheduler.SecondRanker, a
	// scheduler.UsageObserver, or a scheduler.Admitter that takes the backfill's place.
	New func(Setup) scheduler.Ranker
}

// Rounded is an order that is asked at the starts of rounds only. It is also its own admission.
type Rounded interface {
	// Rounds returns the length of the rounds, and whether the policy is also asked when
	// devices are freed within one.
	Rounds() (length time.Duration, atOnce bool)
}

// Clocked is a Rounded order whose rounds start at the multiples of their length.
type Clocked interface{ Clocked() }

// AllocationChoice is an allocation: how many cores a job gets.
type AllocationChoice struct {
	Choice
	// Partial allows jobs to be given less than their request.
	Partial bool
	// Allot returns how many cores a waiting job whose number of cores is open would
	// start with now, and on which nodes; nil for its request or nothing.
	Allot func(scheduler.View, scheduler.JobView) (cores int32, nodes []int32, ok bool)
	// Admission, if it is set, takes the backfill's place.
	Admission func(Setup) scheduler.Admitter
}

// BackfillChoice is a backfill: whether jobs may pass one that cannot start.
type BackfillChoice struct {
	Choice
	// Passes allows jobs to start that come after a job which cannot start.
	Passes bool
	// Reserves has the expected ends of running jobs kept, for reservations.
	Reserves bool
	// Promises says that it promises each job a latest start.
	Promises bool
	// OneByOne backfills look at jobs through views alone, when they decide about them.
	OneByOne bool
	// HeldBack says why a job that has room may not pass, if the backfill has a
	// reason for it.
	HeldBack func(v scheduler.View, r *Reservation) string
	// New returns the admission for a run.
	New func(Setup) scheduler.Admitter
}

// PreemptionChoice is a preemption: whether running jobs give way.
type PreemptionChoice struct {
	Choice
	// Pauses lets a waiting job pause running ones that are worse.
	Pauses bool
}

// VictimChoice is a victim rule: which running jobs are paused first.
type VictimChoice struct {
	Choice
	// Key returns the sort key by which running jobs are paused: smallest first value, then smallest second. It is
	// constant while the job runs with the same request.
	Key func(scheduler.JobView) (first, second int64)
	// Last pauses the jobs first that are last in the order; Key does not count then.
	Last bool
}

// PlacementChoice is a placement: with which of its alternatives a job starts.
type PlacementChoice struct {
	Choice
	// Measure returns the value that the best alternative in a plan minimizes, from
	// its predicted start and finish.
	Measure func(start, finish time.Duration) time.Duration
	// Settled keeps a job to the alternative that it is planned with, also where
	// another one would let it start by pausing others.
	Settled bool
	// Admission, if it is set, takes the backfill's place.
	Admission func(Setup, scheduler.Ranker) scheduler.Admitter
	// Replan returns the admission that replaces all placements at each dispatch; nil where that contradicts the
	// placement.
	Replan func(scheduler.Ranker) scheduler.Admitter
}

// NodesChoice is a rule for the nodes of jobs that do not ask for a number of nodes.
type NodesChoice struct {
	Choice
	// Place divides each such job over nodes; nil keeps it on one, the first that has room.
	Place cluster.PlacementRule
}

// answers are the registered answers to each question.
var answers = map[Question]*schema.Registry[*Choice]{}

// choices are the choices that answer one question, by name.
type choices[T any] struct {
	question Question
	choice   func(*T) *Choice
	byName   map[string]*T
}

func newAnswers(q Question) *schema.Registry[*Choice] {
	return schema.NewRegistry("policy: "+string(q), func(c *Choice) string { return c.Name },
		func(c *Choice) int { return c.Place })
}

func newChoices[T any](q Question, choice func(*T) *Choice) choices[T] {
	answers[q] = newAnswers(q)
	return choices[T]{question: q, choice: choice, byName: map[string]*T{}}
}

func (r *choices[T]) register(t T) T {
	for _, m := range modifiers {
		m.extend(r.question, r.choice(&t))
	}
	r.byName[answers[r.question].Add(r.choice(&t)).Name] = &t
	settings.own = nil
	return t
}

// find returns the choice of that name, or nil.
func (r *choices[T]) find(name string) *T { return r.byName[name] }

var (
	orders      = newChoices(OrderOf, func(c *OrderChoice) *Choice { return &c.Choice })
	allocations = newChoices(AllocationOf, func(c *AllocationChoice) *Choice { return &c.Choice })
	backfills   = newChoices(BackfillOf, func(c *BackfillChoice) *Choice { return &c.Choice })
	preemptions = newChoices(PreemptionOf, func(c *PreemptionChoice) *Choice { return &c.Choice })
	victimRules = newChoices(VictimsOf, func(c *VictimChoice) *Choice { return &c.Choice })
	placements  = newChoices(PlacementOf, func(c *PlacementChoice) *Choice { return &c.Choice })
	nodeRules   = newChoices(NodesOf, func(c *NodesChoice) *Choice { return &c.Choice })
)

// RegisterOrder and its like make a choice known. They panic when the name is taken.
func RegisterOrder(c OrderChoice) OrderChoice { return orders.register(c) }

// RegisterAllocation makes an allocation known.
func RegisterAllocation(c AllocationChoice) AllocationChoice { return allocations.register(c) }

// RegisterBackfill makes a backfill known.
func RegisterBackfill(c BackfillChoice) BackfillChoice { return backfills.register(c) }

// RegisterPreemption makes a preemption known.
func RegisterPreemption(c PreemptionChoice) PreemptionChoice { return preemptions.register(c) }

// RegisterVictims makes a victim rule known.
func RegisterVictims(c VictimChoice) VictimChoice { return victimRules.register(c) }

// RegisterPlacement makes a placement known.
func RegisterPlacement(c PlacementChoice) PlacementChoice { return placements.register(c) }

// RegisterNodes makes a rule for nodes known.
func RegisterNodes(c NodesChoice) NodesChoice { return nodeRules.register(c) }

// RegisterQuestion adds a question to all policies, for a feature. The first of its choices is the default, and leaves
// everything as it is without the feature.
func RegisterQuestion(q Question, text QuestionText) {
	answers[q] = newAnswers(q)
	asked[q], added = text, append(added, q)
	Questions = append(Questions, q)
}

// RegisterChoice makes a choice known that answers a question of a feature.
func RegisterChoice(q Question, c Choice) {
	answers[q].Add(&c)
	settings.own = nil
}

// added are the questions of features.
var added []Question

// Question is the question that a choice answers, by its argument in the policy block.
type Question string

// The questions.
const (
	OrderOf      Question = "order"
	AllocationOf Question = "allocation"
	BackfillOf   Question = "backfill"
	PreemptionOf Question = "preemption"
	VictimsOf    Question = "victims"
	PlacementOf  Question = "placement"
	NodesOf      Question = "nodes"
)

// Questions are all questions, in the order of keys.
var Questions = []Question{OrderOf, BackfillOf, AllocationOf, PreemptionOf, VictimsOf, PlacementOf, NodesOf}

// Choices returns the registered answers to a question, in order.
func (q Question) Choices() []*Choice { return answers[q].All() }

// Names returns the names of the registered answers to a question.
func (q Question) Names() []string { return answers[q].Names(nil) }

// Default returns the answer to a question where a policy has none: the first.
func (q Question) Default() string { return q.Choices()[0].Name }

// find returns the registered answer of that name, or nil.
func (q Question) find(name string) *Choice {
	c, _ := answers[q].Find(name)
	return c
}
