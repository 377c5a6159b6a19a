// Package shares divides the time of devices of several types among jobs that run at
// different speeds on them, and turns the division into the jobs of each round: the
// policies and the mechanism of D. Narayanan and others, "Heterogeneity-Aware Cluster
// Scheduling Policies for Deep Learning Workloads", OSDI 2020.
//
// A division x has for each job i and type of device j the fraction of time in which the
// job is to run on devices of that type. A job runs on s devices of one type at a time,
// so that x ≥ 0, Σ_j x_ij ≤ 1 and Σ_i s_i x_ij ≤ N_j.
package shares

import (
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/lp"
)

// Job is a job that has arrived and not ended, as a division sees it.
type Job struct {
	// Number identifies the job; jobs are listed in the order of their numbers, which
	// is the order of arrival.
	Number int32
	// Workers is the number of devices that the job holds on each type, or would hold on a type of GPU where it
	// cannot run.
	Workers []float64
	// Speed is the job's progress in units of work per second on each type; 0 where the job cannot run.
	Speed []float64
	// Weight is the job's part of a fair division, relative to other jobs.
	Weight float64
	// Left is the remaining work, in units.
	Left float64
	// Age is the time since its arrival, and Due the time to its deadline, in seconds; Due
	// is +Inf without one.
	Age, Due float64
}

// Devices are the devices of a type.
type Devices struct {
	Name  string
	Count float64
	// Price is the price of one device per hour.
	Price float64
	// Cores reports whether the devices are cores, for jobs without GPUs.
	Cores bool
}

// Problem is the division problem: jobs and devices.
type Problem struct {
	Jobs  []Job
	Types []Devices
	// Pairs are the jobs that may run on the same devices, two at a time.
	Pairs []Pair
}

// Division has the fraction of time by job and type, and after the jobs by pair and type: the
// time of a pair is the time that both of its jobs run together.
type Division [][]float64

// Divider divides the time of devices among jobs. It may keep state of earlier divisions of a run.
type Divider interface {
	Divide(*Problem) (Division, error)
}

// Kind is a registered method of division, such as max_min.
type Kind struct {
	// Name is the name that users write: "max_min".
	Name, Title, Doc string
	Place            int
	// Version changes when the divisions of this kind change.
	Version int
	// Idle reports whether jobs stay off devices on which the division gives no time, even if
	// the devices are idle.
	Idle bool
	// Prices and Deadlines report whether the kind reads prices and deadlines.
	Prices, Deadlines bool
	// Packs reports whether the kind also gives time to pairs of jobs.
	Packs bool
	// Tolerance reports whether the kind has a tolerance.
	Tolerance bool
	New       func(Options) Divider
}

var kinds = schema.NewRegistry("shares: kind", func(k *Kind) string { return k.Name },
	func(k *Kind) int { return k.Place })

// Register makes a kind known. It panics when the name is taken.
func Register(k Kind) *Kind { return kinds.Add(&k) }

// All returns the kinds in the order of lists.
func All() []*Kind { return kinds.All() }

// Find returns the kind of that name, or nil.
func Find(name string) *Kind {
	k, _ := kinds.Find(name)
	return k
}

// Blind returns the problem in which all types are assumed to be as fast as one of them. Jobs
// that cannot run on this one are as fast everywhere as where they are fastest.
func (p *Problem) Blind(of int) *Problem {
	out := *p
	out.Jobs = slices.Clone(p.Jobs)
	for i := range out.Jobs {
		j := &out.Jobs[i]
		speed := j.Speed[of]
		if speed == 0 {
			speed = slices.Max(j.Speed)
		}
		known := make([]float64, len(j.Speed))
		for t, s := range j.Speed {
			if s > 0 {
				known[t] = speed
			}
		}
		j.Speed = known
	}
	return &out
}

// devices is the number of devices of all types.
func (p *Problem) devices() float64 {
	sum := 0.0
	for _, t := range p.Types {
		sum += t.Count
	}
	return sum
}

// program is the linear program of a division without an objective: each job runs at most
// all of the time, on types where it can run.
func (p *Problem) program() lp.Problem {
	n := len(p.Types)
	out := lp.Problem{Blocks: make([]lp.Block, len(p.Jobs)), Limits: make([]float64, n)}
	for t := range n {
		out.Limits[t] = p.Types[t].Count
	}
	for i := range p.Jobs {
		j := &p.Jobs[i]
		b := lp.Block{Gain: make([]float64, n), Uses: make([][]float64, n)}
		whole := lp.Row{X: make([]float64, n), Most: 1}
		for t := range n {
			b.Uses[t] = make([]float64, n)
			b.Uses[t][t] = j.Workers[t]
			if j.Speed[t] == 0 { // time there is worth nothing, and takes as much as there is
				b.Uses[t][t] = max(j.Workers[t], p.Types[t].Count, 1)
			}
			whole.X[t] = 1
		}
		b.Rows = []lp.Row{whole}
		out.Blocks[i] = b
	}
	return out
}

// margin is the fraction by which the speeds demanded of a program are below the speeds that
// another program found. Without it, the program has no interior points.
const margin = 1e-6

// needs adds the row Σ_j speed_ij x_ij ≥ need·z + fixed of a job, for its full speed being 1.
func needs(b *lp.Block, j *Job, need, fixed float64) {
	full := slices.Max(j.Speed)
	row := lp.Row{X: make([]float64, len(j.Speed)), Z: need / full, Most: -fixed / full}
	for t, s := range j.Speed {
		row.X[t] = -s / full
	}
	b.Rows = append(b.Rows, row)
}

// division is the solution of a program as a division. Time where a job cannot run is left out.
func (p *Problem) division(s lp.Solution) Division {
	d := Division(s.X)
	for i, x := range d {
		for t := range x {
			if x[t] = min(max(x[t], 0), 1); p.Jobs[i].Speed[t] == 0 {
				x[t] = 0
			}
		}
	}
	return d
}

// throughput is the speed of a job under a division.
func (j *Job) throughput(x []float64) float64 {
	sum := 0.0
	for t, s := range j.Speed {
		sum += s * x[t]
	}
	return sum
}

// Options are the options for making a divider.
type Options struct {
	// Blind says that it takes all types to be as fast as one of them.
	Blind bool
	// Seed is the seed of its random numbers.
	Seed uint32
	// Tolerance is the fraction by which the minimized value may exceed its minimum; 0 for
	// none.
	Tolerance float64
}
