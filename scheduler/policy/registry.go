package policy

import (
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Choice has the fields that all kinds of choices have.
type Choice struct {
	// Name is the name of the choice in experiments, keys and results: "round_robin".
	Name string
	// Title is a name for the start of a sentence: "Round robin".
	Title string
	// Doc is the text after the name in the language reference.
	Doc string
	// Place is the position of the choice in lists, from 1 on. Choices with Place 0 come last, ordered by name. The
	// first choice is the default.
	Place int
	// Weighs says that the choice considers the alternatives of jobs. It is set for placements, and for orders that
	// need no placement.
	Weighs bool
	// Version is increased when the decisions of the choice change, so that cells with it run again. 0 means 1.
	Version int
	// Settings are the arguments of a policy block that belong to the choice.
	Settings []schema.Arg
	// Estimates says that the choice reads predicted run times. PairEstimates says that it does so with the
	// placement pairs.
	Estimates, PairEstimates bool
	// ByTime says that the order ranks by predicted run times only, so that it can rank the alternatives of a job.
	ByTime bool
	// OfJobs says that the choice reads the predicted run time of each job, which may become known only during the
	// run.
	OfJobs bool
	// SetsCores says that the choice sets the number of cores of each job on hardware without GPUs. It needs
	// predicted run times on other numbers of cores than the request.
	SetsCores bool
	// Needs are further requirements on jobs, for the language reference: "jobs whose progress is known".
	Needs []string
	// Program returns the external program that the choice calls; nil if it calls none.
	Program func(Settings) Program
	// Draws reports whether the choice draws random numbers, from Run.Seed; nil if it never does.
	Draws func(Settings) bool
	// Wants are the requirements on other choices.
	Wants []Want
	// Check returns an error in the settings, and the name of the wrong argument. Check may be nil.
	Check func(Settings) (arg string, err error)
	// Extend changes the rules of a run according to the settings. It may be nil. A choice with Extend needs the
	// list of all jobs.
	Extend    func(Settings, *scheduler.PolicyRules)
	modifiers []*Modifier // modifiers that have added settings to the choice
	// Fits returns the mistakes that are found only with the cluster and the jobs of a run. It may be nil.
	Fits func(Policy, *scheduler.Run) []Misfit
}

// Misfit is a mistake in a block of a policy, or in a job. The index of the other is -1.
type Misfit struct {
	Block, Job int
	Err        error
}

// Misfits returns the parts of the policy that do not fit the cluster or the jobs of a run.
func (p Policy) Misfits(r *scheduler.Run) (all []Misfit) {
	for _, c := range p.answered().Choices() {
		if c.Fits != nil && len(all) == 0 {
			all = c.Fits(p, r)
		}
	}
	return all
}

// Program is an external program that a policy calls.
type Program struct {
	// Command is the command line; empty for a policy without a program. Files are further files on which the
	// program depends.
	Command, Files []string
	// Learns says that the program starts with the state that it had at the end of the previous replicate.
	Learns bool
}

// Want is a requirement of a choice on another choice of the policy.
type Want struct {
	// Of is the question of the other choice.
	Of Question
	// Name is the required answer. The answers in Or are also allowed.
	Name string
	Or   []string
	// Implied says that Name is the answer if the file does not set one.
	Implied bool
	// Detail is a sentence for users who have set another answer.
	Detail string
}

// Setup is the input for making the rules of a run.
type Setup struct {
	// Policy is the policy after Complete.
	Policy Policy
	// Run has the jobs and the cluster.
	Run *scheduler.Run
	// Pauses says that waiting jobs may pause running jobs that rank worse.
	Pauses bool
	// The choices of the policy.
	Allocation *AllocationChoice
	Backfill   *BackfillChoice
	Placement  *PlacementChoice
	// Order is the order of the run; nil while the order is being made.
	Order scheduler.Ranker
}

// OrderChoice is an order: which waiting job is next.
type OrderChoice struct {
	Choice
	// RequeueAfterQuantum says that a job whose quantum is over goes back to the queue. Running jobs are then not
	// paused for ranking worse, unless Levels is set.
	RequeueAfterQuantum bool
	// Levels says that waiting jobs pause running jobs of a worse rank although RequeueAfterQuantum is set. Jobs
	// then alternate only with jobs of the same rank.
	Levels bool
	// RankDependsOnOthers says that the rank of a waiting job changes when other jobs run.
	RankDependsOnOthers bool
	// OneByOne says that the order sees jobs only through the views that it ranks, and needs no list of all jobs.
	OneByOne bool
	// New returns the order for a run. It may also implement scheduler.SecondRanker, scheduler.UsageObserver, or
	// scheduler.Admitter; an Admitter replaces the backfill's.
	New func(Setup) scheduler.Ranker
}

// Rounded is an order that decides only at the starts of rounds. It is also its own Admitter.
type Rounded interface {
	// Rounds returns the length of the rounds. atOnce says that the policy also decides when devices become free
	// within a round.
	Rounds() (length time.Duration, atOnce bool)
}

// Clocked is a Rounded order whose rounds start at the multiples of their length.
type Clocked interface{ Clocked() }

// AllocationChoice is an allocation: how many cores a job gets.
type AllocationChoice struct {
	Choice
	// Partial says that jobs may get fewer cores than they request.
	Partial bool
	// Allot returns how many cores a waiting job would start with now, and on which nodes. It is called only for
	// jobs whose number of cores is not fixed. If Allot is nil, a job gets its request or nothing.
	Allot func(scheduler.View, scheduler.JobView) (cores int32, nodes []int32, ok bool)
	// Admission, if not nil, replaces the backfill's admission.
	Admission func(Setup) scheduler.Admitter
}

// BackfillChoice is a backfill: whether jobs may pass a job that cannot start.
type BackfillChoice struct {
	Choice
	// Passes says that jobs behind a job that cannot start may start.
	Passes bool
	// Reserves says that the backfill makes reservations, which need the expected ends of running jobs.
	Reserves bool
	// Promises says that the backfill promises each job a latest start.
	Promises bool
	// OneByOne says that the backfill sees jobs only through the views that it decides about, and needs no list of
	// all jobs.
	OneByOne bool
	// HeldBack says why a job for which there is room may not pass; nil if the backfill has no such reasons.
	HeldBack func(v scheduler.View, r *Reservation) string
	// New returns the admission for a run.
	New func(Setup) scheduler.Admitter
}

// PreemptionChoice is a preemption: whether running jobs are paused for waiting ones.
type PreemptionChoice struct {
	Choice
	// Pauses says that a waiting job may pause running jobs that rank worse.
	Pauses bool
}

// VictimChoice is a victim rule: which running jobs are paused first.
type VictimChoice struct {
	Choice
	// Key returns the sort key of a running job: the smallest first value is paused first, then the smallest second
	// value. The key must not change while the job runs with the same request.
	Key func(scheduler.JobView) (first, second int64)
	// Last says that the job which is last in the order is paused first. Key is then not called.
	Last bool
}

// PlacementChoice is a placement: with which of its alternatives a job starts.
type PlacementChoice struct {
	Choice
	// Measure returns a value of an alternative in a plan, from its predicted start and finish. The alternative with
	// the smallest value is best.
	Measure func(start, finish time.Duration) time.Duration
	// Settled says that a job keeps its planned alternative, even if it could start at once with another one by
	// pausing jobs.
	Settled bool
	// Admission, if not nil, replaces the backfill's admission.
	Admission func(Setup, scheduler.Ranker) scheduler.Admitter
	// Replan returns the admission that places all jobs again at each dispatch; nil if the placement cannot do that.
	Replan func(scheduler.Ranker) scheduler.Admitter
}

// NodesChoice is a rule for the nodes of jobs that do not request a number of nodes.
type NodesChoice struct {
	Choice
	// Place divides each such job over nodes; nil puts it on the first node that has room.
	Place cluster.PlacementRule
}

// answers has the registered choices of each question.
var answers = map[Question]*schema.Registry[*Choice]{}

// choices has the registered choices of one question, by name.
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

// find returns the choice with a name, or nil.
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

// RegisterOrder registers an order, and returns it. It panics if the name is taken; so do the functions below.
func RegisterOrder(c OrderChoice) OrderChoice { return orders.register(c) }

// RegisterAllocation registers an allocation.
func RegisterAllocation(c AllocationChoice) AllocationChoice { return allocations.register(c) }

// RegisterBackfill registers a backfill.
func RegisterBackfill(c BackfillChoice) BackfillChoice { return backfills.register(c) }

// RegisterPreemption registers a preemption.
func RegisterPreemption(c PreemptionChoice) PreemptionChoice { return preemptions.register(c) }

// RegisterVictims registers a victim rule.
func RegisterVictims(c VictimChoice) VictimChoice { return victimRules.register(c) }

// RegisterPlacement registers a placement.
func RegisterPlacement(c PlacementChoice) PlacementChoice { return placements.register(c) }

// RegisterNodes registers a rule for nodes.
func RegisterNodes(c NodesChoice) NodesChoice { return nodeRules.register(c) }

// RegisterQuestion adds a question of a feature to all policies. Its first choice is the default, and must leave
// policies as they are without the feature.
func RegisterQuestion(q Question, text QuestionText) {
	answers[q] = newAnswers(q)
	asked[q], added = text, append(added, q)
	Questions = append(Questions, q)
}

// RegisterChoice registers a choice for a question of a feature.
func RegisterChoice(q Question, c Choice) {
	answers[q].Add(&c)
	settings.own = nil
}

// added has the questions of features.
var added []Question

// Question is a question that choices answer. Its value is the name of the argument in the policy block.
type Question string

// The questions of the core.
const (
	OrderOf      Question = "order"
	AllocationOf Question = "allocation"
	BackfillOf   Question = "backfill"
	PreemptionOf Question = "preemption"
	VictimsOf    Question = "victims"
	PlacementOf  Question = "placement"
	NodesOf      Question = "nodes"
)

// Questions has all questions, in the order in which keys list them.
var Questions = []Question{OrderOf, BackfillOf, AllocationOf, PreemptionOf, VictimsOf, PlacementOf, NodesOf}

// Choices returns the registered choices of a question, in their order in lists.
func (q Question) Choices() []*Choice { return answers[q].All() }

// Names returns the names of the registered choices of a question.
func (q Question) Names() []string { return answers[q].Names(nil) }

// Default returns the choice for a policy that does not answer the question.
func (q Question) Default() string { return q.Choices()[0].Name }

// find returns the registered choice with a name, or nil.
func (q Question) find(name string) *Choice {
	c, _ := answers[q].Find(name)
	return c
}
