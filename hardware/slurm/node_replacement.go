//go:build unix

package slurm

import (
	"errors"
	"fmt"
	"time"
)

// acquire is asked for a server for a node. nil: there will be none.
func (p *nodePool) acquire(v int) error {
	p.mu.Lock()
	state := p.slots[v].state
	p.mu.Unlock()
	switch {
	case state != slotAbsent:
		return nil // the node is available, or requested
	case p.set.Joined != "":
		return errJoined
	}
	p.mu.Lock()
	p.slots[v].state = slotRequested
	p.mu.Unlock()
	// Nodes that were lost together are requested together.
	time.AfterFunc(gatherTime, func() { p.requestReplacements() })
	return nil
}

// errJoined is the error for a lost node of the allocation that tfexp runs in: it cannot be replaced.
var errJoined = errors.New("tfexp runs in the allocation that lost the node")

// gatherTime is how long tfexp waits for further lost nodes before it requests replacements for all of them.
const gatherTime = 200 * time.Millisecond

// requestReplacements submits an allocation for the nodes that are asked for and have none.
func (p *nodePool) requestReplacements() {
	nodes := p.nodes(func(s *nodeSlot) bool { return s.state == slotRequested && s.alloc == nil })
	if p.ctx.Err() != nil || len(nodes) == 0 {
		return
	}
	if err := p.requestNodes(p.ctx, nodes); err != nil {
		p.refuseNodes(nodes, err)
	}
}

// refuseNodes records that requested nodes are not available.
func (p *nodePool) refuseNodes(nodes []int, err error) {
	p.mu.Lock()
	for _, v := range nodes {
		p.slots[v] = nodeSlot{}
	}
	p.refused = WithHint(err)
	user := p.user
	p.mu.Unlock()
	if user != nil {
		user.Break(WithHint(fmt.Errorf("no other allocation is granted by Slurm: %w", err)))
	}
}
