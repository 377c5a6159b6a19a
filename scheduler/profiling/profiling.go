// Package profiling keeps, for a run whose policy learns run times on the cluster itself, which jobs the policy knows: a
// job is known when it, or one like it, has run as a sample with each of its alternatives (T. N. Le and others, "AlloX",
// EuroSys 2020, whose estimator takes samples of about 3%).
package profiling

import (
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/job"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// The arguments of policies that decide by predicted run times.
var (
	part = schema.Arg{
		Name: "profiling", Type: schema.Number, Positive: true, Max: schema.Limit(1), DefaultDoc: "off", Example: `0.03`,
		Doc: "The part of its work that each job runs as a sample, with one of its alternatives after the other, before " +
			"the policy knows how long it takes. Samples hold cores and GPUs of the cluster; they go before all other jobs, " +
			"in the order of arrivals, as soon as there is room, and nothing of what they did is kept: they cost the start " +
			"and this part of the run time. In simulations only. Without it, samples cost no simulated time.",
	}
	by = schema.Arg{
		Name: "profiled_by", Type: schema.String, DefaultDoc: `"job"`, Allowed: []string{"job", "class"}, Example: `"class"`,
		Doc: "What one profiling tells of, under `profiling`: that `job` alone, or all jobs of its `class`, the others of " +
			"which wait until the first is profiled.",
	}
)

// Settings are these arguments.
var Settings = []schema.Arg{part, by}

// Check returns what is wrong with the settings of a policy, and with which.
func Check(settings map[string]any) (arg string, err error) {
	if _, set := settings[by.Name]; set && Of(settings) == nil {
		return by.Name, errors.New("profiled_by says of what one profiling tells, and without profiling there is none")
	}
	return "", nil
}

// Terms are what a policy says of profiling.
type Terms struct {
	// Part is that of a job's work which each of its samples runs.
	Part float64
	// ByClass makes one job stand for all of its class that have the same alternatives.
	ByClass bool
}

// Of reads the terms from the settings of a policy; nil for one that knows all jobs.
func Of(settings map[string]any) *Terms {
	p, ok := settings[part.Name].(float64)
	if !ok {
		return nil
	}
	return &Terms{Part: p, ByClass: settings[by.Name] == "class"}
}

// Desk is the state of one run. The nil Desk is that of a run whose policy knows all jobs.
type Desk struct {
	Terms
	jobs   []job.Job
	group  []int32 // by job: those that are profiled together
	groups []group
}

// group is jobs of which one profiling tells.
type group struct {
	left   []int32 // the alternatives of which no sample has ended
	leader int32   // the job that runs them, or nobody yet
	known  bool
}

// New returns the desk of a run. The jobs must not change; possible returns the alternatives of a job that the cluster can hold, none for a job
// without any.
func New(t *Terms, jobs []job.Job, possible func(j int32) []int32) *Desk {
	if t == nil {
		return nil
	}
	d := &Desk{Terms: *t, jobs: jobs, group: make([]int32, len(jobs))}
	byClass := map[string]int32{}
	for i := range jobs {
		key := like(&jobs[i])
		g, ok := byClass[key]
		if !ok || !t.ByClass {
			g = int32(len(d.groups))
			byClass[key] = g
			d.groups = append(d.groups, group{left: slices.Clone(possible(int32(i))), leader: queue.Nobody})
		}
		d.group[i] = g
	}
	return d
}

// like is what jobs have in common that are profiled together.
func like(j *job.Job) string {
	names := []string{j.Class}
	for _, a := range j.Alternatives {
		names = append(names, a.Name)
	}
	return strings.Join(names, "\x00")
}

func (d *Desk) of(j int32) *group { return &d.groups[d.group[j]] }

// Unknown reports whether the policy does not know a job yet.
func (d *Desk) Unknown(j int32) bool { return d != nil && !d.of(j).known }

// Left returns the alternatives of which an unknown job is still to run samples, none for a job without any; ok is false
// where another job does so in its place.
func (d *Desk) Left(j int32) (alternatives []int32, ok bool) {
	g := d.of(j)
	if g.leader == queue.Nobody {
		g.leader = j
	}
	return g.left, g.leader == j
}

// Sampled notes the end of a job's sample with an alternative. After the last one the job is known.
func (d *Desk) Sampled(j, alternative int32) {
	g := d.of(j)
	g.left = slices.DeleteFunc(g.left, func(k int32) bool { return k == alternative })
	g.known = len(g.left) == 0
}

// Predicted returns the predicted run time of a whole job, of several alternatives that of the first.
func (d *Desk) Predicted(j int32) time.Duration { return d.jobs[j].Predicted }

// Over notes that a job has ended: another one takes over what it was to find out.
func (d *Desk) Over(j int32) {
	if d.Unknown(j) && d.of(j).leader == j {
		d.of(j).leader = queue.Nobody
	}
}

// Rank is that of jobs that the policy does not know: before all others.
const Rank = math.MinInt64

// Known returns the place in the queue after which the jobs lie that the policy knows, of those after a place.
func (d *Desk) Known(after queue.Key) queue.Key {
	if last := (queue.Key{Rank: Rank, Second: math.MaxInt64, Job: math.MaxInt32}); d != nil && after.Less(last) {
		return last
	}
	return after
}
