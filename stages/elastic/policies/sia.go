package policies

import (
	"embed"
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/elastic/division"
)

//go:embed sia.go tiresias.go
var source embed.FS

type siaSettings struct {
	// The power of the jobs' gains in the sum that the policy minimizes: smaller values favor the slowest jobs.
	//
	//	fairness = -1
	Fairness float64 `arg:"fairness" default:"-0.5" min:"-10" max:"-0.01"`
	// The amount that a job without GPUs adds to that sum; the slowest configuration adds 1.
	//
	//	unserved = 2
	Unserved float64 `arg:"unserved" default:"1.1" min:"0.01" max:"1000"`
}

var _ = register(policy.Choice{
	Name: "sia", Title: "Sia",
	Doc:   "GPUs of several types by goodput, with an exact solution" + onCoresDoc,
	Place: 43, Version: 2,
	Settings: append([]schema.Arg{restartDelay}, schema.Described[siaSettings](source)...),
}, Needs{Trains: true, Batches: true}, newSia, false)

// sia is the state of the order sia.
type sia struct {
	siaSettings
	delay    time.Duration
	restarts []int // number of restarts by job; −1 before its first start
	types    []deviceType
}

// deviceType has the nodes with one type of GPU.
type deviceType struct {
	name    string
	nodes   []int
	perNode int // GPUs of its smallest node
	gpus    int
}

func newSia(s policy.Setup) decider {
	p := &sia{
		delay: s.Policy.Settings.Duration(restartDelay.Name), restarts: slices.Repeat([]int{-1}, len(s.Run.Jobs)),
	}
	s.Policy.Settings.Fill(&p.siaSettings)
	capacity, _ := sizes(s.Run.Cluster)
	for v, n := range s.Run.Cluster.Nodes {
		size := capacity[v]
		if size == 0 {
			continue
		}
		t := slices.IndexFunc(p.types, func(t deviceType) bool { return t.name == n.GPU })
		if t < 0 {
			t = len(p.types)
			p.types = append(p.types, deviceType{name: n.GPU, perNode: size})
		}
		on := &p.types[t]
		on.nodes, on.perNode, on.gpus = append(on.nodes, v), min(on.perNode, size), on.gpus+size
	}
	return p
}

func (*sia) ended(int32) {}

// decide implements decider.
func (l *sia) decide(p *planner, v scheduler.View, jobs []int32) (division.Division, error) {
	options := make([][]division.Configuration, len(jobs))
	for i, j := range jobs {
		run, err := p.training(v, j)
		if err != nil {
			return nil, err
		}
		options[i] = l.options(run, l.held(p.at[j]), l.kept(p.begun(v.Now()), v.Job(j).Job()))
	}
	var gpus []int
	for _, t := range l.types {
		gpus = append(gpus, t.gpus)
	}
	chosen, _, err := division.Choose(options, gpus, l.Unserved)
	if err != nil {
		return nil, err
	}
	target := l.place(p, jobs, options, chosen)
	for i, j := range jobs {
		if division.Total(target[i]) > 0 && !same(target[i], p.at[j]) {
			l.restarts[j]++
		}
	}
	return target, nil
}

// place finds nodes for the chosen configurations.
func (l *sia) place(p *planner, jobs []int32, options [][]division.Configuration, chosen []int) division.Division {
	counts := make([]int, len(jobs))
	for i := range jobs {
		if chosen[i] != division.Nothing {
			counts[i] = options[i][chosen[i]].GPUs
		}
	}
	if p.cores {
		return p.packed(jobs, counts)
	}
	target := make(division.Division, len(jobs))
	for t, on := range l.types {
		wants := make([]division.Want, len(jobs))
		for i, j := range jobs {
			if counts[i] == 0 || options[i][chosen[i]].Type != t {
				continue
			}
			wants[i].GPUs = counts[i]
			if held := l.held(p.at[j]); held.Type == t && held.GPUs == counts[i] {
				wants[i].Held = p.at[j]
			}
		}
		for i, placement := range division.Pack(p.capacity, on.nodes, wants) {
			if placement != nil {
				target[i] = placement
			}
		}
	}
	return target
}

// held returns the configuration of a placement; it has 0 GPUs for a job without GPUs.
func (l *sia) held(placement []int) division.Configuration {
	for t, on := range l.types {
		for _, v := range on.nodes {
			if placement != nil && placement[v] > 0 {
				return division.Configuration{Type: t, GPUs: division.Total(placement)}
			}
		}
	}
	return division.Configuration{}
}

// kept returns the factor that a change of GPUs puts on a running job's goodput. It is smaller for young jobs and for
// jobs that were restarted often.
func (l *sia) kept(now time.Duration, j *scheduler.Job) float64 {
	age := (now - j.Arrival).Seconds()
	if age+l.delay.Seconds() <= 0 {
		return 1
	}
	return max(age-l.delay.Seconds()*float64(max(l.restarts[j.Number], 0)), 0) / (age + l.delay.Seconds())
}

// leastKept is the least factor, so that its negative powers are finite.
const leastKept = 1e-4

// options returns the configurations that a job can get. These have at most twice the GPUs on which it has run, since
// its model is unreliable beyond. Before its first start, one GPU of each type is an option, with equal costs.
func (l *sia) options(run scheduler.Training, held division.Configuration, kept float64) []division.Configuration {
	most := min(max(2*run.MostGPUs(), 1), run.Limit())
	var list []division.Configuration
	var goodputs []float64
	least := math.Inf(1)
	for t, on := range l.types {
		for n := 1; n <= min(most, on.gpus); n = on.next(n) {
			g := run.Goodput(on.name, (n+on.perNode-1)/on.perNode, n)
			if run.MostGPUs() == 0 {
				g = 1
			}
			if g <= 0 {
				continue
			}
			least = min(least, g)
			list, goodputs = append(list, division.Configuration{Type: t, GPUs: n}), append(goodputs, g)
		}
	}
	for i := range list {
		gain := goodputs[i] / least
		if held.GPUs > 0 && list[i] != held {
			gain *= max(kept, leastKept)
		}
		list[i].Cost = math.Pow(gain, l.Fairness)
	}
	return list
}

// next returns the next greater number of GPUs that a job can have: powers of two within a node, then whole nodes.
func (t *deviceType) next(n int) int {
	if n < t.perNode {
		return min(2*n, t.perNode)
	}
	return n + t.perNode
}
