package policies

import (
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages/elastic/division"
)

// onCoresDoc is the end of an order's description in the reference.
const onCoresDoc = "; without GPUs, cores are divided among malleable jobs by their " +
	"predicted run times"

// sizes returns the units of the divided resource by node: GPUs, or cores if the cluster has no GPUs.
func sizes(c scheduler.Cluster) (capacity []int, cores bool) {
	cores = !slices.ContainsFunc(c.Nodes, func(n scheduler.Node) bool { return n.GPUs > 0 })
	for _, n := range c.Nodes {
		size := n.GPUs
		if cores {
			size = n.Threads
		}
		capacity = append(capacity, size)
	}
	return capacity, cores
}

// onCores is the speed of a malleable job, which can have any number of cores of one node. The speed follows from
// predicted run times, so the job need not have run on this number of cores.
type onCores struct {
	scheduler.JobView
	outlook scheduler.ProgressModel
	perNode int
}

// perSecond is the length of a step of such a job: the work of one second on its request.
const perSecond = time.Second

// Goodput implements scheduler.Training. It returns the steps per second; further nodes do not help.
func (t onCores) Goodput(_ string, nodes, cores int) float64 {
	if nodes != 1 || cores < 1 {
		return 0
	}
	return 1 / t.StepTime(cores, 0)
}

// MostGPUs implements scheduler.Training.
func (t onCores) MostGPUs() int { return t.Limit() }

// Limit implements scheduler.Training.
func (t onCores) Limit() int { return max(min(max(t.Job().MaxThreads, t.Job().Threads), t.perNode), 1) }

// StepTime implements scheduler.Training.
func (t onCores) StepTime(cores, _ int) float64 {
	return max(t.outlook.Predict(t.Job(), perSecond, cores), 1).Seconds()
}

// Steps implements scheduler.Training.
func (t onCores) Steps() float64 { return max(float64(t.Remaining())/float64(perSecond), 1) }

// training returns the speed of a job by its units of the divided resource.
func (p *planner) training(v scheduler.View, j int32) (scheduler.Training, error) {
	view := v.Job(j)
	if t := view.Training(); t != nil {
		return t, nil
	}
	if p.cores && view.Predicted() > 0 {
		t := onCores{view, p.Run.ProgressModel, p.perNode}
		if t.outlook == nil {
			t.outlook = scheduler.Proportional{}
		}
		return t, nil
	}
	return nil, fmt.Errorf("policy: the speed of job %q on other numbers of %ss is unknown",
		view.Job().Name, p.device())
}

// resized reports whether a running job stays on its node with another number of cores.
func (p *planner) resized(view scheduler.JobView, placement []int) bool {
	had, has := firstOf(p.at[view.Job().Number]), firstOf(placement)
	return p.cores && p.trains && view.Job().Malleable && had >= 0 && had == has
}

// grows reports whether a running job gets more cores than it has.
func (p *planner) grows(view scheduler.JobView, placement []int) bool {
	return p.resized(view, placement) && division.Total(placement) > division.Total(p.at[view.Job().Number])
}

// firstOf returns the first node of a placement; −1 if it has no node.
func firstOf(placement []int) int {
	return slices.IndexFunc(placement, func(n int) bool { return n > 0 })
}

func (p *planner) nodes() []int {
	nodes := make([]int, len(p.capacity))
	for v := range nodes {
		nodes[v] = v
	}
	return nodes
}

// packed places jobs with the given numbers of cores. A job stays on its node if that has room, and if the other jobs
// still fit.
func (p *planner) packed(jobs []int32, counts []int) division.Division {
	wants, room := make([]division.Want, len(jobs)), slices.Clone(p.capacity)
	for _, grows := range []bool{false, true} { // first jobs that shrink, for which there is always room
		for i, j := range jobs {
			wants[i].GPUs = counts[i]
			node := firstOf(p.at[j])
			if node < 0 || counts[i] == 0 || counts[i] > room[node] || counts[i] > division.Total(p.at[j]) != grows {
				continue
			}
			wants[i].Held = make([]int, len(room))
			wants[i].Held[node] = counts[i]
			room[node] -= counts[i]
		}
	}
	return division.Pack(p.capacity, p.nodes(), wants)
}

// onOneNode reduces a job on several nodes to its cores on the node where it has the most, since its program runs on
// one node.
func onOneNode(d division.Division) {
	for i, placement := range d {
		if division.Total(placement) == 0 {
			continue
		}
		most := slices.Index(placement, slices.Max(placement))
		d[i] = make([]int, len(placement))
		d[i][most] = placement[most]
	}
}

// startOn starts or resumes a malleable job with cores of a node. If the node has no room for it (memory is missing, or
// the job is bound to another node), it gets the same number of cores on another node, or the least number with which
// it can start. Otherwise it waits.
func (p *planner) startOn(v scheduler.View, h scheduler.Actions, j int32, placement []int, why string) error {
	view, cores := v.Job(j), int32(division.Total(placement))
	node := int32(slices.Index(placement, int(cores)))
	nodes := []int32{node}
	if _, ok := view.NeedOn(node, cores); !ok || !view.HeldBy(v.Machine().Free(), cores, nodes) {
		if nodes, ok = view.Fits(cores); !ok {
			cores = 1
			nodes, ok = view.Fits(cores)
		}
		p.at[j] = nil
		if !ok {
			return nil
		}
		p.at[j] = make([]int, len(p.capacity))
		p.at[j][nodes[0]] = int(cores)
	}
	return h.Start(j, cores, nodes, why)
}
