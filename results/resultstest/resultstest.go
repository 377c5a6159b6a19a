// Package resultstest creates result folders for tests: small experiments whose schedules come from a short simulation
// in this package.
package resultstest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Config describes the experiment to create.
type Config struct {
	Long, Short int // number of jobs of each class; a long job needs all cores
	Cores       int
	Replicates  int
	Quanta      []time.Duration // one round-robin variant for each quantum
	FailJob     int             // number of a job that fails half-way; -1 for no such job
	Missing     int             // number of cells at the end of the plan that have no results
	Records     record.Records
	// Twins makes the cells real runs that have simulations, in which jobs take 0.9 times as long.
	Twins bool
}

// Small returns the experiment that most tests use: 2 policies × 5 replicates, 8 jobs on 2 cores.
func Small() Config {
	return Config{
		Long: 2, Short: 6, Cores: 2, Replicates: 5, Quanta: []time.Duration{300 * time.Millisecond},
		FailJob: -1, Records: record.AllRecords,
	}
}

// Write creates the folder of the experiment and returns its path.
func (cfg Config) Write(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "fcfs_vs_rr")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(dir, 0o755))
	plan := cfg.Plan()
	writeJSON := func(name string, v any) {
		t.Helper()
		raw, err := json.MarshalIndent(v, "", "  ")
		must(err)
		must(os.WriteFile(filepath.Join(dir, name), raw, 0o644))
	}
	writeJSON(record.PlanFile, plan)
	writeJSON(record.RunFile, record.Run{
		Started: "2026-01-02T03:04:05Z", Ended: "2026-01-02T03:05:06Z", State: "finished", Version: "v0.1.0", Go: "go1.26",
		Seed: plan.Seed, Command: []string{"tfexp", "run", "fcfs_vs_rr.hcl"}, File: "fcfs_vs_rr.hcl", Ran: len(plan.Cells),
		Host: []record.Setting{{Name: "system", Value: "linux/amd64"}, {Name: "cpu", Value: "Example CPU"},
			{Name: "threads", Value: "2"}},
	})
	must(os.WriteFile(filepath.Join(dir, record.ExperimentFile), []byte("experiment \"fcfs_vs_rr\" {\n  seed = 7\n}\n"),
		0o644))
	must(record.WriteEstimates(dir, []record.EstimateRow{
		{Job: "long", Hardware: "machine", Threads: cfg.Cores, Model: "linear", Samples: 2, SampleFraction: 0.07,
			Slope: 0.03, Intercept: 0.1, Predicted: 1.9, Low: 1.7, High: 2.1, Actual: -1},
		{Job: "short", Hardware: "machine", Threads: 1, Model: "linear", Samples: 2, SampleFraction: 0.1, Slope: 0.02,
			Intercept: 0.1, Predicted: 0.5, Low: 0.4, High: 0.6, Actual: -1},
	}))
	for _, ref := range plan.Cells[:len(plan.Cells)-cfg.Missing] {
		setup, work := cfg.setup(ref)
		var quantum time.Duration
		if len(ref.Axes) > 0 {
			q, err := time.ParseDuration(ref.Axes[0].Value)
			must(err)
			quantum = q
		}
		folder := filepath.Join(dir, record.CellsDir, ref.Cell)
		w, err := record.NewCellWriter(folder, setup, cfg.Records)
		must(err)
		s := sim{jobs: setup.Jobs, work: work, cores: cfg.Cores, quantum: quantum, fail: cfg.FailJob, out: w}
		s.run()
		cell := record.Cell{Seconds: 3, Busy: 0.02}
		if ref.Replicate == 2 {
			cell.Warnings = []record.Warning{{Code: "busy_machine", Text: "other programs used 0.8 CPU cores while jobs ran"}}
		}
		_, err = w.Finish(cell)
		must(err)
		if cfg.Twins {
			setup.Cell = ref.Twin()
			w, err := record.NewCellWriter(filepath.Join(dir, record.CellsDir, setup.Cell.Cell), setup, cfg.Records)
			must(err)
			for i := range work {
				work[i] = work[i] * 9 / 10
			}
			s := sim{jobs: setup.Jobs, work: work, cores: cfg.Cores, quantum: quantum, fail: -1, out: w}
			s.run()
			_, err = w.Finish(record.Cell{Busy: -1})
			must(err)
		}
		if cfg.FailJob >= 0 {
			logs := filepath.Join(folder, record.LogsDir)
			must(os.MkdirAll(logs, 0o755))
			log := "epoch 1: loss 0.7\nepoch 2: loss NaN\nTraceback: the loss is not a number <stop>\n"
			must(os.WriteFile(filepath.Join(logs, setup.Jobs[cfg.FailJob].Name+".log"), []byte(log), 0o644))
		}
	}
	must(analysis.WriteTables(dir))
	return dir
}

// Plan returns the experiment's plan: FCFS, and round robin with each quantum.
func (cfg Config) Plan() record.Plan {
	p := record.Plan{
		Schema: 1, Experiment: "fcfs_vs_rr", Seed: 7, Replicates: cfg.Replicates, Axes: []string{"quantum"},
		Description: "Short jobs arrive behind long ones. How much less do they wait under round robin than under FCFS?",
		Workloads:   []record.Named{{Name: "mixed", Summary: fmt.Sprintf("%d × long, %d × short", cfg.Long, cfg.Short)}},
		Hardware:    []record.Named{{Name: "machine", Summary: fmt.Sprintf("simulated engine, %d cores", cfg.Cores)}},
		Policies: []record.Named{{Name: "fcfs", Summary: "fcfs, strict"},
			{Name: "rr", Summary: "round_robin, quantum 300ms, strict"}},
		Compares: []record.Compare{
			{Metric: "mean_waiting_s", Baseline: "fcfs", Level: 0.95},
			{Metric: "mean_jct_s", Baseline: "fcfs", Level: 0.95},
			{Metric: "makespan_s", Baseline: "fcfs", Level: 0.95},
		},
	}
	add := func(policy string, axes []record.Setting) {
		for r := 1; r <= cfg.Replicates; r++ {
			c := record.CellRef{
				Workload: "mixed", Hardware: "machine", Policy: policy, Replicate: r, Seed: int64(r),
				Engine: "simulated", Simulated: true, Axes: axes, Cores: cfg.Cores, Key: fmt.Sprintf("%s%v%d", policy, axes, r),
			}
			c.Cell = "mixed-machine-" + policy
			if cfg.Twins {
				c.Engine, c.Simulated = "programs", false
			}
			for _, a := range axes {
				c.Cell += "-" + a.Name + "=" + a.Value
			}
			c.Cell += fmt.Sprintf("-r%d", r)
			p.RunOrder = append(p.RunOrder, len(p.Cells))
			p.Cells = append(p.Cells, c)
		}
	}
	add("fcfs", nil)
	for _, q := range cfg.Quanta {
		add("rr", []record.Setting{{Name: "quantum", Value: q.String()}})
	}
	return p
}

// setup draws the jobs of a replicate and their true run times. All policies get the same jobs.
func (cfg Config) setup(ref record.CellRef) (record.Setup, []time.Duration) {
	rng := rand.New(rand.NewPCG(uint64(ref.Seed), 1))
	s := record.Setup{Cell: ref}
	s.Cluster = scheduler.Cluster{Nodes: []scheduler.Node{{Name: "n", Threads: cfg.Cores}}}
	var work []time.Duration
	at := 100 * time.Millisecond
	for i := range cfg.Long + cfg.Short {
		j := scheduler.Job{Number: i, Class: "long", Name: fmt.Sprintf("long-%d", i+1), Threads: cfg.Cores,
			Deadline: scheduler.Never}
		mean := 1900 * time.Millisecond
		if i >= cfg.Long {
			j.Class, j.Name, j.Threads = "short", fmt.Sprintf("short-%d", i-cfg.Long+1), 1
			mean = 500 * time.Millisecond
			at += time.Duration(rng.ExpFloat64() * 0.2 * float64(time.Second)).Round(time.Microsecond)
			j.Arrival = at
		} else if i >= 2 {
			j.Arrival = time.Duration(i) * 2 * time.Second
		}
		s.Jobs = append(s.Jobs, j)
		s.Predicted = append(s.Predicted, mean)
		work = append(work, time.Duration(float64(mean)*(1+0.05*rng.NormFloat64())).Round(time.Microsecond))
	}
	s.Alone = work
	return s, work
}

// sim simulates jobs in the order of arrival, with round robin if there is a quantum.
type sim struct {
	jobs    []scheduler.Job
	work    []time.Duration
	cores   int
	quantum time.Duration // 0 for FCFS
	fail    int
	out     scheduler.Recorder

	now     time.Duration
	queue   []int
	arrived int
	left    []time.Duration
	started []bool
	running []turn
	free    []bool
	order   []int // job numbers by arrival
	done    int
}

// turn is a job that holds cores until its work or its quantum ends.
type turn struct {
	job   int
	until time.Duration
	cores []int
}

func (s *sim) run() {
	s.left = append([]time.Duration(nil), s.work...)
	s.started = make([]bool, len(s.jobs))
	s.free = make([]bool, s.cores)
	for i := range s.free {
		s.free[i] = true
	}
	for i := range s.jobs {
		at := len(s.order)
		for at > 0 && s.jobs[s.order[at-1]].Arrival > s.jobs[i].Arrival {
			at--
		}
		s.order = append(s.order[:at], append([]int{i}, s.order[at:]...)...)
	}
	for s.done < len(s.jobs) {
		s.arrive()
		s.dispatch()
		next := scheduler.Never
		if s.arrived < len(s.order) {
			next = s.jobs[s.order[s.arrived]].Arrival
		}
		for _, r := range s.running {
			next = min(next, r.until)
		}
		s.now = next
		s.end()
	}
}

func (s *sim) event(kind scheduler.EventKind, job int, cores []int) {
	var set scheduler.CoreSet
	for _, c := range cores {
		if n := len(set); n > 0 && set[n-1].Hi == int32(c) {
			set[n-1].Hi++
		} else {
			set = append(set, cluster.Span{Lo: int32(c), Hi: int32(c) + 1})
		}
	}
	e := scheduler.Event{At: s.now, Kind: kind, Job: job, Cores: set}
	if kind == scheduler.Fail {
		e.Reason = "exit status 1"
	}
	s.out.Event(&e)
	if kind == scheduler.Start || kind == scheduler.Resume {
		s.out.Decision(&scheduler.Decision{At: s.now, Kind: kind, Job: job, Cores: set, Reason: "next in the queue"})
	}
}

func (s *sim) arrive() {
	for s.arrived < len(s.order) && s.jobs[s.order[s.arrived]].Arrival <= s.now {
		job := s.order[s.arrived]
		s.arrived++
		s.event(scheduler.Arrive, job, nil)
		s.queue = append(s.queue, job)
	}
}

// dispatch starts jobs from the head of the queue while they fit.
func (s *sim) dispatch() {
	for len(s.queue) > 0 {
		job := s.queue[0]
		var cores []int
		for c := 0; c < s.cores && len(cores) < s.jobs[job].Threads; c++ {
			if s.free[c] {
				cores = append(cores, c)
			}
		}
		if len(cores) < s.jobs[job].Threads {
			return
		}
		s.queue = s.queue[1:]
		for _, c := range cores {
			s.free[c] = false
		}
		until := s.now + s.left[job]
		if s.quantum > 0 {
			until = min(until, s.now+s.quantum)
		}
		s.running = append(s.running, turn{job, until, cores})
		kind := scheduler.Resume
		if !s.started[job] {
			kind = scheduler.Start
		}
		s.started[job] = true
		s.event(kind, job, cores)
	}
}

// end takes the cores away from jobs whose work or quantum is over.
func (s *sim) end() {
	var still []turn
	var paused []int
	for _, r := range s.running {
		if r.until > s.now {
			still = append(still, r)
			continue
		}
		slice := s.left[r.job]
		if s.quantum > 0 {
			slice = min(slice, s.quantum)
		}
		s.left[r.job] -= slice
		switch {
		case r.job == s.fail && s.left[r.job] <= s.work[r.job]/2:
			s.event(scheduler.Fail, r.job, nil)
			s.done++
		case s.left[r.job] <= 0:
			s.event(scheduler.Finish, r.job, nil)
			s.done++
		case len(s.queue) == 0:
			// If no job waits, this job continues with a new quantum.
			r.until = s.now + min(s.left[r.job], s.quantum)
			still = append(still, r)
			continue
		default:
			s.event(scheduler.Pause, r.job, nil)
			paused = append(paused, r.job)
		}
		for _, c := range r.cores {
			s.free[c] = true
		}
	}
	s.running = still
	s.arrive()
	s.queue = append(s.queue, paused...)
}

// TwoJobs returns the events of two jobs on two cores, worked out by hand. Job "a" needs both cores and is paused once;
// job "b" needs one core.
//
//	t:  0    1    2    3    4    5
//	a:  arrives, runs 0–2, paused 2–3, runs 3–5
//	b:       arrives 1, runs 2–3
func TwoJobs() (record.Setup, []scheduler.Event) {
	cores := func(lo, hi int32) scheduler.CoreSet { return scheduler.CoreSet{{Lo: lo, Hi: hi}} }
	const second = time.Second
	s := record.Setup{Cell: record.CellRef{Cell: "c", Workload: "w", Hardware: "h", Policy: "p", Replicate: 1,
		Engine: "simulated", Simulated: true, Cores: 2}, Setup: measure.Setup{
		Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Name: "n", Threads: 2}}},
		Jobs: []scheduler.Job{
			{Number: 0, Name: "a-1", Class: "a", Threads: 2},
			{Number: 1, Name: "b-1", Class: "b", Threads: 1, Arrival: second},
		},
		Predicted: []time.Duration{5 * second, second / 2},
		Alone:     []time.Duration{4 * second, second},
	}}
	return s, []scheduler.Event{
		{At: 0, Kind: scheduler.Arrive, Job: 0},
		{At: 0, Kind: scheduler.Start, Job: 0, Cores: cores(0, 2)},
		{At: second, Kind: scheduler.Arrive, Job: 1},
		{At: 2 * second, Kind: scheduler.Pause, Job: 0},
		{At: 2 * second, Kind: scheduler.Start, Job: 1, Cores: cores(0, 1)},
		{At: 3 * second, Kind: scheduler.Finish, Job: 1},
		{At: 3 * second, Kind: scheduler.Resume, Job: 0, Cores: cores(0, 2), Migrated: true},
		{At: 5 * second, Kind: scheduler.Finish, Job: 0},
	}
}
