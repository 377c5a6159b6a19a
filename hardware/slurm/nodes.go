//go:build unix

package slurm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// nodeState is the state of a node in the scheduler's view. It is nodeAway before the scheduler requests the node, and
// after its loss.
type nodeState uint8

const (
	nodeAway nodeState = iota
	nodeWanted
	nodeUp
	nodeLeaving // the scheduler was warned of the loss of the node
)

// Acquire implements supply.Provider. It reports the node as available if the allocation has it, and requests a
// replacement for a lost node.
func (e *Engine) Acquire(node int) (*scheduler.Server, error) {
	err := e.pool.acquire(node)
	if errors.Is(err, errJoined) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	if e.nodes[node] == nodeAway {
		e.nodes[node] = nodeWanted
	}
	e.mu.Unlock()
	if s, ok := e.pool.slotOf(node); ok && s.state == slotUp {
		e.cameUp(node)
	}
	return &scheduler.Server{Created: e.Now(), Market: kindName, Elsewhere: true}, nil
}

// Release implements supply.Provider. It does nothing: the allocation stays for the next cell.
func (e *Engine) Release(int) error { return nil }

// cameUp notifies the scheduler that a node is available.
func (e *Engine) cameUp(node int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.nodes[node] == nodeWanted {
		e.nodes[node] = nodeUp
		e.Notice(scheduler.Notice{Kind: scheduler.NodeUp, Node: node, At: e.Now()})
	}
}

// warned notifies the scheduler that a node will be taken away at a time, and warns the steps on the node.
func (e *Engine) warned(node int, until time.Time) {
	e.mu.Lock()
	here := e.nodes[node] == nodeUp
	e.mu.Unlock()
	if !here {
		return
	}
	at := until.Sub(e.Zero())
	e.Notice(scheduler.Notice{Kind: scheduler.NodeWarned, Node: node, At: e.Now(), Until: at})
	e.Warn(node, at)
}

// lost notifies the scheduler that nodes are gone.
func (e *Engine) lost(nodes []int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, v := range nodes {
		if e.nodes[v] == nodeUp || e.nodes[v] == nodeLeaving {
			e.Notice(scheduler.Notice{Kind: scheduler.NodeDown, Node: v, At: e.Now()})
		}
		e.nodes[v] = nodeAway
	}
}

// bindScript binds all processes and threads of a step to cores of its node. Its arguments are the step and the cores.
const bindScript = `{ scontrol listpids "$1" "$SLURMD_NODENAME" 2>/dev/null || scontrol listpids "$1"; } |
while read -r pid _ ; do case $pid in *[!0-9]*) ;; *) taskset -acp "$2" "$pid" >/dev/null 2>&1 ;; esac; done; true`

// Bind binds a running step to the cores of a part.
func (h hands) Bind(s *step, part scheduler.Part) error {
	e := h.e
	place, ok := e.pool.slotOf(part.Node)
	if !ok {
		return nil // the node was lost; the scheduler is notified separately
	}
	cpus, err := e.cpus(place, part)
	if err != nil {
		return err
	}
	select {
	case <-s.started:
	case <-time.After(launchWait):
	}
	e.mu.Lock()
	id := s.id
	e.mu.Unlock()
	if id == "" || e.Gone(s) || slices.Equal(e.Part(s).Cores, part.Cores) {
		return nil
	}
	args := append(stepArgs(s.allocated, s.node, "bind"), "--quiet", "--chdir=/", "/bin/sh", "-c", bindScript, "sh", id,
		list(cpus))
	_, err = CallWithRetries(context.WithoutCancel(e.ctx), DefaultPatience, "srun", args...)
	if err != nil && (e.Gone(s) || e.Lost(s)) {
		return nil // the step has ended, or its node is lost
	}
	return err
}

// Write implements launch.ProgramHands.
func (h hands) Write(s *step, content []byte, at time.Time) error {
	return s.Job.ReplaceControl(content, at)
}

// Ports from firstPort on, below those that systems assign themselves, are for the parts of jobs to reach each other.
const firstPort, ports = 20000, 12000

// Addresses implements launch.ProgramHands. Each address is on the node of its part.
func (h hands) Addresses(_ int, parts []scheduler.Part, _ contract.Cluster) (contract.Cluster, error) {
	e := h.e
	addr, err := e.pool.addresses(e.ctx, parts)
	if err != nil {
		return nil, err
	}
	cluster := contract.Cluster{}
	port := firstPort + rand.IntN(ports)
	for _, p := range parts {
		for range ports { // this check finds used ports only if the node is this machine
			if port++; port >= firstPort+ports {
				port = firstPort
			}
			l, err := net.Listen("tcp", net.JoinHostPort(addr[p.Node], strconv.Itoa(port)))
			if err == nil {
				l.Close()
				break
			}
			if !strings.Contains(err.Error(), "address already in use") {
				break
			}
		}
		for len(cluster[p.Role]) <= p.Task {
			cluster[p.Role] = append(cluster[p.Role], "")
		}
		cluster[p.Role][p.Task] = net.JoinHostPort(addr[p.Node], strconv.Itoa(port))
	}
	return cluster, nil
}

// addresses returns the network addresses of the nodes of parts. It makes one call.
func (p *nodePool) addresses(ctx context.Context, parts []scheduler.Part) (map[int]string, error) {
	names := map[string][]int{}
	var list []string
	for _, part := range parts {
		s, ok := p.slotOf(part.Node)
		if !ok {
			return nil, fmt.Errorf("there is no node %d", part.Node)
		}
		if names[s.name] == nil {
			list = append(list, s.name)
		}
		names[s.name] = append(names[s.name], part.Node)
	}
	out, err := CallWithRetries(ctx, DefaultPatience, "scontrol", "--oneliner", "show", "node", strings.Join(list, ","))
	if err != nil {
		return nil, err
	}
	addr := map[int]string{}
	for line := range strings.Lines(out) {
		f := ParseFields(line)
		for _, v := range names[f["NodeName"]] {
			addr[v] = f["NodeAddr"]
		}
	}
	return addr, nil
}
