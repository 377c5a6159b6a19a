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

// Job is a job of a division problem: it has arrived and not ended.
type Job struct {
	// Number identifies the job. Jobs are sorted by number, which is the order of arrival.
	Number int32
	// Workers is the number of devices that the job needs on each type. It is also set for GPU types on which the job
	// cannot run.
	Workers []float64
	// Speed is the job's speed on each type, in units of work per second; 0 if the job cannot run there.
	Speed []float64
	// Weight is the job's share of a fair division, relative to other jobs.
	Weight float64
	// Left is the remaining work in units.
	Left float64
	// Age is the time since the job's arrival, and Due the time until its deadline, in seconds. Due is +Inf without a
	// deadline.
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

// Problem is a division problem: jobs and devices.
type Problem struct {
	Jobs  []Job
	Types []Devices
	// Pairs are the pairs of jobs that may share devices.
	Pairs []Pair
}

// Division has fractions of time, by job and type, followed by fractions by pair and type. The time of a pair is the
// time in which both jobs run together.
type Division [][]float64

// Divider divides the time of devices among jobs. It may keep state between the divisions of a run.
type Divider interface {
	Divide(*Problem) (Division, error)
}

// Kind is a registered way to divide, such as max_min.
type Kind struct {
	// Name is the name in experiment files, such as "max_min".
	Name, Title, Doc string
	Place            int
	// Version must change when the divisions of this kind change.
	Version int
	// Idle reports whether jobs may not use idle devices on which the division gives them no time.
	Idle bool
	// Prices reports whether the kind reads prices.
	Prices bool
	// Packs reports whether the kind can give time to pairs of jobs.
	Packs bool
	// Tolerance reports whether the kind has a tolerance.
	Tolerance bool
	New       func(Options) Divider
}

var kinds = schema.NewRegistry("shares: kind", func(k *Kind) string { return k.Name },
	func(k *Kind) int { return k.Place })

// Register registers a kind. It panics if the name is taken.
func Register(k Kind) *Kind { return kinds.Add(&k) }

// All returns the kinds in the order in which lists show them.
func All() []*Kind { return kinds.All() }

// Find returns the kind of this name, or nil.
func Find(name string) *Kind {
	k, _ := kinds.Find(name)
	return k
}

// Blind returns the problem in which each job is as fast on all types as on the type of. Jobs that cannot run on this
// type have the speed of their fastest type everywhere.
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

// devices returns the number of devices of all types.
func (p *Problem) devices() float64 {
	sum := 0.0
	for _, t := range p.Types {
		sum += t.Count
	}
	return sum
}

// program returns a linear program without an objective. Its constraints are that each job runs at most all of the
// time, and that no more devices are used than exist.
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
			if j.Speed[t] == 0 { // time on this type does no work, but uses devices
				b.Uses[t][t] = max(j.Workers[t], p.Types[t].Count, 1)
			}
			whole.X[t] = 1
		}
		b.Rows = []lp.Row{whole}
		out.Blocks[i] = b
	}
	return out
}

// margin reduces the speeds that a program requires below the speeds that another program has found. Without it, the
// program would have no interior points.
const margin = 1e-6

// needs adds the row Σ_j speed_ij x_ij ≥ need·z + fixed for a job, scaled so that the job's full speed is 1.
func needs(b *lp.Block, j *Job, need, fixed float64) {
	full := slices.Max(j.Speed)
	row := lp.Row{X: make([]float64, len(j.Speed)), Z: need / full, Most: -fixed / full}
	for t, s := range j.Speed {
		row.X[t] = -s / full
	}
	b.Rows = append(b.Rows, row)
}

// division converts the solution of a program into a division. It omits time on types where a job cannot run.
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

// throughput returns the speed of a job under a division, in units of work per second.
func (j *Job) throughput(x []float64) float64 {
	sum := 0.0
	for t, s := range j.Speed {
		sum += s * x[t]
	}
	return sum
}

// Options are the options of a divider.
type Options struct {
	// Blind is set if all types are assumed to be as fast as one type.
	Blind bool
	// Seed is the seed of random numbers.
	Seed uint32
	// Tolerance is the fraction by which the minimized value may exceed its minimum; 0 means the minimum.
	Tolerance float64
}
