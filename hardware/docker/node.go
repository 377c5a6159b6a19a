package docker

import (
	"context"
	"sync"
	"sync/atomic"
)

// daemonNode is a daemon and its cores.
type daemonNode struct {
	Node
	first, firstGPU int         // cluster numbers of its first core and GPU
	away            atomic.Bool // it did not come back when the engine waited for it

	base   context.Context
	mu     sync.Mutex // guards the fields below
	up     context.Context
	cancel context.CancelFunc // ends up and all waits for the daemon
}

func newDaemonNode(ctx context.Context, n Node, first, firstGPU int) *daemonNode {
	h := &daemonNode{Node: n, first: first, firstGPU: firstGPU, base: ctx}
	h.up, h.cancel = context.WithCancel(ctx)
	return h
}

// callContext returns a context for calls that take long. It ends when the daemon is found not to answer, which the
// connection alone may not show.
func (n *daemonNode) callContext() context.Context {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.up
}

// cancelCalls ends all waits for the daemon.
func (n *daemonNode) cancelCalls() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cancel()
	n.up, n.cancel = context.WithCancel(n.base)
}

// awaitDaemon waits for a daemon that has gone away, and reports whether it has come back. It does not wait a second
// time.
func (e *Engine) awaitDaemon(n *daemonNode) bool {
	if n.away.Load() {
		n.away.Store(!n.Host.Alive(e.ctx))
	} else {
		n.away.Store(!n.Host.AwaitReturn(e.ctx, e.opts.Patience))
	}
	return !n.away.Load()
}
