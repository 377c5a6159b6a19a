package scheduler

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler/matching"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// matcher is the state of the order allox.
type matcher struct {
	cores, gpus int         // of the cluster
	kinds       []resource  // of the last matching
	round       int32       // counts matchings, from 1
	places      []matchedTo // by job
}

// matchedTo is where a matching put a job.
type matchedTo struct {
	matching.Position
	jobs  int32 // that were matched to the kind, in all
	round int32 // which matching
}

// resource is a kind of machines: GPUs of one type, or cores.
type resource struct {
	name string
	gpu  bool
	kind int32 // of GPU
	// unit is the request of the mean size: as many as fit beside each other
	// are the machines.
	unit  room
	count int64
	free  []int64 // microseconds after which each machine is free, ascending
	idle  int     // of them, those that are free now
}

// candidate is a job that takes part in a matching.
type candidate struct {
	job  int32
	ways []int32 // by kind, the alternative; -1 for none
}

func newMatcher(jobs int, c Cluster) matcher {
	m := matcher{places: make([]matchedTo, jobs)}
	for _, n := range c.Nodes {
		m.cores += n.Threads
		m.gpus += n.GPUs
	}
	return m
}

// progress is what a user attains while a job runs: the time in which it holds
// the whole cluster, by the resource of which the job holds the greater part.
func (m *matcher) progress(d time.Duration, g Grant) time.Duration {
	part := float64(g.Cores.Count()) / float64(m.cores)
	if m.gpus > 0 {
		part = max(part, float64(g.GPUs.Count())/float64(m.gpus))
	}
	return time.Duration(math.Round(float64(d) * part))
}

// why says why a waiting job does not start.
func (m *matcher) why(j int32) string {
	p := m.places[j]
	if p.round == 0 || p.round != m.round {
		return "its user is not among those with the least progress"
	}
	return fmt.Sprintf("is matched to %s, position %d from the end among %s", m.kinds[p.Kind].name, p.Level, countJobs(p.jobs))
}

func countJobs(n int32) string {
	if n == 1 {
		return "1 job"
	}
	return fmt.Sprintf("%d jobs", n)
}

// admitMatched starts the jobs that a matching puts first on machines that are
// free, until it puts nobody there.
func (l *loop) admitMatched() error {
	for l.queue.Len() > 0 {
		started, err := l.matchUsers()
		if err != nil || !started {
			return err
		}
	}
	return nil
}

// matchUsers matches the jobs of the users with the least progress. When it
// starts none of them, twice as many users take part, until all do: nothing is
// left free for the sake of fairness alone.
func (l *loop) matchUsers() (started bool, err error) {
	users, waiting := l.byProgress()
	n := int(math.Ceil(l.p.Alpha*float64(len(users)) - 1e-9))
	for n = max(n, 1); ; n = min(2*n, len(users)) {
		chosen := map[int32]bool{}
		for _, u := range users[:n] {
			chosen[u] = true
		}
		jobs := slices.DeleteFunc(slices.Clone(waiting), func(j int32) bool { return !chosen[l.fair.owner[j]] })
		started, err = l.match(jobs)
		if started || err != nil || n == len(users) {
			return started, err
		}
	}
}

// byProgress returns the users with waiting jobs, least progress first, and
// the waiting jobs in the order of their arrivals.
func (l *loop) byProgress() (users, waiting []int32) {
	attained := map[int32]int64{}
	for j := l.queue.Next(queue.Front, queue.Anyone); j != nobody; j = l.queue.Next(l.queue.KeyOf(j), queue.Anyone) {
		waiting = append(waiting, j)
		u := l.fair.owner[j]
		if _, ok := attained[u]; !ok {
			attained[u] = l.fair.attained[u]
			users = append(users, u)
		}
	}
	for _, j := range l.running { // and what they have had since it was last added up
		if u := l.fair.owner[j]; waits(attained, u) {
			attained[u] += int64(l.allox.progress(l.now-l.lives[j].since, l.lives[j].grant))
		}
	}
	slices.SortFunc(users, func(a, b int32) int {
		return cmp.Or(cmp.Compare(attained[a], attained[b]), cmp.Compare(a, b))
	})
	return users, waiting
}

func waits(attained map[int32]int64, user int32) bool { _, ok := attained[user]; return ok }

// match matches jobs and starts those that come first on free machines.
func (l *loop) match(jobs []int32) (started bool, err error) {
	candidates := l.candidates(jobs)
	if !l.machines() {
		return false, nil
	}
	p := matching.Problem{Times: make([][]int64, len(jobs))}
	for c := range l.allox.kinds {
		p.Free = append(p.Free, l.allox.kinds[c].free)
	}
	flat := make([]int64, len(jobs)*len(p.Free))
	unknown := l.unknownTime(jobs)
	for i, j := range jobs {
		p.Times[i] = flat[i*len(p.Free) : (i+1)*len(p.Free)]
		for c, way := range candidates[i].ways {
			p.Times[i][c] = -1
			if way >= 0 {
				p.Times[i][c] = l.timeOf(j, way, unknown)
			}
		}
	}
	places := matching.Solve(p)
	of := make([]int32, len(p.Free))
	for _, at := range places {
		of[at.Kind]++
	}
	l.allox.round++
	for i, j := range jobs {
		l.allox.places[j] = matchedTo{places[i], of[places[i].Kind], l.allox.round}
	}
	for c := range l.allox.kinds {
		some, err := l.startFirsts(c, candidates, places)
		if err != nil {
			return started, err
		}
		started = started || some
	}
	return started, nil
}

// startFirsts starts the jobs that come first on the free machines of a kind. A
// machine that is matched to n jobs begins with the one whose position is the
// n-th from the end; of several jobs in one position, the earlier arrivals
// begin. The first that has no room yet ends this, so that it will have it.
func (l *loop) startFirsts(kind int, candidates []candidate, places []matching.Position) (started bool, err error) {
	levels := map[int][]int32{}
	top := 0
	for i, at := range places {
		if at.Kind == kind {
			levels[at.Level] = append(levels[at.Level], int32(i))
			top = max(top, at.Level)
		}
	}
	// Machines that are free earlier are matched to more jobs, so those that
	// begin with a level are the ones beyond those of all higher levels.
	begun := 0
	for level := top; level > 0; level-- {
		for n := min(len(levels[level]), l.allox.kinds[kind].idle); begun < n; begun++ {
			c := &candidates[levels[level][0]]
			levels[level] = levels[level][1:]
			if way := c.ways[kind]; way < int32(len(l.Jobs[c.job].Alternatives)) {
				l.adopt(c.job, way)
			}
			cores, nodes, ok := l.allot(c.job)
			if !ok {
				return started, nil
			}
			why := ""
			if l.recording() {
				why = fmt.Sprintf("first on %s, position %d from the end among %s", l.allox.kinds[kind].name, level, countJobs(l.allox.places[c.job].jobs))
			}
			if err := l.start(c.job, cores, nodes, why); err != nil {
				return started, err
			}
			started = true
		}
	}
	return started, nil
}

// unknownTime stands for run times that are not predicted: longer than all that are.
func (l *loop) unknownTime(jobs []int32) int64 {
	longest := time.Duration(0)
	for _, j := range jobs {
		longest = max(longest, l.Jobs[j].Predicted)
		for _, a := range l.Jobs[j].Alternatives {
			longest = max(longest, a.Predicted)
		}
	}
	return micros(longest) + 1
}

// timeOf is the predicted run time of a waiting job, in microseconds, such that
// sums over many jobs stay within 64 bits.
func (l *loop) timeOf(j, way int32, unknown int64) int64 {
	if predicted := l.Jobs[j].way(way).Predicted; predicted != 0 {
		return micros(predicted)
	}
	return unknown
}

// micros rounds to microseconds, at most two years.
func micros(d time.Duration) int64 {
	return min(int64(d.Round(time.Microsecond)/time.Microsecond), 1<<46)
}

// candidates finds out on which kinds of resource jobs can run, and how much
// they ask for there. Kinds with GPUs come first: jobs on cores alone are not
// to take from them what they need beside the GPU.
func (l *loop) candidates(jobs []int32) []candidate {
	m := &l.allox
	m.kinds = m.kinds[:0]
	kindOf := func(gpus int, gpu string) int {
		k := l.machine.kindOf(gpu)
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
		candidate int
		way       int32
		kind      int
	}
	var options []option
	for i, j := range jobs {
		job := &l.Jobs[j]
		if len(job.Alternatives) == 0 {
			options = append(options, option{i, 0, kindOf(job.GPUs, "")})
		}
		for _, k := range l.choices(j) {
			options = append(options, option{i, k, kindOf(job.Alternatives[k].GPUs, job.Alternatives[k].GPU)})
		}
	}
	// GPUs first, then in the order in which they were found.
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
	ways := slices.Repeat([]int32{-1}, len(jobs)*len(sorted))
	for i := range out {
		out[i] = candidate{jobs[i], ways[i*len(sorted) : (i+1)*len(sorted)]}
	}
	for _, o := range options {
		c, kind := &out[o.candidate], place[o.kind]
		if old := c.ways[kind]; old < 0 || l.longer(c.job, old, o.way) { // of several, the fastest
			c.ways[kind] = o.way
		}
	}
	for i := range out {
		for kind, way := range out[i].ways {
			if way >= 0 {
				m.kinds[kind].count++
				l.addRequest(&m.kinds[kind].unit, out[i].job, way)
			}
		}
	}
	return out
}

// addRequest adds what a job asks for in one of its ways, of one node.
func (l *loop) addRequest(sum *room, j, way int32) {
	job, cores := l.Jobs[j], l.lives[j].request
	if int(way) < len(job.Alternatives) {
		job = job.withAlternative(job.Alternatives[way])
		cores = int32(job.Threads)
	}
	need, _ := job.needs(cores)
	sum.add(need)
}

// machines finds out what machines each kind has, and tells whether any of them
// is free: one for each running job, and one for each request of the mean size
// that fits beside them.
func (l *loop) machines() (some bool) {
	for c := range l.allox.kinds {
		r := &l.allox.kinds[c]
		half := r.count / 2
		r.unit = room{
			cores: max(int32((int64(r.unit.cores)+half)/r.count), 1), gpus: int32((int64(r.unit.gpus) + half) / r.count),
			memory: (r.unit.memory + half) / r.count, kind: r.kind,
		}
		if r.gpu {
			r.unit.gpus = max(r.unit.gpus, 1)
		}
		r.idle = 0
		for _, free := range l.machine.free {
			if free.isOf(r.unit) {
				r.idle += int(free.times(r.unit))
			}
		}
		r.free = make([]int64, r.idle)
		for _, j := range l.running {
			if l.runsOn(j, r) {
				r.free = append(r.free, max(micros(l.remaining(j)), 1))
			}
		}
		slices.Sort(r.free)
		if len(r.free) == 0 { // nothing like it runs or fits: what there is will be free in the end
			r.free, r.idle = []int64{0}, 1
		}
		some = some || r.idle > 0
	}
	return some
}

// runsOn tells whether a running job holds a machine of a kind.
func (l *loop) runsOn(j int32, r *resource) bool {
	if (l.Jobs[j].GPUs > 0) != r.gpu {
		return false
	}
	if as := l.Jobs[j].Alternatives; len(as) > 0 {
		return l.ways.kinds[j] == r.kind
	}
	return r.kind == 0
}

// times returns how many like requests fit beside each other.
func (r room) times(unit room) int32 {
	n := r.cores / unit.cores
	if unit.gpus > 0 {
		n = min(n, r.gpus/unit.gpus)
	}
	if unit.memory > 0 {
		n = int32(min(int64(n), r.memory/unit.memory))
	}
	return max(n, 0)
}
