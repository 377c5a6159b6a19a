package measure

import (
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/jobtable"
	"github.com/tfexp/tfexp/scheduler/ledger"
)

// Setup describes the cell whose trace is measured.
type Setup struct {
	Cluster scheduler.Cluster
	Jobs    []scheduler.Job
	// Drawn replaces Jobs if it is not nil. Its jobs arrive in the order of their numbers, have one class, user and
	// size, and have no GPUs, deadlines or budgets. Times then replaces Predicted and Alone. To save memory, only
	// open jobs and the jobs after the first open one are kept: Outcome is valid only for them.
	Drawn scheduler.JobPager
	Times func(job int) (predicted, alone time.Duration)
	// Over is called with each drawn job in order, when its Outcome is available for the last time; it may be nil.
	Over  func(job int)
	set   scheduler.JobSet // of the drawn jobs
	timed struct {         // result of Times for one job
		job              int // its number plus one; 0: none
		predicted, alone time.Duration
	}
	// Predicted is the run time of each job on its full request by the fitted estimates, by job number; 0 without an
	// estimate. It is nil if no job has one.
	Predicted []time.Duration
	// PredictedOn is Predicted for jobs with alternatives, by job number and alternative; nil if no job has
	// alternatives.
	PredictedOn [][]time.Duration
	// Alone is the true run time of each job on its full request, by job number, as known in simulation. Slowdowns
	// are relative to it. If it is nil or 0, the estimate is used instead.
	Alone []time.Duration
	// AloneOn returns the true run time of a job in one of its alternatives; nil if unknown.
	AloneOn func(job, alternative int) time.Duration
	// BoundedFloor is the smallest run time in a bounded slowdown; 0 means DefaultBoundedFloor.
	BoundedFloor time.Duration
	// Meter makes the meter of nodes that come and go; nil if the nodes stay.
	Meter func(*Setup) NodeMeter
}

// DefaultBoundedFloor is the usual floor of the bounded slowdown (D. Feitelson, L. Rudolph, "Metrics and Benchmarking
// for Parallel Job Scheduling", JSSPP 1998).
const DefaultBoundedFloor = 10 * time.Second

// Job returns the job with a number.
func (s *Setup) Job(number int) *scheduler.Job {
	if s.Drawn == nil {
		return &s.Jobs[number]
	}
	if s.set.Drawn == nil {
		s.set.Drawn = s.Drawn
	}
	return s.set.At(number)
}

// Len returns the number of jobs of the cell.
func (s *Setup) Len() int {
	if s.Drawn != nil {
		return s.Drawn.Len()
	}
	return len(s.Jobs)
}

// Set returns the jobs of the cell.
func (s *Setup) Set() scheduler.JobSet { return scheduler.JobSet{List: s.Jobs, Drawn: s.Drawn} }

// predicted returns the estimate of a job in the alternative in which it ran.
func (s *Setup) predicted(job, alternative int) time.Duration {
	if s.Times != nil {
		s.time(job)
		return s.timed.predicted
	}
	if job < len(s.PredictedOn) && alternative < len(s.PredictedOn[job]) {
		return s.PredictedOn[job][alternative]
	}
	if job < len(s.Predicted) {
		return s.Predicted[job]
	}
	return 0
}

func (s *Setup) alone(job int, j *scheduler.Job) time.Duration {
	if s.Times != nil {
		if s.time(job); s.timed.alone > 0 {
			return s.timed.alone
		}
	}
	if job < len(s.Alone) && s.Alone[job] > 0 {
		return s.Alone[job]
	}
	least := s.predicted(job, 0)
	for k := range j.Alternatives() {
		if p := s.predicted(job, k); p > 0 && (p < least || least == 0) {
			least = p
		}
	}
	return least
}

// time stores the result of Times for a drawn job.
func (s *Setup) time(job int) {
	if t := &s.timed; t.job != job+1 {
		t.job = job + 1
		t.predicted, t.alone = s.Times(job)
	}
}

// aloneAs returns the true run time of a job in one of its alternatives.
func (s *Setup) aloneAs(job, alternative int) time.Duration {
	if s.AloneOn != nil {
		return s.AloneOn(job, alternative)
	}
	return s.predicted(job, alternative)
}

const never table.Micros = -1

// account is the state of one job with its sums so far.
type account struct {
	ledger.Job // its times are whole microseconds
	service    table.Micros
	coreTime   int64 // core-microseconds held
	gpuTime    int64
	typed      int32 // number of the node whose type of GPU the job has, plus one; 0 without a type
	partial    bool  // it held another number of cores than requested at some time
	waitedAt   byte  // bit k is set if it waited at mark k of the backlog
	stay       float64
}

// Collector turns a trace into the rows of jobs.csv and the metrics of a cell. It implements scheduler.Recorder. It
// stores about a hundred bytes per job and no events, so it can measure a trace of any length. Drawn jobs are dropped
// when they are over and added to the sums.
type Collector struct {
	setup    Setup
	accounts jobtable.Table[account]
	failures []Failure
	jobs     *ledger.Ledger // the number of jobs by state; the jobs themselves are in accounts
	added    *added         // sums over dropped jobs; nil until a job is dropped
	last     table.Micros   // time of the last event
	events   int
	length   int // number of jobs
	capacity struct{ cores, gpus int }
	lastEnd  table.Micros

	preemptions, resizes int
	reconfigurations     int
	migrations           int
	profiling            time.Duration      // time held by samples, in total
	overheads            map[int]float64    // seconds that resizes took, by job number
	finals               map[int]Final      // by job
	money                map[int]ServerCost // cost of servers by job number
	backlog              backlog
	dated                bool // a job has a deadline
	meter                NodeMeter
	lost                 map[int]*toll // by job
	gpus                 *gpus         // nil if no job requests any
	present              presence
}

// Occupancy is a row of occupancy.csv: the resources in use from a time on, and the number of jobs that hold them.
type Occupancy struct {
	At        float64 `csv:"t_s,time"` // seconds
	CoresHeld int     `csv:"cores_held"`
	Running   int     `csv:"running"`
	Queued    int     `csv:"queued"`
	Paused    int     `csv:"paused"`
	// CPU is in percent of one core; Memory is in bytes and in percent of the limit. They are the use of all
	// containers of the cell in the second before. They are NaN in other rows, and without a sample.
	CPU       float64 `csv:"cpu_pct"`
	Memory    float64 `csv:"memory_bytes"`
	MemoryPct float64 `csv:"memory_pct"`
}

// NewCollector returns a Collector for a trace of the jobs of s.
func NewCollector(s Setup) *Collector {
	if s.BoundedFloor <= 0 {
		s.BoundedFloor = DefaultBoundedFloor
	}
	c := &Collector{
		setup: s, jobs: ledger.New(0), lastEnd: never, backlog: newBacklog(&s), gpus: newGPUs(&s),
		present: newPresence(s.Cluster),
	}
	if s.Meter != nil {
		c.meter = s.Meter(&c.setup)
	}
	c.length = s.Len()
	c.capacity.cores, c.capacity.gpus = capacity(s.Cluster)
	c.jobs.Expect(c.length)
	begin, over := account{Job: ledger.NewJob()}, account{Job: ledger.NewJob()}
	ledger.New(1).Apply(&over.Job, &scheduler.Event{Kind: scheduler.Finish}, 0)
	c.accounts = jobtable.New(s.Len(), func(_ int32, a *account) { *a = begin }, over)
	if s.Drawn != nil {
		c.added = newAdded(c, c.length)
		c.accounts.InOrder(func(job int32, a *account) { c.add(c.lifeOf(int(job), a)) })
	}
	for job := range s.Jobs {
		if _, c.dated = c.due(job); c.dated {
			break
		}
	}
	return c
}

// Decision implements scheduler.Recorder; decisions are not measured.
func (c *Collector) Decision(*scheduler.Decision) {}

// Event implements scheduler.Recorder. It ignores events of unknown jobs and of jobs that have ended, which the
// validator reports.
func (c *Collector) Event(e *scheduler.Event) {
	if e.Kind.OfNode() {
		if c.meter != nil {
			c.meter.Event(e)
		}
		return
	}
	if e.Job < 0 || e.Job >= c.length {
		return
	}
	a := c.accounts.Look(int32(e.Job))
	if a == nil {
		a = c.account(e.Job)
	}
	if a.Over() {
		return
	}
	c.events++
	if e.Attempt != nil || c.meter != nil {
		c.lose(e)
	}
	at := table.ToMicros(e.At)
	c.last = at
	if b := &c.backlog; b.next < len(b.marks) && b.marks[b.next].at < at {
		c.passes(at)
	}
	ran, arrived := a.Runs(), a.State() != scheduler.Pending
	step := c.jobs.Apply(&a.Job, e, at.Duration())
	if step.Ended {
		a.add(step)
	}
	if c.gpus != nil && (step.Began || step.Ended || a.Over()) { // a job that ended before it ran also ends a span
		now := held{}
		if step.Began {
			now = held{e.Cores, e.GPUs}
		}
		c.gpus.change(e.Job, now, at)
	}
	switch e.Kind {
	case scheduler.Arrive:
		c.present.arrives(&a.stay, at)
	case scheduler.Start, scheduler.Resume:
		if e.Migrated {
			c.migrations++
		}
		a.typed = c.setup.typedNode(e.GPUs)
		a.partial = a.partial || int(a.Cores) != c.setup.threads(e.Job, e.Alternative)
	case scheduler.ResizeJob:
		a.partial = a.partial || int(a.Cores) != c.setup.threads(e.Job, e.Alternative)
		c.resizes++
	case scheduler.Pause:
		c.preemptions++
	case scheduler.Reconfigure:
		a.partial = true // the estimate is for the first settings
		if ran {
			c.reconfigurations++
		}
	case scheduler.Profiled:
		c.profiling += step.Held
		a.partial = true
	case scheduler.Retry, scheduler.Revoke, scheduler.Move:
		a.partial = true // its service time is the sum of several attempts
	case scheduler.Finish, scheduler.Fail, scheduler.Stop:
		if e.Kind == scheduler.Stop && !ran {
			c.backlog.cutOff++
		}
		c.lastEnd = max(c.lastEnd, at)
		if arrived {
			c.present.ends(&a.stay, at)
		}
		if e.Kind != scheduler.Finish {
			c.fail(e, at, &a.Job)
		}
		if c.setup.Drawn != nil {
			c.accounts.Over(int32(e.Job))
		}
	}
}

// account returns the account of a job.
func (c *Collector) account(job int) *account { return c.accounts.At(int32(job)) }

// fail records a job that ended without finishing.
func (c *Collector) fail(e *scheduler.Event, at table.Micros, j *ledger.Job) {
	if len(c.failures) == MaxFailures {
		return
	}
	reason := e.Reason
	if reason == "" {
		reason = j.State().String()
	}
	c.failures = append(c.failures, Failure{Job: c.setup.Job(e.Job).Name, At: at.Seconds(), Reason: reason})
}

// add adds a span of time in which the job held resources.
func (a *account) add(s ledger.Step) {
	span := int64(s.Held / time.Microsecond)
	a.service += table.Micros(span)
	a.coreTime = plus(a.coreTime, times(span, int64(s.Cores)))
	a.gpuTime = plus(a.gpuTime, times(span, int64(s.GPUs)))
}

// Counts returns how many jobs are in each state after the last event.
func (c *Collector) Counts() ledger.Counts { return c.jobs.Counts() }

// Held returns how many cores and GPUs are held after the last event. A GPU that two jobs share counts once.
func (c *Collector) Held() (cores, gpus int) {
	cores, gpus = c.jobs.Held()
	if c.gpus != nil {
		gpus -= c.gpus.shared
	}
	return cores, gpus
}

// Last returns the time of the last event.
func (c *Collector) Last() table.Micros { return c.last }

// Occupancy returns the resources in use after the last event.
func (c *Collector) Occupancy() Occupancy {
	n := c.jobs.Counts()
	cores, _ := c.jobs.Held()
	return Occupancy{At: c.last.Seconds(), CoresHeld: cores, Running: n.Running, Queued: n.Queued, Paused: n.Paused,
		CPU: math.NaN(), Memory: math.NaN(), MemoryPct: math.NaN()}
}

// Failures returns the first MaxFailures jobs that ended without finishing.
func (c *Collector) Failures() []Failure { return slices.Clone(c.failures) }

// Outcome returns the outcome of a job, by its number.
func (c *Collector) Outcome(job int) Outcome {
	a := c.account(job)
	l := c.lifeOf(job, a)
	j, state, arrival := l.job, &a.Job, l.arrival
	r := Outcome{
		Job: j.Name, Class: j.Class, User: j.User,
		JobTimes: JobTimes{Arrival: arrival.Seconds(), FirstStart: -1, Finish: -1, FirstRunDelay: -1, JCT: -1},
		Slowdown: math.NaN(), BoundedSlowdown: math.NaN(), ThreadsMean: math.NaN(),
		ThreadsRequested: j.Threads, GPUs: j.GPUs,
		Preemptions: int(state.Pauses), Resizes: int(state.Resizes), Restarts: int(state.Retries), State: state.State().String(),
		Predicted: -1, PredictionErrorPct: math.NaN(), ResizeOverhead: -1,
	}
	c.addLosses(job, &r)
	final := c.final(job)
	r.FinalAccuracy, r.FinalLoss, r.ServerCost = final.Accuracy, final.Loss, c.paid(job)
	r.Lateness = c.lateness(job)
	if s, ok := c.overheads[job]; ok {
		r.ResizeOverhead = s
	}
	if len(j.Alternatives()) > 0 {
		r.ThreadsRequested, r.GPUs = j.Alternatives()[state.Alternative].Threads, j.Alternatives()[state.Alternative].GPUs
	}
	if state.FirstStart != scheduler.Never {
		first := table.ToMicros(state.FirstStart)
		r.FirstStart = first.Seconds()
		r.FirstRunDelay = (first - arrival).Seconds()
		r.Resource = c.resource(job, a)
	}
	until, service := c.last, a.service
	if state.Over() {
		until = l.end
		r.Finish, r.JCT = until.Seconds(), (until - arrival).Seconds()
	} else if state.Runs() {
		service += c.last - table.ToMicros(state.Since)
	}
	r.Service = service.Seconds()
	r.Budget, r.BudgetUsed, r.Scoring = math.NaN(), math.NaN(), math.NaN()
	if j.Budget() != nil {
		r.Budget = j.Budget().Seconds()
		r.BudgetUsed = min(r.Budget, r.Service)
		r.Scoring = r.Service - r.BudgetUsed
	}
	r.Waiting = max(0, until-arrival-service).Seconds()
	if a.service > 0 {
		r.ThreadsMean = float64(a.coreTime) / float64(a.service)
	}
	if p := c.setup.predicted(job, int(state.Alternative)); p > 0 {
		r.Predicted = table.ToMicros(p).Seconds()
	}
	r.FinishTime = c.finishTime(&l)
	if state.State() == scheduler.Finished {
		r.Slowdown, r.BoundedSlowdown = slowdowns(l.jct(), l.alone, c.setup.BoundedFloor)
		if r.Predicted > 0 && !a.partial && r.Service > 0 {
			r.PredictionErrorPct = 100 * (r.Predicted - r.Service) / r.Service
		}
	}
	return r
}

// SetResizeOverhead sets the time in seconds in which a job's program did not train because its threads changed.
// Events do not contain it.
func (c *Collector) SetResizeOverhead(job int, seconds float64) {
	if c.overheads == nil {
		c.overheads = map[int]float64{}
	}
	c.overheads[job] = seconds
}

// LeastAlone is the smallest run time alone of a job with a slowdown: for a job of almost no length, the slowdown
// could be any number.
const LeastAlone = time.Millisecond

// slowdowns returns the slowdown and the bounded slowdown of a finished job. completion is its completion time, alone
// its run time alone, and floor the smallest run time in a bounded slowdown. They are NaN if alone is unknown; the
// slowdown also if it is below LeastAlone.
func slowdowns(completion table.Micros, alone, floor time.Duration) (plain, bounded float64) {
	if alone <= 0 {
		return math.NaN(), math.NaN()
	}
	jct := completion.Seconds()
	if plain = jct / alone.Seconds(); alone < LeastAlone {
		plain = math.NaN()
	}
	return plain, max(1, jct/max(alone, floor).Seconds())
}

// NoLength returns the number of finished jobs that are too short for a slowdown.
func (c *Collector) NoLength() int {
	return c.addAll().short
}

// capacity returns the number of cores and GPUs of a cluster.
func capacity(c scheduler.Cluster) (cores, gpus int) {
	for _, n := range c.Nodes {
		cores += n.Threads
		gpus += n.GPUs
	}
	return cores, gpus
}

// MaxFailures is the largest number of failures listed in cell.json.
const MaxFailures = 20

// Failure is a job that did not finish.
type Failure struct {
	Job    string  `json:"job"`
	At     float64 `json:"t_s"` // seconds from the cell's start
	Reason string  `json:"reason"`
}
