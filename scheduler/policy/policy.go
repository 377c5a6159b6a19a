// Package policy has the scheduling policies, and a registry of their parts. A Policy answers seven questions
// (order, backfill, allocation, preemption, victims, placement, nodes) and further ones that features add. Each
// answer is a choice, and choices can have settings.
//
// Each choice is registered in a separate file: its name, title and documentation, its settings, its requirements
// on other choices, and its code. The policy block, its checks and documentation, keys of cells and summaries are
// made from the registry.
//
// # Orders
//
//   - fcfs: by arrival. priority: by effective level. sjf: by predicted run time.
//     edf: by deadline. Ties are broken by arrival, then number. A running job is
//     paused for a waiting one only with preemption.
//   - srtf: by predicted remaining time. las: by least attained service (core time).
//     Both imply preemption. Under las, dispatch also follows the end of each
//     quantum.
//   - round_robin: a queue; jobs that arrive and jobs whose quantum is over go to
//     its end.
//   - fair: the same, but the queue is ordered by the attained service of the job's
//     user, then of the job, then by number. A job without a user is its own user.
//     A user who is new or returns starts with the service of the user who was
//     served last.
//
// # Allocation
//
//   - strict: the full request or nothing.
//   - always_attend: min(request, free), at least MinThreads (at least 1). On a
//     cluster, the first node that has the request free, else the node with the
//     most free cores.
//   - max_prop: each node shares its cores among jobs in proportion to their
//     requests; see MaxProp.
//
// # Backfill
//
// Backfill says which jobs may start when a job before them cannot. Under none, no job may. Under first_fit, every
// job that fits may. Under easy, a job may if it ends before the reservation of the first blocked job, or leaves
// enough room for it, by the predictions. Under conservative, a job may if it delays no job before it.
//
// Under easy, the reservation is computed again at each dispatch. Under conservative, a job gets its reservation
// when it begins to wait, and keeps it. When a job ends early, reservations move earlier, in the policy's order,
// until none can move.
//
// Some policies compute all conservative reservations again at each dispatch, in their order: policies with
// preemption, quanta, partial requests, alternatives, or servers that come and go. A job behind a reservation does
// not pause others. Under max_prop, easy and conservative keep the reservation of the first job without a share.
//
// # Placement
//
// Placement says with which of its alternatives a job starts.
//
//   - first: the first alternative that has room. Backfill and preemption try the
//     alternatives in this order. A reservation is for the alternative with the
//     earliest start, the first of equal ones.
//   - earliest_finish: each dispatch plans all waiting jobs in the policy's order,
//     with conservative backfill, which this implies. Each job takes the alternative
//     with the earliest predicted finish, the first of equal ones, next to running and
//     earlier planned jobs. It starts if its plan begins now. Otherwise it waits, even
//     if another alternative has room. The next dispatch may plan another alternative.
package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
)

// Order is the name of an order: which waiting job is next.
type Order = string

// Backfill is the name of a backfill: whether jobs may pass a job that cannot start.
type Backfill = string

// Allocation is the name of an allocation: how many cores a job gets.
type Allocation = string

// Preemption is the name of a preemption: whether running jobs are paused for waiting ones.
type Preemption = string

// VictimRule is the name of a victim rule: which running jobs are paused first.
type VictimRule = string

// Placement is the name of a placement: with which of its alternatives a job starts.
type Placement = string

// Nodes is the name of a rule for nodes: on which nodes a job runs that does not request a number of nodes.
type Nodes = string

// Policy is a set of choices, by name, with their settings. An empty name means the default choice. It implements
// scheduler.SchedulingPolicy.
type Policy struct {
	Order      Order
	Backfill   Backfill
	Allocation Allocation
	Preemption Preemption
	Victims    VictimRule
	Placement  Placement
	Nodes      Nodes
	// Added has the answers to questions of features.
	Added map[Question]string
	// Settings are the settings of the choices, such as the quantum.
	Settings Settings
	// Blocks are the values of the blocks that choices add to policy blocks, in the order of the file.
	Blocks []schema.Settings
}

// at returns a pointer to the field with the answer to a question; nil for a question of a feature.
func (p *Policy) at(q Question) *string {
	switch q {
	case OrderOf:
		return &p.Order
	case AllocationOf:
		return &p.Allocation
	case BackfillOf:
		return &p.Backfill
	case PreemptionOf:
		return &p.Preemption
	case VictimsOf:
		return &p.Victims
	case PlacementOf:
		return &p.Placement
	case NodesOf:
		return &p.Nodes
	}
	return nil
}

// Get returns the answer to a question; empty for the default.
func (p *Policy) Get(q Question) string {
	if at := p.at(q); at != nil {
		return *at
	}
	return p.Added[q]
}

// Set sets the answer to a question.
func (p *Policy) Set(q Question, name string) {
	if at := p.at(q); at != nil {
		*at = name
		return
	}
	p.Added = maps.Clone(p.Added)
	if p.Added == nil {
		p.Added = map[Question]string{}
	}
	p.Added[q] = name
}

// Complete returns the policy with all choices and settings filled in: implied choices, then defaults.
func (p Policy) Complete() Policy {
	p = p.answered()
	var settings Settings
	for _, q := range Questions {
		for _, a := range q.settings(p) {
			if v := p.setting(a); v != nil {
				if settings == nil {
					settings = Settings{}
				}
				settings[a.Name] = v
			}
		}
	}
	p.Settings = settings
	return p
}

// answered returns the policy with an answer to each question.
func (p Policy) answered() Policy {
	open := func(q Question) bool { return p.Get(q) == "" }
	if !slices.ContainsFunc(Questions, open) {
		return p
	}
	if open(OrderOf) {
		p.Order = OrderOf.Default()
	}
	for again := true; again; { // an implied choice can imply others
		again = false
		if p.replans() && open(BackfillOf) {
			p.Backfill = FirstFit
		}
		for _, q := range Questions {
			c := q.find(p.Get(q))
			if c == nil {
				continue
			}
			for _, w := range c.Wants {
				if w.Implied && open(w.Of) {
					p.Set(w.Of, w.Name)
					again = true
				}
			}
		}
	}
	for _, q := range Questions {
		if open(q) {
			p.Set(q, q.Default())
		}
	}
	return p
}

// settings returns the settings of a policy's choice for a question.
func (q Question) settings(p Policy) []schema.Arg {
	if c := q.find(p.Get(q)); c != nil {
		return c.Settings
	}
	return nil
}

// setting returns the value of a setting, or its default; nil if it has neither.
func (p *Policy) setting(a schema.Arg) any {
	if v, ok := p.Settings[a.Name]; ok {
		return v
	}
	if v, err := parse(a, a.Default); a.Default != "" && err == nil {
		return v
	}
	return nil
}

// Choices returns the policy's choices, in the order of the questions. It leaves out unknown and empty names.
func (p Policy) Choices() []*Choice {
	var all []*Choice
	for _, q := range Questions {
		if c := q.find(p.Get(q)); c != nil {
			all = append(all, c)
		}
	}
	return all
}

// arguments returns the settings that the policy's choices read.
func (p Policy) arguments() []schema.Arg {
	var all []schema.Arg
	for _, c := range p.Choices() {
		all = append(all, c.Settings...)
	}
	return all
}

// Validate returns an error if a choice is unknown, choices contradict each other, or a setting is missing.
func (p Policy) Validate() error {
	given := p
	p = p.Complete()
	for _, q := range Questions {
		if name := p.Get(q); q.find(name) == nil {
			return fmt.Errorf("policy: unknown %s %q", q, name)
		}
	}
	for _, problem := range p.Problems(func(arg string) bool { return given.sets(arg) }) {
		if !problem.Unread {
			return errors.New("policy: " + problem.Detail)
		}
	}
	for _, a := range p.arguments() {
		if v, ok := p.Settings[a.Name]; ok {
			if err := check(a, v); err != nil {
				return fmt.Errorf("policy: %w", err)
			}
		}
	}
	return nil
}

// sets reports whether a policy, before Complete, sets an argument.
func (p *Policy) sets(arg string) bool {
	if slices.Contains(Questions, Question(arg)) {
		return p.Get(Question(arg)) != ""
	}
	_, ok := p.Settings[arg]
	return ok
}

// Problem is a mistake in a policy.
type Problem struct {
	// Arg is the wrong argument of the policy block. Of is the question whose answer makes it wrong.
	Arg string
	Of  Question
	// Missing says that a required argument is not set. Unread says that the argument has no effect. If both are
	// false, the argument contradicts the choice.
	Missing, Unread bool
	// Detail is a sentence for users.
	Detail string
}

// Problems returns the mistakes in a complete policy: arguments that contradict each other, are missing, or have no
// effect. isSet reports whether the file sets an argument.
func (p Policy) Problems(isSet func(arg string) bool) []Problem {
	var all []Problem
	for _, q := range Questions {
		c := q.find(p.Get(q))
		if c == nil {
			continue
		}
		for _, w := range c.Wants {
			if p.Get(w.Of) != w.Name && !slices.Contains(w.Or, p.Get(w.Of)) && isSet(string(w.Of)) {
				all = append(all, Problem{Arg: string(w.Of), Of: q, Detail: w.Detail})
			}
		}
		if arg, err := c.check(p.Settings); err != nil {
			all = append(all, Problem{Arg: arg, Of: q, Detail: err.Error() + "."})
		}
		for _, a := range c.Settings {
			if _, ok := p.Settings[a.Name]; !ok && a.Required {
				all = append(all, Problem{Arg: a.Name, Of: q, Missing: true, Detail: fmt.Sprintf(
					"The %s %q needs a %s, for example %s = %s.", q, c.Name, a.Name, a.Name, a.Example)})
			}
		}
	}
	for _, s := range OwnSettings() {
		if isSet(s.Name) && !slices.Contains(s.By, p.Get(s.Of)) {
			all = append(all, Problem{
				Arg: s.Name, Of: s.Of, Unread: true, Detail: fmt.Sprintf("%s is only for %s: remove it.", s.Name, s.Readers()),
			})
		}
	}
	all = append(all, p.replanProblems()...)
	if pre := preemptions.find(p.Preemption); pre != nil && !pre.Pauses && isSet(string(VictimsOf)) {
		all = append(all, Problem{
			Arg: string(VictimsOf), Of: PreemptionOf, Unread: true, Detail: "victims is only for policies with preemption: remove it.",
		})
	}
	return all
}

// Pauses reports whether a waiting job may pause running jobs that are worse in the policy's order.
func (p Policy) Pauses() bool {
	p = p.answered()
	pre, order := preemptions.find(p.Preemption), orders.find(p.Order)
	return pre != nil && order != nil && pre.Pauses && (!order.RequeueAfterQuantum || order.Levels)
}

// OrderPauses reports whether the order itself pauses running jobs, whatever the preemption.
func (p Policy) OrderPauses() bool {
	order := orders.find(p.Order)
	return order != nil && (order.RequeueAfterQuantum || slices.ContainsFunc(order.Wants, func(w Want) bool {
		pre := preemptions.find(w.Name)
		return w.Of == PreemptionOf && w.Implied && pre != nil && pre.Pauses
	}))
}

// TakesTurns reports whether a job whose quantum is over goes back to the queue.
func (p Policy) TakesTurns() bool {
	order := orders.find(p.Order)
	return order != nil && order.RequeueAfterQuantum
}

// Partial reports whether a job may get less than its request.
func (p Policy) Partial() bool {
	a := allocations.find(p.answered().Allocation)
	return a != nil && a.Partial
}

// Promises reports whether the policy promises each job a latest start.
func (p Policy) Promises() bool {
	b := backfills.find(p.answered().Backfill)
	return b != nil && b.Promises
}

// Divides reports whether a job that does not request a number of nodes is divided over nodes.
func (p Policy) Divides() bool {
	c := nodeRules.find(p.answered().Nodes)
	return c != nil && c.Place != nil
}

// Packs reports whether two jobs may share their GPUs.
func (p Policy) Packs() bool { packs, _ := p.Settings[Packing].(bool); return packs }

// Packing is the setting of orders that let two jobs share their GPUs.
const Packing = "packing"

// Estimates reports whether decisions depend on predicted run times.
func (p Policy) Estimates() bool {
	p = p.answered()
	return slices.ContainsFunc(p.Choices(), p.estimates)
}

// estimates reports whether a choice of a complete policy reads predicted run times.
func (p *Policy) estimates(c *Choice) bool {
	return c.Estimates || c.PairEstimates && p.Placement == Pairs
}

// Program returns the external program that the policy calls; see Choice.Program.
func (p Policy) Program() Program {
	for _, c := range p.answered().Choices() {
		if c.Program != nil {
			return c.Program(p.Settings)
		}
	}
	return Program{}
}

// Draws reports whether the policy draws random numbers. Replicates then differ even if nothing else is random.
func (p Policy) Draws() bool {
	return slices.ContainsFunc(p.answered().Choices(), func(c *Choice) bool { return c.Draws != nil && c.Draws(p.Settings) })
}

// SetsCores reports whether the policy sets the number of cores of each job, by predicted run times, on hardware
// without GPUs.
func (p Policy) SetsCores() bool {
	return slices.ContainsFunc(p.answered().Choices(), func(c *Choice) bool { return c.SetsCores })
}

// FollowsProgress reports whether decisions depend on predictions for started jobs: if they can be paused for other
// jobs, or reservations depend on their ends.
func (p Policy) FollowsProgress() bool {
	p = p.answered()
	order, backfill := orders.find(p.Order), backfills.find(p.Backfill)
	return order != nil && order.Estimates && (p.Pauses() || order.Program != nil) || backfill != nil && backfill.Estimates
}

// Title returns a name of the policy for the start of a sentence: its choices of features, or else its order.
func (p Policy) Title() string {
	for _, q := range added {
		if name := p.Get(q); name != "" && name != q.Default() {
			return q.find(name).Title
		}
	}
	if order := orders.find(p.answered().Order); order != nil {
		return order.Title
	}
	return ""
}

// String describes the policy in one line: "round_robin, quantum 500ms, strict".
func (p Policy) String() string {
	p = p.answered()
	parts := []string{p.Order}
	for _, a := range p.arguments() {
		usual, _ := parse(a, a.Default)
		if text := format(p.setting(a)); text != "" && text != format(usual) {
			parts = append(parts, a.Name+" "+text)
		}
	}
	if p.Backfill != BackfillOf.Default() {
		parts = append(parts, p.Backfill+" backfill")
	}
	if p.Placement != PlacementOf.Default() {
		parts = append(parts, strings.ReplaceAll(p.Placement, "_", " "))
	}
	if p.Divides() {
		parts = append(parts, p.Nodes)
	}
	for _, q := range added {
		if name := p.Get(q); name != q.Default() {
			parts = append(parts, fmt.Sprintf(asked[q].Summary, strings.ReplaceAll(name, "_", " ")))
		}
	}
	parts = append(parts, p.Allocation)
	if pre := preemptions.find(p.Preemption); pre != nil && pre.Pauses {
		parts = append(parts, p.Preemption+" "+p.Victims+" first")
	}
	return strings.Join(parts, ", ")
}

// KeyLines returns the description of the policy in the key of a cell: its choices, their settings and their
// versions.
func (p Policy) KeyLines() []schema.KeyLine {
	p = p.answered()
	var lines []schema.KeyLine
	add := func(label, value string) {
		lines = append(lines, schema.KeyLine{Label: "policy." + label, Value: value})
	}
	for _, q := range Questions {
		switch name := p.Get(q); {
		case q == VictimsOf:
			if pre := preemptions.find(p.Preemption); pre != nil && pre.Pauses {
				add(string(q), name)
			}
		case q != PlacementOf && q != NodesOf && !slices.Contains(added, q):
			add(string(q), name)
		case name != q.Default():
			add(string(q), name)
		}
		if c := q.find(p.Get(q)); c != nil && c.Version > 1 {
			add(string(q)+".version", fmt.Sprint(c.Version))
		}
	}
	for _, a := range p.arguments() {
		if text := format(p.setting(a)); text != "" {
			add(a.Name, text)
		}
	}
	for i, b := range p.Blocks {
		lines = append(lines, b.Lines(fmt.Sprintf("policy.%d.", i+1))...)
	}
	if p.replans() {
		add(replanning.Name+".version", "2") // since version 2, also when no job waits
	}
	return lines
}

// hears returns a function that passes events to the order and the admission, if they have a method OnEvent; nil if
// neither does.
func hears(all ...any) func(*scheduler.Event) {
	var list []func(*scheduler.Event)
	for _, one := range all {
		if h, ok := one.(interface{ OnEvent(*scheduler.Event) }); ok {
			list = append(list, h.OnEvent)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return func(e *scheduler.Event) {
		for _, f := range list {
			f(e)
		}
	}
}

// Rules implements scheduler.SchedulingPolicy.
func (p Policy) Rules(r scheduler.Run) (scheduler.PolicyRules, error) {
	if err := p.Validate(); err != nil {
		return scheduler.PolicyRules{}, err
	}
	p = p.Complete()
	order, backfill := orders.find(p.Order), backfills.find(p.Backfill)
	s := Setup{
		Policy: p, Run: &r, Pauses: p.Pauses(), Backfill: backfill,
		Allocation: allocations.find(p.Allocation), Placement: placements.find(p.Placement),
	}
	rules := scheduler.PolicyRules{
		Order: order.New(s), Partial: s.Allocation.Partial, Ends: backfill.Reserves,
		Quantum: p.Settings.Duration(Quantum.Name), RequeueAfterQuantum: order.RequeueAfterQuantum,
		RankDependsOnOthers: order.RankDependsOnOthers,
		Feedback:            p.Settings.Duration(feedback.Name), Predicted: p.estimates(&order.Choice),
		Place: nodeRules.find(p.Nodes).Place,
	}
	for _, c := range p.Choices() {
		if c.Extend != nil {
			c.Extend(p.Settings, &rules)
		}
	}
	s.Order = rules.Order
	if s.Pauses {
		victims := victimRules.find(p.Victims)
		rules.Victims, rules.LastFirst = victims.Key, victims.Last
	}
	if o, ok := rules.Order.(Rounded); ok {
		rules.Round, rules.ConsultOnRelease = o.Rounds()
		_, rules.FixedRounds = rules.Order.(Clocked)
	}
	own, admits := rules.Order.(scheduler.Admitter)
	switch {
	case p.replans():
		rules.Admission, rules.AlwaysConsult = s.Placement.Replan(rules.Order), true
	case s.Allocation.Admission != nil:
		rules.Admission = s.Allocation.Admission(s)
	case admits:
		rules.Admission = own
	case s.Placement.Admission != nil:
		rules.Admission = s.Placement.Admission(s, rules.Order)
	default:
		rules.Admission = backfill.New(s)
	}
	if _, always := rules.Admission.(interface{ AsksAlways() }); always {
		rules.AlwaysConsult = true
	}
	rules.OnEvent = hears(rules.Order, rules.Admission)
	if o, ok := rules.Order.(interface {
		Quantum(scheduler.JobView) time.Duration
	}); ok {
		rules.QuantumOf = o.Quantum
	}
	if o, ok := rules.Order.(interface{ Rerank(time.Duration) bool }); ok {
		rules.Reranks = o.Rerank
	}
	for _, m := range p.modifiers() {
		if err := m.Modify(p, &rules, &r); err != nil {
			return rules, err
		}
	}
	return rules, nil
}
