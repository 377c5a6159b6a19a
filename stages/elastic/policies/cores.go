package policies

import (
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages/elastic/division"
)

// onCoresDoc ends the entry of an order in the reference.
const onCoresDoc = "on hardware without GPUs, simulated or real, it divides the cores among malleable jobs, by their " +
	"predicted run times on them"

// sizes returns the divided resource by node: GPUs, or cores if the cluster has no GPUs.
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

// onCores is the known speed of a malleable job, which runs on any number of cores of one node: its predicted run
// times. They come from samples or from the file, so the job need not have run on a number of cores.
type onCores struct {
	scheduler.JobView
	outlook scheduler.ProgressModel
	perNode int
}

// perSecond is a step of such a job: its work in one second of run time on its request.
const perSecond = time.Second

// Goodput implements scheduler.Training: steps a second. More than one node is of no use.
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

// training returns the speed of a job as a function of the divided resource.
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

// resized reports whether a running job keeps its node, and gets another number of its cores.
func (p *planner) resized(view scheduler.JobView, placement []int) bool {
	had, has := firstOf(p.at[view.Job().Number]), firstOf(placement)
	return p.cores && p.trains && view.Job().Malleable && had >= 0 && had == has
}

// grows reports whether that is a greater number.
func (p *planner) grows(view scheduler.JobView, placement []int) bool {
	return p.resized(view, placement) && division.Total(placement) > division.Total(p.at[view.Job().Number])
}

// firstOf returns the first node of a placement; -1 for none.
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

// packed places jobs with the given numbers of cores. A job stays on its node if there is room and the other jobs
// still fit.
func (p *planner) packed(jobs []int32, counts []int) division.Division {
	wants, room := make([]division.Want, len(jobs)), slices.Clone(p.capacity)
	for _, grows := range []bool{false, true} { // there is always room for those that shrink
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

// onOneNode reduces each job to its share of the node where it has most, as its program runs on one node.
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

// startOn starts or resumes a malleable job with cores of a node. If the node has no room for it (it lacks memory, or
// the job is bound to another node), it gets the same number of cores of a node that has room, or the least number that
// it can start with; otherwise it waits.
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
