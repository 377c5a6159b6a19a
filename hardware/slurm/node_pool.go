//go:build unix

package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/slurmcmd"
	"github.com/tfexp/tfexp/scheduler/supply"
)

// nodePool has the allocations of a hardware: one for its nodes, and later ones that replace lost nodes.
type nodePool struct {
	session *session
	hw      *engine.Hardware
	set     *settings
	ctx     context.Context // done when the pool is closed
	stop    context.CancelFunc
	jobs    sync.WaitGroup // the goroutines of the pool
	kick    chan struct{}  // has an element if the controller should be asked at once
	due     chan struct{}  // has an element if a deadline was moved to an earlier time

	losing sync.Mutex // held while removeNodes runs

	mu      sync.Mutex // guards the fields below
	slots   []nodeSlot // by index of the node in the hardware
	allocs  []*allocation
	checked bool
	user    *Engine // receives the events of nodes; nil between cells
	refused error   // why Slurm refused the last request
	looks   int     // number of answers from the controller
}

// nodeSlot is a node of the hardware, and the node of the cluster that is assigned to it.
type nodeSlot struct {
	state slotState
	alloc *allocation // nil if no allocation is requested
	name  string      // name of the node in the cluster
	cpus  []int       // core numbers on that node
	gpus  []string    // the names by which programs select GPUs
	// drains is when tfexp gives up a node that is being drained; zero for other nodes.
	drains time.Time
}

type slotState uint8

const (
	slotAbsent    slotState = iota
	slotRequested           // an allocation with the node is requested
	slotUp
	slotWarned // jobs were warned: the node will be taken away
)

func newNodePool(s *session, hw *engine.Hardware) *nodePool {
	p := &nodePool{session: s, hw: hw, set: settingsOf(hw), slots: make([]nodeSlot, len(hw.Cluster.Nodes)),
		kick: make(chan struct{}, 1),
		due:  make(chan struct{}, 1)}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.jobs.Go(p.watch)
	return p
}

// awaitNodes waits until all nodes of the hardware are available, and last long enough for a new cell to begin.
func (p *nodePool) awaitNodes(ctx context.Context) error {
	p.mu.Lock()
	// An allocation that ends soon would end the jobs of the cell, so give it back.
	var old []*allocation
	for _, a := range p.allocs {
		if !a.gone && !a.until.IsZero() && time.Until(a.until) < p.set.Notice+time.Second && !a.joined {
			old = append(old, a)
		}
	}
	p.mu.Unlock()
	for _, a := range old {
		p.endAllocation(a, true)
	}
	if err := p.requestNodes(ctx, p.nodes(func(s *nodeSlot) bool { return s.state == slotAbsent })); err != nil {
		return err
	}
	for {
		p.mu.Lock()
		whole := !slices.ContainsFunc(p.slots, func(s nodeSlot) bool { return s.state != slotUp })
		refused := p.refused
		p.refused = nil
		p.mu.Unlock()
		if refused != nil {
			return refused
		}
		if whole {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// requestNodes requests one allocation for each group of nodes of the same size.
func (p *nodePool) requestNodes(ctx context.Context, nodes []int) error {
	if len(nodes) == 0 {
		return nil
	}
	if err := p.check(ctx); err != nil {
		return err
	}
	if p.set.Joined != "" {
		return p.joinAllocation(ctx)
	}
	for len(nodes) > 0 {
		size := p.hw.Cluster.Nodes[nodes[0]]
		size.Name = ""
		var same, others []int
		for _, v := range nodes {
			n := p.hw.Cluster.Nodes[v]
			if n.Name = ""; n == size {
				same = append(same, v)
			} else {
				others = append(others, v)
			}
		}
		nodes = others
		if err := p.submit(same); err != nil {
			return err
		}
	}
	return nil
}

// requestFor returns the request of an allocation for nodes of the same size.
func (p *nodePool) requestFor(nodes []int) Request {
	n := p.hw.Cluster.Nodes[nodes[0]]
	r := Request{
		Name: "tfexp-" + p.hw.Name, Partition: p.set.Partition, Account: p.set.Account, QOS: p.set.QOS,
		Constraint: p.set.Constraint, GRES: p.set.GRES, Nodes: len(nodes), Threads: n.Threads, Memory: n.Memory,
		Time: p.set.Time, Whole: true, More: p.set.More,
	}
	if r.GRES == "" && n.GPUs > 0 {
		r.GRES = fmt.Sprintf("gpu:%d", n.GPUs)
		if n.GPU != "" {
			r.GRES = fmt.Sprintf("gpu:%s:%d", n.GPU, n.GPUs)
		}
	}
	return r
}

// check checks, at the first call only, whether the cluster can grant the request for all nodes.
func (p *nodePool) check(ctx context.Context) error {
	p.mu.Lock()
	checked := p.checked
	p.checked = true
	p.mu.Unlock()
	if checked {
		return nil
	}
	if p.set.Joined != "" {
		if err := slurmcmd.Missing(); err != nil {
			return UnavailableError(err, slurmcmd.MissingHint)
		}
		return nil
	}
	r := p.requestFor(p.nodes(func(*nodeSlot) bool { return true }))
	err := CheckRequest(ctx, r)
	if err == nil {
		err = CheckSharedFolder(ctx, r, p.session.run.Dir, "", SharedFolderPatience)
	}
	if errors.Is(err, ErrBusy) { // the nodes of the granted allocation check the folder
		return nil
	}
	return WithHint(err)
}

// watch asks the controller about the allocations and their nodes, regularly and when kick has an element.
func (p *nodePool) watch() {
	next := time.Now().Add(RandomizeDuration(p.set.Watch))
	for {
		wait := max(time.Until(next), 0)
		p.mu.Lock()
		for _, at := range p.deadlines() {
			wait = min(wait, max(time.Until(at), 0))
		}
		p.mu.Unlock()
		select {
		case <-p.ctx.Done():
			return
		case <-p.kick:
			next = time.Time{}
		case <-p.due:
		case <-time.After(wait):
		}
		p.runDeadlines()
		p.mu.Lock()
		idle := p.user == nil
		p.mu.Unlock()
		if idle || time.Now().Before(next) {
			continue
		}
		if p.poll(p.ctx) {
			p.mu.Lock()
			p.looks++
			p.mu.Unlock()
		}
		next = time.Now().Add(RandomizeDuration(p.set.Watch))
	}
}

// removeNodes takes nodes away from the hardware, and ends the programs on them. It skips nodes that were removed
// before.
func (p *nodePool) removeNodes(nodes []int) {
	p.losing.Lock()
	defer p.losing.Unlock()
	p.mu.Lock()
	user := p.user
	nodes = slices.DeleteFunc(slices.Clone(nodes), func(v int) bool {
		return !p.slots[v].usable()
	})
	p.mu.Unlock()
	if user != nil {
		for _, v := range nodes {
			user.Take(v)
		}
	}
	p.mu.Lock()
	for _, v := range nodes {
		p.slots[v] = nodeSlot{}
	}
	p.mu.Unlock()
	if user != nil {
		user.lost(nodes)
	}
}

// pollNow has watch ask the controller at once. It waits until the controller has answered or until returns true.
func (p *nodePool) pollNow(ctx context.Context, until func() bool) {
	p.mu.Lock()
	before := p.looks
	p.mu.Unlock()
	for began := time.Now(); time.Since(began) < DefaultPatience; {
		select {
		case p.kick <- struct{}{}:
		default:
		}
		for range 50 {
			p.mu.Lock()
			answered := p.looks > before
			p.mu.Unlock()
			if answered || until() || ctx.Err() != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// setEngine sets the engine that receives the events of nodes, or none if e is nil.
func (p *nodePool) setEngine(e *Engine) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.user = e
}

// pendingNodes returns the number of nodes that are requested or will be taken away.
func (p *nodePool) pendingNodes() int {
	return len(p.nodes(func(s *nodeSlot) bool { return s.state == slotRequested || s.state == slotWarned }))
}

// nodes returns the indexes of the nodes for which is returns true.
func (p *nodePool) nodes(is func(*nodeSlot) bool) []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.nodesLocked(is)
}

// nodesLocked does the same as nodes. mu must be held.
func (p *nodePool) nodesLocked(is func(*nodeSlot) bool) (nodes []int) {
	for v := range p.slots {
		if is(&p.slots[v]) {
			nodes = append(nodes, v)
		}
	}
	return nodes
}

// usable reports whether programs can run on the node.
func (s *nodeSlot) usable() bool { return s.state == slotUp || s.state == slotWarned }

// slotOf returns a copy of the slot of node v. ok is false if there is no such node.
func (p *nodePool) slotOf(v int) (nodeSlot, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if v < 0 || v >= len(p.slots) {
		return nodeSlot{}, false
	}
	s := p.slots[v]
	return s, s.usable()
}

// close gives back all allocations that tfexp has submitted.
func (p *nodePool) close() error {
	p.stop()
	p.mu.Lock()
	all := slices.Clone(p.allocs)
	p.mu.Unlock()
	errs := schema.Each(all, func(a *allocation) error { return a.release() })
	p.jobs.Wait()
	return errors.Join(errs...)
}

var _ supply.Provider = (*Engine)(nil)
