package simulated

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Fleet decides when servers come and go, in virtual time.
type Fleet interface {
	// Acquire requests a server for a node; nil if no more servers are available.
	Acquire(node int, now time.Duration) *scheduler.Server
	Release(node int)
	// From returns the first instant from now on at which a server for a node is available.
	From(node int, now time.Duration) time.Duration
	// Next returns the instant of the next event, or Never. Take appends the events up to now to news.
	Next() time.Duration
	Take(now time.Duration, news []scheduler.Notice) []scheduler.Notice
	// Between returns the mean time until any of the nodes is lost.
	Between(nodes []int) time.Duration
}

// Acquire implements supply.Provider.
func (e *Engine) Acquire(node int) (*scheduler.Server, error) {
	if e.opts.Fleet == nil {
		return nil, fmt.Errorf("simulated: there are no servers to rent")
	}
	return e.opts.Fleet.Acquire(node, e.now), nil
}

// Release implements supply.Provider.
func (e *Engine) Release(node int) error {
	e.opts.Fleet.Release(node)
	return nil
}

// From implements supply.Provider.
func (e *Engine) From(node int, at time.Duration) time.Duration { return e.opts.Fleet.From(node, at) }

// Attempt implements supply.Provider.
func (e *Engine) Attempt(job int) scheduler.Attempt {
	if t := e.at(job); t.phase == running {
		e.advance(job, t)
	}
	return *e.attempt(job)
}

// Move implements supply.Provider. A job that writes checkpoints writes one; its cost is added when the job
// continues.
func (e *Engine) Move(job int) (scheduler.Attempt, error) {
	t := e.at(job)
	if t.phase == running {
		e.halt(job, t)
		t.phase = paused
	}
	if s := e.saving(job); s != nil && t.phase == paused && t.scaled < s.kept {
		cost := e.opts.Checkpoints[job].Cost
		s.kept, s.owed = t.scaled, s.owed+cost
		s.spent += cost
	}
	return e.Revoke(job)
}

// Revoke implements supply.Provider. The job returns to its last checkpoint.
func (e *Engine) Revoke(job int) (scheduler.Attempt, error) {
	t := e.at(job)
	switch t.phase {
	case running:
		e.halt(job, t)
	case paused:
	default:
		return scheduler.Attempt{}, fmt.Errorf("revoke job %d: it has not started, or is over", job)
	}
	var a scheduler.Attempt
	if known := e.attempt(job); known != nil {
		a = *known
	}
	e.leave(job)
	e.apart(job)
	t.phase = idle
	if e.kept == nil {
		e.kept = make([]float64, e.jobs.Len())
	}
	e.kept[job] = 0
	if whole := e.whole(job); whole > 0 {
		e.kept[job] = float64(a.Kept) / float64(whole)
	}
	return a, nil
}

// Reshape implements scheduler.Migrator.
func (e *Engine) Reshape(job int, g scheduler.Grant) error {
	t, err := e.task("reshape", job, running)
	if err != nil {
		return err
	}
	e.halt(job, t)
	e.leave(job)
	e.hold(job, &g)
	e.rescale(job, t, e.workOf(job).Rate(g))
	e.join(job, &g)
	e.run(job, t, g.Cores)
	return nil
}

// again sets a job's remaining work to all work that its last checkpoint does not have.
func (e *Engine) again(job int, t *task) {
	if e.kept == nil {
		return
	}
	e.setOut(job, t, e.workOf(job))
	t.scaled -= time.Duration(math.Round(e.kept[job] * float64(t.scaled)))
	if s := e.saving(job); s != nil {
		t.lead += s.owed
		s.owed = 0
	}
}

// join and leave record on which nodes a job with checkpoints runs, for warnings.
func (e *Engine) join(job int, g *scheduler.Grant) {
	s := e.saving(job)
	if s == nil {
		return
	}
	s.cores = g.Cores
	if e.opts.Fleet == nil {
		return
	}
	s.nodes = e.nodesOf(*g)
	s.lead = s.nodes
	if len(e.jobs.At(job).Roles()) > 0 {
		s.lead = []int{g.Layout.Parts[cluster.Lead(g.Layout.Parts)].Node}
	}
	for _, v := range s.nodes {
		e.onNode[v] = append(e.onNode[v], int32(job))
	}
}

func (e *Engine) leave(job int) {
	s := e.saving(job)
	if s == nil {
		return
	}
	for _, v := range s.nodes {
		if i := slices.Index(e.onNode[v], int32(job)); i >= 0 {
			e.onNode[v] = slices.Delete(e.onNode[v], i, i+1)
		}
	}
	s.nodes = nil
}

// nodesOf returns the nodes of a grant, each once.
func (e *Engine) nodesOf(g scheduler.Grant) []int {
	var nodes []int
	for _, p := range g.Parts(e.opts.Cluster) {
		if !slices.Contains(nodes, p.Node) {
			nodes = append(nodes, p.Node)
		}
	}
	return nodes
}

// vital returns the nodes of a grant without which the job cannot continue.
func (e *Engine) vital(job int, g scheduler.Grant) []int {
	nodes := e.nodesOf(g)
	if g.Layout == nil {
		return nodes
	}
	return slices.DeleteFunc(nodes, func(v int) bool { return e.jobs.At(job).Survives(g.Layout.Parts, v) })
}

// takeNodes handles the events on nodes up to now. A job on a warned node writes a checkpoint at once, if there is
// time for it. If its leading part is on the node, the attempt then ends, as for a program that obeys SIGTERM.
func (e *Engine) takeNodes() {
	begin := len(e.news)
	e.news = e.opts.Fleet.Take(e.now, e.news)
	for _, n := range e.news[begin:] {
		if n.Kind != scheduler.NodeWarned {
			continue
		}
		for _, j := range slices.Clone(e.onNode[n.Node]) {
			job := int(j)
			t, s, cost := e.at(job), e.saving(job), e.opts.Checkpoints[job].Cost
			if t.phase != running || cost > n.Until-n.At {
				continue
			}
			if slices.Contains(s.lead, n.Node) {
				if a, err := e.Move(job); err == nil {
					e.news = append(e.news, scheduler.Notice{Kind: scheduler.JobEnded, Job: job, At: e.now, State: scheduler.Stopped,
						Reason: "its server is taken away", Revoked: true, Node: n.Node, Attempt: &a})
				}
				continue
			}
			e.halt(job, t)
			if s.writing == 0 && t.lead == 0 && t.scaled < s.kept {
				s.writing, s.left = cost, s.every
			}
			e.run(job, t, s.cores)
		}
	}
}

// nextNode returns the instant of the next event on a node.
func (e *Engine) nextNode() time.Duration {
	if e.opts.Fleet == nil {
		return scheduler.Never
	}
	return e.opts.Fleet.Next()
}
