package forecast

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages/batch"
)

// drawing has the inputs from which the futures of a queue are drawn.
type drawing struct {
	*Twin
	queue   *Queue
	past    *past
	asked   []int // indexes of jobs in the queue
	horizon time.Duration
	seed    int64
}

// futures simulates a queue n times. It returns how long each asked job waits from now on; Never means longer than the
// horizon.
func (d *drawing) futures(ctx context.Context, n int, progress Progress) ([][]time.Duration, error) {
	waits := make([][]time.Duration, len(d.asked))
	for i := range waits {
		waits[i] = make([]time.Duration, n)
	}
	var done sync.Mutex
	ended, part := 0, time.Duration(64)
	one := func(ctx context.Context, f int) (needed time.Duration, err error) {
		list, needed, err := d.future(ctx, f, part)
		for i := range list {
			waits[i][f] = list[i]
		}
		if progress != nil {
			done.Lock()
			ended++
			progress("futures", ended, n)
			done.Unlock()
		}
		return needed, err
	}
	part, err := one(ctx, 0) // the span that the first future needs is the first try of the others
	if err != nil {
		return nil, err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for f := 1; f < n; f++ {
		g.Go(func() error {
			_, err := one(ctx, f)
			return err
		})
	}
	return waits, g.Wait()
}

// future simulates one future, over a part of the horizon. If an asked job does not start, the simulation is repeated
// with a longer span and the same draws: most futures need only the next arrivals. needed is the part that was enough.
func (d *drawing) future(ctx context.Context, n int, part time.Duration) (
	waits []time.Duration, needed time.Duration, err error,
) {
	for needed = part; ; needed /= 4 {
		draws := workload.Stream(d.seed, "future", strconv.Itoa(n))
		until := d.queue.At + d.horizon/needed
		runs := make([]time.Duration, len(d.queue.Jobs))
		for i := range d.queue.Jobs {
			j := &d.queue.Jobs[i]
			ran := time.Duration(0)
			if !j.Waits() {
				ran = max(d.queue.At-j.Start, 0)
			}
			runs[i] = d.past.draw(&j.Job, ran, draws)
		}
		jobs, more := d.past.arrivals(until, rand.New(rand.NewPCG(draws.Uint64(), draws.Uint64())))
		waits, err = d.simulate(ctx, d.seed+int64(n), runs, jobs, more, until)
		if err != nil || needed == 1 || !slices.Contains(waits, scheduler.Never) {
			return waits, needed, err
		}
	}
}

// requested simulates the future in which every job uses its whole requested time, and no job arrives.
func (d *drawing) requested(ctx context.Context) ([]time.Duration, error) {
	runs := make([]time.Duration, len(d.queue.Jobs))
	for i := range d.queue.Jobs {
		j := &d.queue.Jobs[i]
		runs[i] = max(j.Predicted, time.Second)
		if !j.Waits() {
			runs[i] = max(runs[i], d.queue.At-j.Start+time.Second)
		}
	}
	return d.simulate(ctx, d.seed, runs, nil, nil, d.queue.At+d.horizon)
}

// simulate runs the jobs of the queue, and later arrivals, by the rules of the cluster. The rules may draw random
// numbers by the seed.
func (d *drawing) simulate(ctx context.Context, seed int64, runs []time.Duration, later []scheduler.Job,
	more []time.Duration, until time.Duration) ([]time.Duration, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	base := d.queue.At // instant at which the clock of the run is 0
	for i := range d.queue.Jobs {
		base = min(base, d.queue.Jobs[i].Arrival)
	}
	w := &watch{now: d.queue.At - base, of: map[int]int{}, waits: make([]time.Duration, len(d.asked)), done: cancel}
	for i, k := range d.asked {
		w.of[k], w.waits[i] = i, scheduler.Never
	}
	jobs := make([]scheduler.Job, 0, len(d.queue.Jobs)+len(later))
	work := make([]simulated.Scaling, 0, cap(jobs))
	names := map[string][]string{} // names of jobs, and of the elements of arrays
	for i := range d.queue.Jobs {
		j := &d.queue.Jobs[i]
		names[j.Name] = append(names[j.Name], j.Name)
		if s := j.Submission(); s != nil && s.Array != "" && s.Array != j.Name {
			names[s.Array] = append(names[s.Array], j.Name)
		}
	}
	add := func(j scheduler.Job, run time.Duration) {
		j.Number, j.Arrival, j.Divided = len(jobs), j.Arrival-base, d.divides && j.Divisible()
		resubmit(&j, func(s *scheduler.Submission) {
			s.Begin = max(s.Begin-base, 0)
			after := s.After
			s.After = nil
			for _, name := range after { // jobs that are not in the queue have ended
				s.After = append(s.After, names[name]...)
			}
		})
		jobs, work = append(jobs, j), append(work, simulated.Scaling{Scaled: run, Threads: j.Threads})
	}
	s := script{now: w.now, tried: -1, from: make([]time.Duration, len(d.queue.Jobs))}
	for i := range d.queue.Jobs {
		q := &d.queue.Jobs[i]
		if add(q.Job, runs[i]); !q.Waits() {
			s.running = append(s.running, int32(i))
			s.from[i] = max(min(q.Start, d.queue.At)-base, jobs[i].Arrival)
		}
	}
	slices.SortStableFunc(s.running, func(a, b int32) int { return int(max(min(s.from[a]-s.from[b], 1), -1)) })
	for i := range later {
		later[i].Name = "~" + strconv.Itoa(i)
		resubmit(&later[i], func(s *scheduler.Submission) { s.Begin, s.After = 0, nil })
		add(later[i], more[i])
	}
	engine, err := simulated.New(jobs, work, simulated.Options{Overheads: d.overheads})
	if err != nil {
		return nil, err
	}
	_, err = scheduler.Run{
		Policy: &resumed{Policy: d.policy, script: s, past: d.Twin.past, ahead: -base}, Cluster: d.cluster, Jobs: jobs, Seed: seed,
		Engine: engine, Recorder: w, EventsOnly: true, Streamed: true, Until: until - base,
	}.Execute(ctx)
	if w.left() && err != nil && !errors.Is(err, scheduler.ErrStuck) {
		return nil, err
	}
	return w.waits, nil
}

// watch records when the asked jobs start, and ends the run after the last of these starts.
type watch struct {
	now   time.Duration
	of    map[int]int
	waits []time.Duration
	done  func()
}

// Event implements scheduler.Recorder.
func (w *watch) Event(e *scheduler.Event) {
	if e.Kind != scheduler.Start || e.At < w.now {
		return
	}
	if i, ok := w.of[e.Job]; ok && w.waits[i] == scheduler.Never {
		if w.waits[i] = e.At - w.now; !w.left() {
			w.done()
		}
	}
}

// Decision implements scheduler.Recorder.
func (w *watch) Decision(*scheduler.Decision) {}

func (w *watch) left() bool { return slices.Contains(w.waits, scheduler.Never) }

// resumed is a policy that takes over a cluster at an instant, with the jobs that run then.
type resumed struct {
	policy.Policy
	script
	past  *batch.Priorities // usage up to now; nil if priorities do not depend on usage
	ahead time.Duration     // difference between the log's clock and the run's clock
}

// Rules implements scheduler.SchedulingPolicy.
func (p *resumed) Rules(r scheduler.Run) (scheduler.PolicyRules, error) {
	rules, err := p.Policy.Rules(r)
	if err != nil {
		return rules, err
	}
	if order, ok := rules.Order.(*batch.Priorities); ok && p.past != nil {
		order.Resume(p.past, p.ahead)
	}
	s := p.script
	s.Admitter, s.always = rules.Admission, rules.AlwaysConsult
	s.waker, _ = rules.Admission.(scheduler.TimedPolicy)
	s.waiter, _ = rules.Admission.(scheduler.QueueObserver)
	rules.Admission, rules.AlwaysConsult = &s, true
	return rules, nil
}

// script starts the running jobs when they started in the past. After that, the policy decides.
type script struct {
	scheduler.Admitter
	waker   scheduler.TimedPolicy
	waiter  scheduler.QueueObserver
	always  bool // whether the policy is also asked when no job waits
	now     time.Duration
	running []int32 // indexes of running jobs, by their start
	from    []time.Duration
	over    bool
	woken   bool
	tried   time.Duration // instant of the last attempt to start running jobs
}

// occupier is an admission that places a running job by its own rules.
type occupier interface {
	Occupy(v scheduler.View, h scheduler.Actions, job int32) (bool, error)
}

// Admit implements scheduler.Admitter.
func (s *script) Admit(v scheduler.View, h scheduler.Actions) error {
	s.woken = false
	if !s.over {
		if err := s.occupy(v, h); err != nil || v.Now() < s.now {
			return err
		}
		s.over = true
		for _, job := range s.running { // these jobs do not fit: the queue uses more than the cluster has
			if err := h.(scheduler.ClusterActions).Cancel(job, "there was no room for it"); err != nil {
				return err
			}
		}
	}
	if !s.always && v.Waiting().Len() == 0 {
		return nil
	}
	return s.Admitter.Admit(v, h)
}

// occupy starts the running jobs that have started by now.
func (s *script) occupy(v scheduler.View, h scheduler.Actions) (err error) {
	s.tried = v.Now()
	own, asks := s.Admitter.(occupier)
	s.running = slices.DeleteFunc(slices.Clone(s.running), func(job int32) bool {
		if err != nil || s.from[job] > v.Now() || v.Job(job).State() != scheduler.Queued {
			return false
		}
		started := false
		if asks {
			started, err = own.Occupy(v, h, job)
			return started
		}
		cores := v.Job(job).Request()
		nodes, fits := v.Job(job).Fits(cores)
		if fits {
			err = h.Start(job, cores, nodes, "it runs already")
		}
		return fits
	})
	return err
}

// NextWakeup implements scheduler.TimedPolicy.
func (s *script) NextWakeup() time.Duration {
	switch {
	case s.over && s.waker != nil:
		return s.waker.NextWakeup()
	case s.over || s.woken:
		return scheduler.Never
	}
	for _, job := range s.running {
		if from := s.from[job]; from > s.tried {
			return min(from, s.now)
		}
	}
	return s.now
}

// OnWakeup implements scheduler.TimedPolicy.
func (s *script) OnWakeup() {
	if s.woken = true; s.over && s.waker != nil {
		s.waker.OnWakeup()
	}
}

// Waits implements scheduler.QueueObserver.
func (s *script) Waits(job int32) {
	if s.waiter != nil {
		s.waiter.Waits(job)
	}
}

// seconds converts a wait to seconds; infinite beyond the horizon.
func seconds(d time.Duration) float64 {
	if d == scheduler.Never {
		return math.Inf(1)
	}
	return d.Seconds()
}
