// Package schedulertest runs the scheduler with all of its policies, for tests of the scheduler and its packages. A
// change in any of them shows in the schedules.
package schedulertest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// Combination is a policy in a golden file: the names of its choices, and its settings.
type Combination struct {
	Order, Allocation, Backfill, Preemption, Victims, Placement string
	Settings                                                    policy.Settings
}

func (c Combination) String() string {
	s := strings.Join([]string{c.Order, c.Allocation, c.Backfill, c.Preemption, cmp.Or(c.Victims, "-"), c.Placement}, " ")
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		s += fmt.Sprintf(" %s=%v", name, c.Settings[name])
	}
	return s
}

// policy returns the policy of a combination, with the settings of a workload.
func (c Combination) policy(w goldenWorkload) policy.Policy {
	p := policy.Policy{
		Order: c.Order, Allocation: c.Allocation, Backfill: c.Backfill,
		Preemption: c.Preemption, Victims: c.Victims,
		Placement: c.Placement, Settings: policy.Settings{},
	}
	switch c.Order {
	case "round_robin", "las", "fair", "priority_round_robin", "gittins":
		p.Settings["quantum"] = w.quantum
	case "priority":
		p.Settings["feedback"] = w.feedback
	}
	maps.Copy(p.Settings, c.Settings)
	if (c.Order == "srtf" || c.Order == "las") && c.Preemption == "none" {
		p.Preemption = "" // implied by the order
	}
	return p
}

// combinations returns every valid combination of the choices of a policy.
func combinations() []Combination {
	var all []Combination
	giveWay := [][2]string{{"none", ""}, {"pause", "longest_run"}, {"pause", "smallest_request"}}
	for _, order := range []string{"fcfs", "round_robin", "priority", "sjf", "srtf", "las", "edf", "fair"} {
		for _, pre := range giveWay {
			all = append(all, Backfills(Combination{Order: order, Preemption: pre[0], Victims: pre[1]})...)
			all = append(all, Combination{order, "strict", "conservative", pre[0], pre[1], "earliest_finish", nil})
		}
	}
	for _, alpha := range []float64{0.3, 1} {
		all = append(all, Combination{"allox", "strict", "none", "none", "", "first", policy.Settings{"alpha": alpha}})
	}
	return all
}

// Backfills returns a combination with each allocation and each backfill.
func Backfills(c Combination) (all []Combination) {
	for _, c.Allocation = range []string{"strict", "always_attend", "max_prop"} {
		for _, c.Backfill = range []string{"none", "first_fit", "easy", "conservative"} {
			c.Placement = "first"
			all = append(all, c)
		}
	}
	return all
}

// goldenWorkload is a cluster, jobs for it, and settings for the policies.
type goldenWorkload struct {
	cluster           scheduler.Cluster
	jobs              []scheduler.Job
	work              []simulated.Scaling
	resizes           []scheduler.Resize
	fails             []bool // by job, whether its first attempt fails; nil if none does
	units             []int  // units of work, for online predictions; nil without them
	options           simulated.Options
	quantum, feedback time.Duration
}

func drawGoldenWorkload(n int) goldenWorkload {
	rng := workload.Stream(9, "golden", fmt.Sprint(n))
	var w goldenWorkload
	memories := []int64{0, 10, 20}
	for range 1 + rng.IntN(3) {
		w.cluster.Nodes = append(w.cluster.Nodes, scheduler.Node{
			Threads: 1 + rng.IntN(9), GPUs: rng.IntN(3), Memory: memories[rng.IntN(3)], GPU: []string{"", "K80",
				"V100"}[rng.IntN(3)],
		})
	}
	unit := []time.Duration{time.Second, time.Millisecond, 1_000_003}[rng.IntN(3)]
	span := func(seconds int) time.Duration { // whole seconds cause ties; milliseconds do not
		return time.Duration(rng.IntN(int(time.Duration(seconds)*time.Second/unit))) * unit
	}
	w.quantum, w.feedback = time.Second+span(4), time.Second+span(8)
	choices := rng.IntN(3) == 0
	for i := range 1 + rng.IntN(10) {
		j, run := w.drawJob(rng, span, choices)
		j.Number, j.Name = i, fmt.Sprint(i)
		work := simulated.Scaling{Scaled: run, Threads: j.Threads, Parallel: 0.5 + 0.5*float64(rng.IntN(2))}
		for _, a := range j.Alternatives() {
			work.AddAlternative(simulated.FullRequest(span(9), a.Threads))
		}
		w.jobs, w.work = append(w.jobs, j), append(w.work, work)
	}
	for range rng.IntN(4) {
		if j := &w.jobs[rng.IntN(len(w.jobs))]; j.Nodes <= 1 && !choices {
			w.resizes = append(w.resizes, scheduler.Resize{At: span(20), Job: j.Number, Threads: 1 + rng.IntN(j.Threads)})
		}
	}
	switch rng.IntN(4) {
	case 0:
		w.fails = make([]bool, len(w.jobs))
		for i := range w.jobs {
			w.fails[i] = rng.IntN(3) == 0
			w.jobs[i].Own().Retries = rng.IntN(2)
		}
	case 1:
		w.units = make([]int, len(w.jobs))
		for i := range w.jobs {
			w.units[i] = rng.IntN(20)
		}
	}
	w.options.Seed = int64(n)
	w.options.Lacks.Migrate = true // as when the golden file was made
	if rng.IntN(2) == 0 {
		w.options.Noise = 0.2
		w.options.Overheads = simulated.Overheads{Start: 7e6, Pause: 1e6, Resume: 2e6, Resize: 3e6}
	}
	return w
}

// drawJob draws a random job that can run on the cluster, and its run time.
func (w *goldenWorkload) drawJob(
	rng *rand.Rand, span func(int) time.Duration, choices bool,
) (scheduler.Job, time.Duration) {
	node := w.cluster.Nodes[rng.IntN(len(w.cluster.Nodes))]
	run := span(9)
	j := scheduler.Job{
		Arrival: span(12), Threads: 1 + rng.IntN(node.Threads), GPUs: rng.IntN(node.GPUs + 1), Priority: rng.IntN(4),
		Deadline: scheduler.Never, User: []string{"", "ann", "bob"}[rng.IntN(3)],
		Predicted: max(run, 1), Malleable: rng.IntN(2) == 0,
	}
	j.MinThreads = rng.IntN(j.Threads + 1)
	if rng.IntN(2) == 0 {
		j.MaxThreads = j.Threads + rng.IntN(5)
	}
	if node.Memory > 0 {
		j.Memory = rng.Int64N(node.Memory + 1)
	}
	if rng.IntN(2) == 0 {
		j.Deadline = j.Arrival + span(20)
	}
	if rng.IntN(4) == 0 {
		j.Predicted = span(9) // a wrong prediction, or none
	}
	if fits := GangNodes(w.cluster, j); fits > 1 && rng.IntN(3) == 0 {
		j.Nodes = 2 + rng.IntN(fits-1)
		j.Threads, j.GPUs = j.Threads*j.Nodes, j.GPUs*j.Nodes
		j.MinThreads, j.MaxThreads = 0, 0
	} else if choices && rng.IntN(4) > 0 {
		j.Malleable, j.MinThreads, j.MaxThreads = false, 0, 0
		j = OnTypes(j)
		for range rng.IntN(3) {
			other := w.cluster.Nodes[rng.IntN(len(w.cluster.Nodes))]
			j.Own().Alternatives = append(j.Alternatives(), scheduler.Alternative{
				Name: "other", Threads: 1 + rng.IntN(other.Threads+1), GPUs: rng.IntN(other.GPUs + 1),
				Memory: rng.Int64N(10), GPU: []string{"", other.GPU, "T4"}[rng.IntN(3)], Predicted: span(9),
			})
		}
	}
	return j, run
}

// without returns the workload's jobs and their work without alternatives.
func (w goldenWorkload) without() ([]scheduler.Job, []simulated.Scaling) {
	jobs, work := slices.Clone(w.jobs), slices.Clone(w.work)
	for i := range jobs {
		jobs[i].Own().Alternatives, work[i].Special = nil, nil
	}
	return jobs, work
}

// failing is a simulated engine on which the first attempt of some jobs fails. The second attempt of job j is job
// n+j of the simulation.
type failing struct {
	*simulated.Engine
	fails []bool
	at    []int // by job, its job in the simulation
}

func newFailing(jobs []scheduler.Job, work []simulated.Scaling, fails []bool, o simulated.Options) (*failing, error) {
	engine, err := simulated.New(append(slices.Clone(jobs), jobs...), append(slices.Clone(work), work...), o)
	f := &failing{Engine: engine, fails: fails, at: make([]int, len(jobs))}
	for i := range f.at {
		f.at[i] = i
	}
	return f, err
}

func (f *failing) Start(job int, g scheduler.Grant) error  { return f.Engine.Start(f.at[job], g) }
func (f *failing) Pause(job int) error                     { return f.Engine.Pause(f.at[job]) }
func (f *failing) Resume(job int, g scheduler.Grant) error { return f.Engine.Resume(f.at[job], g) }
func (f *failing) Resize(job int, g scheduler.Grant) error { return f.Engine.Resize(f.at[job], g) }
func (f *failing) Stop(job int) error                      { return f.Engine.Stop(f.at[job]) }

func (f *failing) Next(ctx context.Context, until time.Duration) (time.Duration, []scheduler.Notice, error) {
	now, ended, err := f.Engine.Next(ctx, until)
	for i := range ended {
		if e := &ended[i]; e.Job >= len(f.at) {
			e.Job -= len(f.at)
		} else if f.fails[e.Job] && e.State == scheduler.Finished {
			e.State = scheduler.Failed
			f.at[e.Job] += len(f.at)
		}
	}
	slices.SortStableFunc(ended, scheduler.CompareNotices)
	return now, ended, err
}

// onward is a Predictor that expects a job to keep its speed since its last report.
type onward struct{ units []int }

func (s onward) Learn(job, units int, _ []scheduler.Loss, held []scheduler.Held) time.Duration {
	var spent time.Duration
	for _, h := range held {
		spent += h.Time
	}
	return spent * time.Duration(s.units[job]) / time.Duration(2*units)
}

func (onward) Forget(int) {}

// goldenHash is a Recorder that computes a hash of the times and grants of jobs.
type goldenHash struct {
	hash.Hash
	line []byte
}

func (h *goldenHash) Decision(*scheduler.Decision) {}

func (h *goldenHash) Event(e *scheduler.Event) {
	kind, ok := map[scheduler.EventKind]byte{
		scheduler.Arrive: 'a', scheduler.Start: 's', scheduler.Pause: 'p', scheduler.Resume: 'r',
		scheduler.ResizeJob: 'z', scheduler.Finish: 'f', scheduler.Fail: 'x', scheduler.Stop: 'o', scheduler.Retry: 'y', scheduler.Level: 'l',
	}[e.Kind]
	if !ok {
		return
	}
	h.add(int64(kind), int64(e.At), int64(e.Job), int64(e.Alternative))
	for _, set := range []scheduler.CoreSet{e.Cores, e.GPUs} {
		for _, span := range set {
			h.add(int64(span.Lo), int64(span.Hi))
		}
		h.add(-1)
	}
}

func (h *goldenHash) add(values ...int64) {
	h.line = h.line[:0]
	for _, v := range values {
		h.line = binary.LittleEndian.AppendUint64(h.line, uint64(v))
	}
	_, _ = h.Write(h.line) // writing to a hash does not fail
}

// execute runs a workload under a policy.
func execute(p policy.Policy, w goldenWorkload, to scheduler.Recorder) (scheduler.Run, scheduler.Outcome, error) {
	r := scheduler.Run{Policy: p, Cluster: w.cluster, Jobs: w.jobs, Resizes: w.resizes, Recorder: to, EventsOnly: true}
	work := w.work
	if p.Allocation != "strict" {
		r.Jobs, work = w.without()
	}
	var err error
	if w.fails != nil {
		r.Engine, err = newFailing(r.Jobs, work, w.fails, w.options)
	} else {
		r.Engine, err = simulated.New(r.Jobs, work, w.options)
	}
	if err != nil {
		return r, scheduler.Outcome{}, err
	}
	if w.units != nil {
		r.Online = &scheduler.Online{Units: w.units, Predictor: onward{w.units}}
	}
	o, err := r.Execute(context.Background())
	return r, o, err
}

// run adds the schedule of a workload under a policy to the hash.
func (h *goldenHash) run(p policy.Policy, w goldenWorkload) error {
	_, o, err := execute(p, w, h)
	switch {
	case errors.Is(err, scheduler.ErrLivelock), errors.Is(err, scheduler.ErrStuck):
		h.add(-2)
	case err != nil:
		return err
	}
	h.add(int64(o.End))
	for _, j := range o.Jobs {
		h.add(int64(j.FirstStart), int64(j.Finish), int64(j.Waiting), int64(j.Service), int64(j.CoreTime),
			int64(j.Cores), int64(j.Alternative), int64(j.Preemptions), int64(j.Resizes), int64(j.Restarts))
	}
	return nil
}

// Trace is the schedule of a workload under a policy.
type Trace struct {
	Policy  string
	Run     scheduler.Run
	Events  []scheduler.Event
	Outcome scheduler.Outcome
}

func (t *Trace) Decision(*scheduler.Decision) {}
func (t *Trace) Event(e *scheduler.Event)     { t.Events = append(t.Events, *e) }

// Traces returns traces of the first n workloads, each under another policy.
func Traces(t *testing.T, n int) []*Trace {
	t.Helper()
	all := combinations()
	var traces []*Trace
	for i := range n {
		c, w := all[i*37%len(all)], drawGoldenWorkload(i)
		tr := &Trace{Policy: c.String()}
		var err error
		if tr.Run, tr.Outcome, err = execute(c.policy(w), w, tr); err != nil {
			t.Fatalf("%s, workload %d: %v", c, i, err)
		}
		traces = append(traces, tr)
	}
	return traces
}

// Golden tests that no policy decides otherwise than before. For each valid combination of order, allocation,
// backfill, preemption, victim rule and placement, the golden file has a hash over 500 random workloads. It covers
// all starts, pauses, resizes, grants and ends, to the nanosecond. The first hash covers the first 50 workloads;
// with few, only that is checked. With update, the file is rewritten.
//
// The workloads have rigid and malleable jobs, jobs on several nodes, memory, GPUs, alternatives, priorities,
// deadlines, users, resize requests, feedback, failed attempts, online predictions, noise and overheads.
func Golden(t *testing.T, file string, few, update bool) {
	t.Helper()
	GoldenOf(t, file, combinations(), few, update)
}

// GoldenOf is Golden for the given combinations.
func GoldenOf(t *testing.T, file string, combinations []Combination, few, update bool) {
	t.Helper()
	const some, all = 50, 500
	count := all
	if few && !update {
		count = some
	}
	workloads := make([]goldenWorkload, count)
	for i := range workloads {
		workloads[i] = drawGoldenWorkload(i)
	}
	lines := make([]string, len(combinations))
	var wg sync.WaitGroup
	next := make(chan int)
	for range 4 {
		wg.Go(func() {
			for i := range next {
				h := &goldenHash{Hash: sha256.New()}
				c := combinations[i]
				line := c.String()
				for n, w := range workloads {
					h.add(int64(n))
					if err := h.run(c.policy(w), w); err != nil {
						t.Errorf("%s, workload %d: %v", c, n, err)
					}
					if n+1 == some || n+1 == all {
						line += fmt.Sprintf(" %x", h.Sum(nil)[:8])
					}
				}
				lines[i] = line
			}
		})
	}
	for i := range combinations {
		next <- i
	}
	close(next)
	wg.Wait()
	if update {
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(string(bytes.TrimSpace(golden)), "\n")
	if len(want) != len(lines) {
		t.Fatalf("%d combinations, the golden file has %d", len(lines), len(want))
	}
	for i, line := range lines {
		if !strings.HasPrefix(want[i]+" ", line+" ") {
			t.Errorf("decisions have changed:\n got %s\nwant %s", line, want[i])
		}
	}
}

// OnTypes returns the job with further alternatives.
func OnTypes(j scheduler.Job, more ...scheduler.Alternative) scheduler.Job {
	own := scheduler.Alternative{Name: "cpu", Threads: j.Threads, GPUs: j.GPUs, Memory: j.Memory, Predicted: j.Predicted}
	for i := range more {
		if more[i].Name == "" {
			more[i].Name = "gpu"
		}
	}
	j.Own().Alternatives = append([]scheduler.Alternative{own}, more...)
	return j
}

// GangNodes returns the number of nodes that have room for a job's request per node.
func GangNodes(c scheduler.Cluster, j scheduler.Job) int {
	n := 0
	for _, node := range c.Nodes {
		if node.Threads >= j.Threads && node.GPUs >= j.GPUs && (node.Memory == 0 || node.Memory >= j.Memory) {
			n++
		}
	}
	return n
}
