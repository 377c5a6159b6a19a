package docker

import (
	"context"
	"sync"
	"sync/atomic"
)

// daemonNode is a daemon with its cores.
type daemonNode struct {
	Node
	first, firstGPU int         // numbers of its first core and GPU in the cluster
	away            atomic.Bool // it did not come back when it was waited for

	base   context.Context
	mu     sync.Mutex // guards what follows
	up     context.Context
	cancel context.CancelFunc // ends up, and with it every wait for the daemon
}

func newDaemonNode(ctx context.Context, n Node, first, firstGPU int) *daemonNode {
	h := &daemonNode{Node: n, first: first, firstGPU: firstGPU, base: ctx}
	h.up, h.cancel = context.WithCancel(ctx)
	return h
}

// callContext is the context of calls that last: it ends when the daemon is found
// not to answer, which a connection alone may never show.
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

// awaitDaemon waits for a daemon that went away, and reports whether it has come back.
// It does not wait again for a daemon that has stayed away before.
func (e *Engine) awaitDaemon(n *daemonNode) bool {
	if n.away.Load() {
		n.away.Store(!n.Host.Alive(e.ctx))
	} else {
		n.away.Store(!n.Host.AwaitReturn(e.ctx, e.opts.Patience))
	}
	return !n.away.Load()
}
