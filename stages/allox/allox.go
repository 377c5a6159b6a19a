// Package allox has the order of T. N. Le, X. Sun, M. Chowdhury, Z. Liu (EuroSys 2020). It matches
// the waiting jobs to positions on machines, counted from the end, such that the
// sum of the predicted finish times is smallest: a job in position k on a
// machine adds k times its run time there, and the time after which the machine
// is free. The jobs that the matching puts first on machines that are free
// start, longest-waiting first within one position; the first of them that has
// no room yet ends this for its type of machine, which keeps the room for it.
// The matching is repeated until no job starts, and at each dispatch. Nothing is
// paused.
//
// Each GPU type that alternatives ask for is a type of machine, and so are cores
// for jobs that ask for no GPU. A type has one machine for each running job that
// asked for it, free at the job's predicted end. It also has one machine, free now,
// for each request of the mean size that fits into the free resources. The mean is
// over the waiting jobs, with their alternatives on that type. Of several
// alternatives on one type a job is matched with the fastest.
//
// With alpha below 1 only the jobs of ⌈alpha × n⌉ of the n users with waiting
// jobs take part, those with the least progress, ties to the user whose job
// has the lower number; when the matching starts none of their jobs, twice as
// many users take part, until all do. A user's progress is the run time of the
// user's jobs, each weighted by its part of the cluster's cores or GPUs,
// whichever is greater. A job without a user counts as a separate user. A user
// who returns, or is new, starts at least from the progress of the user served
// last.
package allox

import (
	"cmp"
	"embed"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/accounts"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// AlloX is the name of the order.
const AlloX policy.Order = "allox"

//go:embed allox.go
var source embed.FS

// alloxSettings are the arguments of the order.
type alloxSettings struct {
	// The part of the users whose jobs are matched, least progress first: 1 minimizes mean JCT, smaller values are
	// fairer. Users without a name own one job each.
	//
	//	alpha = 0.3
	Alpha float64 `arg:"alpha" default:"1" min:"0.001" max:"1"`
	// The waiting time after which a job goes first: no other job starts before it. It starts with its fastest
	// alternative that has room. tfexp checks the waiting time when a job arrives or ends.
	//
	// Default: off.
	//
	//	starvation = "4h"
	Starvation time.Duration `arg:"starvation,positive"`
}

var _ = policy.RegisterOrder(policy.OrderChoice{
	Choice: policy.Choice{
		Name: AlloX, Title: "AlloX",
		Doc:   "the matching of jobs to resources with the shortest mean JCT",
		Place: 9, Estimates: true, OfJobs: true, Settings: schema.Described[alloxSettings](source), Weighs: true,
		Wants: []policy.Want{
			byItself(policy.BackfillOf, policy.NoBackfill), byItself(policy.AllocationOf, policy.Strict),
			byItself(policy.PreemptionOf, policy.NoPreemption), byItself(policy.PlacementOf, policy.PlaceFirst),
		},
	},
	New: newMatcher,
})

// byItself requires the answer name to a question about the policy: any other answer would contradict the order.
func byItself(q policy.Question, name string) policy.Want {
	return policy.Want{Of: q, Name: name, Detail: fmt.Sprintf(
		"The order \"allox\" decides by itself what starts, and where: %s cannot be combined with it.", q)}
}

// matcher is the state of the order.
type matcher struct {
	accounts.Accounts
	scheduler.View
	scheduler.Actions
	policy.Setup
	cores, gpus int         // of the cluster
	kinds       []resource  // in the last matching
	round       int32       // number of the matching, from 1
	places      []matchedTo // by job number
	starved     int32       // the job that all others wait for, or queue.Nobody
}

// matchedTo is the position to which a matching assigned a job.
type matchedTo struct {
	AssignmentPosition
	jobs  int32 // number of jobs that the matching assigned to the same kind
	round int32 // the number of the matching
}

// resource is a kind of machine: GPUs of one type, or cores.
type resource struct {
	name string
	gpu  bool
	kind int32 // the GPU's kind
	// unit is the mean request of the waiting jobs. A machine is the room for one unit.
	unit  cluster.Room
	count int64
	free  []int64 // time until each machine is free, in microseconds, ascending
	idle  int     // number of machines that are free now
}

// candidate is a job that takes part in a matching.
type candidate struct {
	job          int32
	alternatives []int32 // the job's alternative for each kind; -1 if it has none
}

func newMatcher(s policy.Setup) scheduler.Ranker {
	jobs := s.Run.Jobs
	m := &matcher{Accounts: accounts.New(jobs), Setup: s, places: make([]matchedTo, len(jobs)), starved: queue.Nobody}
	for _, n := range s.Run.Cluster.Nodes {
		m.cores += n.Threads
		m.gpus += n.GPUs
	}
	return m
}

// Rank implements scheduler.Ranker: waiting jobs are sorted by arrival.
func (m *matcher) Rank(j scheduler.JobView) int64 { return int64(j.Job().Arrival) }

// allot returns the request of a waiting job and the nodes on which it can start. ok is false if it cannot start.
func allot(j scheduler.JobView) (cores int32, nodes []int32, ok bool) {
	cores = j.Request()
	nodes, ok = j.Fits(cores)
	return cores, nodes, ok
}

// progress returns the progress of a user while a job runs for d: d × the job's dominant share of the cluster.
func (m *matcher) progress(d time.Duration, g scheduler.Grant) time.Duration {
	part := float64(g.Cores.Count()) / float64(m.cores)
	if m.gpus > 0 {
		part = max(part, float64(g.GPUs.Count())/float64(m.gpus))
	}
	return time.Duration(math.Round(float64(d) * part))
}

// Used implements scheduler.UsageObserver: it adds to the progress of the job's user.
func (m *matcher) Used(j int32, d time.Duration, g scheduler.Grant) { m.Add(j, m.progress(d, g)) }

// HeldBack implements scheduler.Admitter.
func (m *matcher) HeldBack(v scheduler.View, j int32) string { return m.Why(v, j) }

// Why implements scheduler.Explainer.
func (m *matcher) Why(_ scheduler.View, j int32) string {
	switch {
	case m.starved == j:
		return "has waited longest, and no alternative of it has room"
	case m.starved != queue.Nobody:
		return fmt.Sprintf("waits for %q, which has waited too long", m.Job(m.starved).Job().Name)
	}
	p := m.places[j]
	if p.round == 0 || p.round != m.round {
		return "its user is not among those with the least progress"
	}
	return fmt.Sprintf("is matched to %s, position %d from the end among %s",
		m.kinds[p.Kind].name, p.Level, countJobs(p.jobs))
}

func countJobs(n int32) string {
	if n == 1 {
		return "1 job"
	}
	return fmt.Sprintf("%d jobs", n)
}

// Admit repeats the matching, and starts the jobs in first positions on free machines, until no more job starts.
func (m *matcher) Admit(v scheduler.View, h scheduler.Actions) error {
	m.View, m.Actions = v, h
	if err := m.startStarved(); err != nil || m.starved != queue.Nobody {
		return err
	}
	for v.Waiting().Len() > 0 {
		started, err := m.matchUsers()
		if err != nil || !started {
			return err
		}
	}
	return nil
}

// startStarved starts the jobs that have waited longer than the limit, in the order of arrival, until one has no room.
func (m *matcher) startStarved() error {
	m.starved = queue.Nobody
	limit := m.Policy.Settings.Duration("starvation")
	all := m.Waiting()
	for j := all.Peek(queue.Front, queue.Anyone); limit > 0 && j != queue.Nobody; j = all.Peek(queue.Front, queue.Anyone) {
		view := m.Job(j)
		if m.Now()-view.Times().Since <= limit {
			return nil // later jobs have not waited longer
		}
		choices := slices.Clone(view.Choices())
		slices.SortStableFunc(choices, func(a, b int32) int {
			unknown := int64(math.MaxInt64)
			return cmp.Compare(m.timeOf(j, a, unknown), m.timeOf(j, b, unknown))
		})
		cores, nodes, ok := int32(0), []int32(nil), false
		for i := 0; !ok && i < len(choices); i++ {
			m.Choose(j, choices[i])
			cores, nodes, ok = allot(view)
		}
		if !ok {
			m.starved = j
			return nil
		}
		if err := m.Start(j, cores, nodes, "has waited longer than "+limit.String()); err != nil {
			return err
		}
	}
	return nil
}

// matchUsers matches the jobs of the users with the least progress. If none of their jobs starts, it doubles the number
// of users until all take part. Fairness alone thus leaves no machine idle.
func (m *matcher) matchUsers() (started bool, err error) {
	users, waiting := m.byProgress()
	n := int(math.Ceil(m.Policy.Settings.Number("alpha")*float64(len(users)) - 1e-9))
	for n = max(n, 1); ; n = min(2*n, len(users)) {
		chosen := map[int32]bool{}
		for _, u := range users[:n] {
			chosen[u] = true
		}
		jobs := slices.DeleteFunc(slices.Clone(waiting), func(j int32) bool { return !chosen[m.Owner[j]] })
		started, err = m.match(jobs)
		if started || err != nil || n == len(users) {
			return started, err
		}
	}
}

// byProgress returns the users with waiting jobs, least progress first, and the waiting jobs in the order of arrival.
func (m *matcher) byProgress() (users, waiting []int32) {
	attained := map[int32]int64{}
	all := m.Waiting()
	for j := all.Peek(queue.Front, queue.Anyone); j != queue.Nobody; j = all.Peek(all.KeyOf(j), queue.Anyone) {
		waiting = append(waiting, j)
		u := m.Owner[j]
		if _, ok := attained[u]; !ok {
			attained[u] = m.Attained[u]
			users = append(users, u)
		}
	}
	for _, j := range m.Running().All() { // add the service since the last update
		if u := m.Owner[j]; waits(attained, u) {
			attained[u] += int64(m.progress(m.Now()-m.Job(j).Times().Since, m.Job(j).Held()))
		}
	}
	slices.SortFunc(users, func(a, b int32) int {
		return cmp.Or(cmp.Compare(attained[a], attained[b]), cmp.Compare(a, b))
	})
	return users, waiting
}

func waits(attained map[int32]int64, user int32) bool { _, ok := attained[user]; return ok }

// match matches jobs to positions, and starts the jobs in first positions on free machines.
func (m *matcher) match(jobs []int32) (started bool, err error) {
	candidates := m.candidates(jobs)
	if !m.machines() {
		return false, nil
	}
	p := Assignment{Times: make([][]int64, len(jobs))}
	for c := range m.kinds {
		p.Free = append(p.Free, m.kinds[c].free)
	}
	flat := make([]int64, len(jobs)*len(p.Free))
	unknown := m.unknownTime(jobs)
	for i, j := range jobs {
		p.Times[i] = flat[i*len(p.Free) : (i+1)*len(p.Free)]
		for c, alternative := range candidates[i].alternatives {
			p.Times[i][c] = -1
			if alternative >= 0 {
				p.Times[i][c] = m.timeOf(j, alternative, unknown)
			}
		}
	}
	places := SolveAssignment(p)
	of := make([]int32, len(p.Free))
	for _, at := range places {
		of[at.Kind]++
	}
	m.round++
	for i, j := range jobs {
		m.places[j] = matchedTo{places[i], of[places[i].Kind], m.round}
	}
	for c := range m.kinds {
		some, err := m.startFirsts(c, candidates, places)
		if err != nil {
			return started, err
		}
		started = started || some
	}
	return started, nil
}

// startFirsts starts the first jobs on the free machines of a kind. On a machine with n matched jobs, the first job is
// the n-th from the end. If several jobs have the same position, earlier arrivals start first. It ends at a job without
// room, which keeps the remaining room free for that job.
func (m *matcher) startFirsts(
	kind int, candidates []candidate, places []AssignmentPosition,
) (started bool, err error) {
	levels := map[int][]int32{}
	top := 0
	for i, at := range places {
		if at.Kind == kind {
			levels[at.Level] = append(levels[at.Level], int32(i))
			top = max(top, at.Level)
		}
	}
	// Machines that are free earlier get more jobs. Therefore machines with fewer jobs follow those with more.
	begun := 0
	for level := top; level > 0; level-- {
		for n := min(len(levels[level]), m.kinds[kind].idle); begun < n; begun++ {
			c := &candidates[levels[level][0]]
			levels[level] = levels[level][1:]
			m.Choose(c.job, c.alternatives[kind])
			cores, nodes, ok := allot(m.Job(c.job))
			if !ok {
				return started, nil
			}
			why := ""
			if m.Recording() {
				why = fmt.Sprintf("first on %s, position %d from the end among %s",
					m.kinds[kind].name, level, countJobs(m.places[c.job].jobs))
			}
			if err := m.Start(c.job, cores, nodes, why); err != nil {
				return started, err
			}
			started = true
		}
	}
	return started, nil
}

// unknownTime returns a run time for jobs without a prediction. It is longer than all predicted run times.
func (m *matcher) unknownTime(jobs []int32) int64 {
	longest := time.Duration(0)
	for _, j := range jobs {
		longest = max(longest, m.Job(j).Job().Predicted)
		for _, a := range m.Job(j).Job().Alternatives() {
			longest = max(longest, a.Predicted)
		}
	}
	return micros(longest) + 1
}

// timeOf returns the predicted run time of a waiting job in microseconds. It is bounded, so that sums over many jobs do
// not overflow an int64.
func (m *matcher) timeOf(j, alternative int32, unknown int64) int64 {
	if predicted := m.Job(j).Job().As(alternative).Predicted; predicted != 0 {
		return micros(predicted)
	}
	return unknown
}

// micros rounds to microseconds, and to two years at most.
func micros(d time.Duration) int64 {
	return min(int64(d.Round(time.Microsecond)/time.Microsecond), 1<<46)
}

// candidates returns the jobs with their requests on each kind of machine. Kinds with GPUs come first, so that jobs
// without GPUs do not take cores that GPU jobs need.
func (m *matcher) candidates(jobs []int32) []candidate {
	m.kinds = m.kinds[:0]
	kindOf := func(gpus int, gpu string) int {
		k := m.Machine().Kind(gpu)
		i := slices.IndexFunc(m.kinds, func(r resource) bool { return r.gpu == (gpus > 0) && r.kind == k })
		if i >= 0 {
			return i
		}
		r := resource{gpu: gpus > 0, kind: k, name: "cpu"}
		if r.gpu {
			r.name = "gpu"
		}
		if gpu != "" {
			r.name += ":" + gpu
		}
		m.kinds = append(m.kinds, r)
		return len(m.kinds) - 1
	}
	type option struct {
		candidate   int
		alternative int32
		kind        int
	}
	var options []option
	for i, j := range jobs {
		job := m.Job(j).Job()
		for _, k := range m.Job(j).Choices() {
			options = append(options, option{i, k, kindOf(job.As(k).GPUs, job.As(k).GPU)})
		}
	}
	// Sort kinds with GPUs first; otherwise keep the order.
	place := make([]int, len(m.kinds))
	order := make([]int, len(m.kinds))
	for c := range order {
		order[c] = c
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case m.kinds[a].gpu && !m.kinds[b].gpu:
			return -1
		case m.kinds[b].gpu && !m.kinds[a].gpu:
			return 1
		}
		return 0
	})
	sorted := make([]resource, len(order))
	for to, from := range order {
		sorted[to], place[from] = m.kinds[from], to
	}
	m.kinds = sorted
	out := make([]candidate, len(jobs))
	alternatives := slices.Repeat([]int32{-1}, len(jobs)*len(sorted))
	for i := range out {
		out[i] = candidate{jobs[i], alternatives[i*len(sorted) : (i+1)*len(sorted)]}
	}
	for _, o := range options {
		c, kind := &out[o.candidate], place[o.kind]
		// If a job has several alternatives of one kind, keep the fastest.
		if old := c.alternatives[kind]; old < 0 || longer(m.Job(c.job).Job(), old, o.alternative) {
			c.alternatives[kind] = o.alternative
		}
	}
	for i := range out {
		for kind, alternative := range out[i].alternatives {
			if alternative >= 0 {
				m.kinds[kind].count++
				m.addRequest(&m.kinds[kind].unit, out[i].job, alternative)
			}
		}
	}
	return out
}

// addRequest adds the request of an alternative on one node to sum.
func (m *matcher) addRequest(sum *cluster.Room, j, alternative int32) {
	job, cores := *m.Job(j).Job(), m.Job(j).Request()
	if int(alternative) < len(job.Alternatives()) {
		job = job.WithAlternative(job.Alternatives()[alternative])
		cores = int32(job.Threads)
	}
	need, _ := job.Needs(cores)
	sum.Add(need)
}

// machines sets the machines of each kind, and reports whether any is free. There is one machine for each running job,
// and one for each mean request that fits into the free resources.
func (m *matcher) machines() (some bool) {
	for c := range m.kinds {
		r := &m.kinds[c]
		half := r.count / 2
		r.unit = cluster.Room{
			Cores: max(int32((int64(r.unit.Cores)+half)/r.count), 1), GPUs: int32((int64(r.unit.GPUs) + half) / r.count),
			Memory: (r.unit.Memory + half) / r.count, Kind: r.kind,
		}
		if r.gpu {
			r.unit.GPUs = max(r.unit.GPUs, 1)
		}
		r.idle = 0
		for _, free := range m.Machine().Free() {
			if free.IsOf(r.unit) {
				r.idle += int(times(free, r.unit))
			}
		}
		r.free = make([]int64, r.idle)
		for _, j := range m.Running().All() {
			if m.runsOn(j, r) {
				r.free = append(r.free, max(micros(m.Job(j).Remaining()), 1))
			}
		}
		slices.Sort(r.free)
		if len(r.free) == 0 { // no job of this kind runs or fits: assume one free machine
			r.free, r.idle = []int64{0}, 1
		}
		some = some || r.idle > 0
	}
	return some
}

// runsOn reports whether a running job holds a machine of this kind.
func (m *matcher) runsOn(j int32, r *resource) bool {
	job := m.Job(j).Job()
	if (job.GPUs > 0) != r.gpu {
		return false
	}
	if len(job.Alternatives()) > 0 {
		need, _ := m.Job(j).Needs(1)
		return need.Kind == r.kind
	}
	return r.kind == 0
}

// longer reports whether the predicted run time of a job is longer with alternative a than with b.
func longer(j *scheduler.Job, a, b int32) bool {
	x, y := j.As(a).Predicted, j.As(b).Predicted
	return y != 0 && (x == 0 || x > y)
}

// times returns how many requests of size unit fit into r.
func times(r, unit cluster.Room) int32 {
	n := r.Cores / unit.Cores
	if unit.GPUs > 0 {
		n = min(n, r.GPUs/unit.GPUs)
	}
	if unit.Memory > 0 {
		n = int32(min(int64(n), r.Memory/unit.Memory))
	}
	return max(n, 0)
}
