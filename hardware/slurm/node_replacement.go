//go:build unix

package slurm

import (
	"errors"
	"fmt"
	"time"
)

// acquire requests the node v if it is absent. It returns errJoined if the node cannot be replaced.
func (p *nodePool) acquire(v int) error {
	p.mu.Lock()
	state := p.slots[v].state
	p.mu.Unlock()
	switch {
	case state != slotAbsent:
		return nil // the node is available, or already requested
	case p.set.Joined != "":
		return errJoined
	}
	p.mu.Lock()
	p.slots[v].state = slotRequested
	p.mu.Unlock()
	// Nodes that were lost together are requested together, after gatherTime.
	time.AfterFunc(gatherTime, func() { p.requestReplacements() })
	return nil
}

// errJoined is the error for a lost node of the allocation that tfexp runs in. tfexp cannot replace such a node.
var errJoined = errors.New("tfexp runs in the allocation that lost the node")

// gatherTime is how long tfexp waits for further lost nodes before it requests replacements for all of them.
const gatherTime = 200 * time.Millisecond

// requestReplacements submits an allocation for the nodes that the scheduler has requested since the last one.
func (p *nodePool) requestReplacements() {
	nodes := p.nodes(func(s *nodeSlot) bool { return s.state == slotRequested && s.alloc == nil })
	if p.ctx.Err() != nil || len(nodes) == 0 {
		return
	}
	if err := p.requestNodes(p.ctx, nodes); err != nil {
		p.refuseNodes(nodes, err)
	}
}

// refuseNodes marks requested nodes as absent again, and stops the engine with an error.
func (p *nodePool) refuseNodes(nodes []int, err error) {
	p.mu.Lock()
	for _, v := range nodes {
		p.slots[v] = nodeSlot{}
	}
	p.refused = WithHint(err)
	user := p.user
	p.mu.Unlock()
	if user != nil {
		user.Break(WithHint(fmt.Errorf("lost nodes got no replacement from Slurm: %w", err)))
	}
}
