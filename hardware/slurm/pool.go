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

// pool is the part of the cluster that a hardware has: an allocation for its nodes, and further allocations that
// replace lost nodes.
type pool struct {
	site *site
	hw   *engine.Hardware
	set  *settings
	ctx  context.Context // done when the pool is closed
	stop context.CancelFunc
	jobs sync.WaitGroup // goroutines
	kick chan struct{}  // has an element when the cluster is to be looked at at once
	due  chan struct{}  // has an element when an allocation or a node is to be given up sooner than was known

	losing sync.Mutex // held while nodes are taken away

	mu      sync.Mutex // guards what follows
	slots   []slot     // by node of the hardware
	allocs  []*allocation
	checked bool
	user    *Engine // the receiver of events of nodes; nil between cells
	refused error   // why Slurm gives no allocation
	looks   int     // how often the controller has answered
}

// slot is the place of a node of the hardware.
type slot struct {
	state slotState
	alloc *allocation // nil without an allocation
	name  string      // the node's, in Slurm
	cpus  []int       // the node's numbers of its cores
	gpus  []string    // as programs name them
	// drains is when a node that is being drained is given up; zero for others.
	drains time.Time
}

type slotState uint8

const (
	absent slotState = iota
	asked            // an allocation is submitted
	up
	warned // it will be taken away
)

func newPool(s *site, hw *engine.Hardware) *pool {
	p := &pool{site: s, hw: hw, set: of(hw), slots: make([]slot, len(hw.Cluster.Nodes)), kick: make(chan struct{}, 1),
		due: make(chan struct{}, 1)}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.jobs.Go(p.watch)
	return p
}

// ready waits until all nodes are there for a while, for a new cell.
func (p *pool) ready(ctx context.Context) error {
	p.mu.Lock()
	// An allocation that is about to end would take the cell's jobs with it.
	var old []*allocation
	for _, a := range p.allocs {
		if !a.gone && !a.until.IsZero() && time.Until(a.until) < p.set.Notice+time.Second && !a.joined {
			old = append(old, a)
		}
	}
	p.mu.Unlock()
	for _, a := range old {
		p.end(a, true)
	}
	if err := p.ask(ctx, p.nodes(func(s *slot) bool { return s.state == absent })); err != nil {
		return err
	}
	for {
		p.mu.Lock()
		whole := !slices.ContainsFunc(p.slots, func(s slot) bool { return s.state != up })
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

// ask asks for allocations for nodes: one for all of the same size.
func (p *pool) ask(ctx context.Context, nodes []int) error {
	if len(nodes) == 0 {
		return nil
	}
	if err := p.check(ctx); err != nil {
		return err
	}
	if p.set.Joined != "" {
		return p.join(ctx)
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

// request is the allocation for nodes of the same size.
func (p *pool) request(nodes []int) Request {
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

// check finds out, once, whether the cluster can grant the request.
func (p *pool) check(ctx context.Context) error {
	p.mu.Lock()
	checked := p.checked
	p.checked = true
	p.mu.Unlock()
	if checked {
		return nil
	}
	if p.set.Joined != "" {
		if err := slurmcmd.Missing(); err != nil {
			return Unavailable(err, slurmcmd.MissingHint)
		}
		return nil
	}
	r := p.request(p.nodes(func(*slot) bool { return true }))
	err := CheckClient(ctx, r)
	if err == nil {
		err = CheckShared(ctx, r, p.site.run.Dir, "", SharedFolderPatience)
	}
	if errors.Is(err, ErrBusy) { // the nodes of the allocation will look
		return nil
	}
	return Explained(err)
}

// watch looks at the allocations and their nodes, regularly and on request.
func (p *pool) watch() {
	next := time.Now().Add(Jitter(p.set.Watch))
	for {
		wait := max(time.Until(next), 0)
		p.mu.Lock()
		for _, at := range p.alarms() {
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
		p.clock()
		p.mu.Lock()
		idle := p.user == nil
		p.mu.Unlock()
		if idle || time.Now().Before(next) {
			continue
		}
		if p.look(p.ctx) {
			p.mu.Lock()
			p.looks++
			p.mu.Unlock()
		}
		next = time.Now().Add(Jitter(p.set.Watch))
	}
}

// alarms are the instants at which allocations or nodes are to be warned or given up. mu must be held.
func (p *pool) alarms() (at []time.Time) {
	for _, a := range p.allocs {
		switch {
		case a.gone || a.until.IsZero():
		case a.told:
			at = append(at, a.until)
		default:
			at = append(at, a.until.Add(-p.set.Notice))
		}
	}
	for v := range p.slots {
		if d := p.slots[v].drains; !d.IsZero() {
			at = append(at, d)
		}
	}
	return at
}

// clock carries out events that are due: notices, and the end of allocations and of drained nodes.
func (p *pool) clock() {
	now := time.Now()
	p.mu.Lock()
	var over []*allocation
	for _, a := range p.allocs {
		switch {
		case a.gone || a.until.IsZero():
		case !now.Before(a.until):
			over = append(over, a)
		default:
			p.tell(a)
		}
	}
	drained := p.those(func(s *slot) bool { return !s.drains.IsZero() && !now.Before(s.drains) })
	p.mu.Unlock()
	for _, a := range over {
		p.end(a, true)
	}
	if len(drained) > 0 {
		p.lose(drained)
	}
}

// tell gives notice, near the end of an allocation, that all its nodes will be taken away. mu must be held.
func (p *pool) tell(a *allocation) {
	if a.told || a.until.IsZero() || time.Until(a.until) > p.set.Notice {
		return
	}
	a.told = true
	for v := range p.slots {
		if p.slots[v].alloc == a {
			p.warn(v, a.until)
		}
	}
}

// warn says that a node will be taken away at an instant. mu must be held.
func (p *pool) warn(v int, until time.Time) {
	if p.slots[v].state != up {
		return
	}
	p.slots[v].state = warned
	if p.user != nil {
		p.user.warned(v, until)
	}
}

// leave gives nodes up early: an allocation whose nodes are all vacant, and nodes that are being drained. The next
// allocation is then available sooner.
func (p *pool) leave(vacant []int) {
	if len(vacant) == 0 {
		return
	}
	now, early := time.Now(), false
	p.mu.Lock()
	for v := range p.slots {
		if s := &p.slots[v]; !s.drains.IsZero() && s.drains.After(now) && slices.Contains(vacant, v) {
			s.drains, early = now, true
		}
	}
	for _, a := range p.allocs {
		used := func(v int) bool { return p.slots[v].alloc == a && !slices.Contains(vacant, v) }
		if a.told && !a.gone && a.until.After(now) && !slices.ContainsFunc(a.nodes, used) {
			a.until, early = now, true
		}
	}
	p.mu.Unlock()
	if early {
		select {
		case p.due <- struct{}{}:
		default:
		}
	}
}

// lose takes away nodes, and the programs on them. It skips nodes that are already gone.
func (p *pool) lose(nodes []int) {
	p.losing.Lock()
	defer p.losing.Unlock()
	p.mu.Lock()
	user := p.user
	nodes = slices.DeleteFunc(slices.Clone(nodes), func(v int) bool {
		return !p.slots[v].here()
	})
	p.mu.Unlock()
	if user != nil {
		for _, v := range nodes {
			user.Take(v)
		}
	}
	p.mu.Lock()
	for _, v := range nodes {
		p.slots[v] = slot{}
	}
	p.mu.Unlock()
	if user != nil {
		user.lost(nodes)
	}
}

// glance has the controller asked at once, and waits until it has answered or until is true.
func (p *pool) glance(ctx context.Context, until func() bool) {
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

// acquire is asked for a server for a node. nil: there will be none.
func (p *pool) acquire(v int) error {
	p.mu.Lock()
	state := p.slots[v].state
	p.mu.Unlock()
	switch {
	case state != absent:
		return nil // it is there, or it comes
	case p.set.Joined != "":
		return errJoined
	}
	p.mu.Lock()
	p.slots[v].state = asked
	p.mu.Unlock()
	// Nodes that were lost together are requested together.
	time.AfterFunc(gather, func() { p.again() })
	return nil
}

// errJoined is why a node that was lost is not replaced.
var errJoined = errors.New("tfexp runs in the allocation that lost the node")

// gather is how long nodes are gathered that were lost at about the same time.
const gather = 200 * time.Millisecond

// again submits an allocation for the nodes that are asked for and have none.
func (p *pool) again() {
	nodes := p.nodes(func(s *slot) bool { return s.state == asked && s.alloc == nil })
	if p.ctx.Err() != nil || len(nodes) == 0 {
		return
	}
	if err := p.ask(p.ctx, nodes); err != nil {
		p.refuse(nodes, err)
	}
}

// refuse notes that nodes cannot be had.
func (p *pool) refuse(nodes []int, err error) {
	p.mu.Lock()
	for _, v := range nodes {
		p.slots[v] = slot{}
	}
	p.refused = Explained(err)
	user := p.user
	p.mu.Unlock()
	if user != nil {
		user.Break(Explained(fmt.Errorf("Slurm grants no other allocation: %w", err)))
	}
}

// use sets the engine that receives the events of nodes; nil for no engine.
func (p *pool) use(e *Engine) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.user = e
}

// coming counts the nodes that are requested, or are about to go.
func (p *pool) coming() int {
	return len(p.nodes(func(s *slot) bool { return s.state == asked || s.state == warned }))
}

// nodes returns the nodes for which is returns true.
func (p *pool) nodes(is func(*slot) bool) []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.those(is)
}

// those is nodes for callers that hold the lock.
func (p *pool) those(is func(*slot) bool) (nodes []int) {
	for v := range p.slots {
		if is(&p.slots[v]) {
			nodes = append(nodes, v)
		}
	}
	return nodes
}

// here reports whether the node can be used.
func (s *slot) here() bool { return s.state == up || s.state == warned }

// place returns where a node is; ok is false for one that is not there.
func (p *pool) place(v int) (slot, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if v < 0 || v >= len(p.slots) {
		return slot{}, false
	}
	s := p.slots[v]
	return s, s.here()
}

// close ends all allocations that were submitted.
func (p *pool) close() error {
	p.stop()
	p.mu.Lock()
	all := slices.Clone(p.allocs)
	p.mu.Unlock()
	errs := schema.Each(all, func(a *allocation) error { return a.release() })
	p.jobs.Wait()
	return errors.Join(errs...)
}

var _ supply.Provider = (*Engine)(nil)
