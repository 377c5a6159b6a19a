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

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/slurm/client"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// nodeState is what the scheduler knows of a node: nothing before it has asked for it, and after its loss.
type nodeState uint8

const (
	nodeAway nodeState = iota
	nodeWanted
	nodeUp
)

// Acquire implements scheduler.Provider: the nodes of the allocation are there, and one that was lost is asked for
// again.
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
	if s, ok := e.pool.place(node); ok && s.state == up {
		e.cameUp(node)
	}
	return &scheduler.Server{Created: e.Now(), Market: kindName}, nil
}

// Release implements scheduler.Provider. The allocation stays, for the next cell.
func (e *Engine) Release(int) error { return nil }

// cameUp gives notice that a node can be used.
func (e *Engine) cameUp(node int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.nodes[node] == nodeWanted {
		e.nodes[node] = nodeUp
		e.tell(scheduler.Notice{Kind: scheduler.NodeUp, Node: node, At: e.Now()})
	}
}

// on returns the live steps on a node, and the jobs that they belong to. mu must be held.
func (e *Engine) on(node int) (steps []*step, jobs []*running) {
	for _, r := range e.live {
		if r == nil || r.done {
			continue
		}
		for _, s := range r.steps {
			if s.part.Node != node || s.done {
				continue
			}
			steps = append(steps, s)
			if !slices.Contains(jobs, r) {
				jobs = append(jobs, r)
			}
		}
	}
	return steps, jobs
}

// warned tells the steps on a node that it is taken away at an instant: by their control files at once, and by SIGTERM
// when only the grace is left.
func (e *Engine) warned(node int, until time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := until.Sub(e.zero)
	if e.nodes[node] != nodeUp {
		return
	}
	e.tell(scheduler.Notice{Kind: scheduler.NodeWarned, Node: node, At: e.Now(), Until: at})
	steps, jobs := e.on(node)
	e.serial++
	left := max(time.Until(until).Seconds(), 0)
	for _, s := range steps {
		// A program that is not told is killed like one that does not listen.
		s.stand(0, contract.Message{Serial: e.serial, Warning: &left})
	}
	for _, r := range jobs {
		if s := r.lead(); s.part.Node != node && !s.gone {
			s.stand(0, contract.Message{Serial: e.serial, Checkpoint: true})
		}
	}
	time.AfterFunc(time.Until(until)-launch.DefaultGrace, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, s := range steps {
			if !e.closed && !s.gone && !s.of.ending() {
				s.lost = true
				e.askToEnd(s)
			}
		}
	})
}

// take kills all that runs on a node, and returns when it is gone.
func (e *Engine) take(node int) {
	e.mu.Lock()
	steps, jobs := e.on(node)
	for _, s := range steps {
		s.lost = true
	}
	e.mu.Unlock()
	var waiting []*step
	for _, s := range steps {
		select {
		case <-s.ended:
		default:
			waiting = append(waiting, s)
		}
	}
	e.kill(waiting)
	// A job whose first step had ended by itself ends now, and is not revoked.
	for _, r := range jobs {
		e.mu.Lock()
		var rest []*step
		if r.state != "" {
			rest = slices.Clone(r.steps)
		}
		e.mu.Unlock()
		for _, s := range rest {
			<-s.ended
		}
	}
}

// lost gives notice that nodes are gone.
func (e *Engine) lost(nodes []int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, v := range nodes {
		if e.nodes[v] == nodeUp {
			e.tell(scheduler.Notice{Kind: scheduler.NodeDown, Node: v, At: e.Now()})
		}
		e.nodes[v] = nodeAway
	}
}

// Revoke implements scheduler.Provider: the steps of the job that are left are ended.
func (e *Engine) Revoke(job int) (scheduler.Attempt, error) {
	e.mu.Lock()
	if job < 0 || job >= len(e.live) || e.live[job] == nil {
		e.mu.Unlock()
		return scheduler.Attempt{}, fmt.Errorf("revoke: job %d was not started", job)
	}
	r := e.live[job]
	r.quiet = true
	if !r.ending() {
		r.cause, r.reason = scheduler.Stopped, "a node of the job was taken away"
	}
	r.rest(time.Now())
	steps := slices.Clone(r.steps)
	for _, s := range steps {
		e.askToEnd(s)
	}
	e.mu.Unlock()
	for _, s := range steps {
		<-s.ended
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.settle(r)
	e.ended = slices.DeleteFunc(e.ended, func(n scheduler.Notice) bool {
		return n.Job == job && (n.Kind == scheduler.JobEnded || n.Kind == scheduler.JobProgress)
	})
	return r.saves.Attempt(), nil
}

// Reshape implements scheduler.Provider: the parts of the job that the grant lacks are ended, and those that are new are
// started.
func (e *Engine) Reshape(job int, grant scheduler.Grant) error {
	e.mu.Lock()
	r, err := e.present("reshape", job)
	if r == nil {
		e.mu.Unlock()
		return err
	}
	same := func(w scheduler.Part, s *step) bool { return w.Role == s.part.Role && w.Task == s.part.Task }
	var left []*step
	var fresh []scheduler.Part
	wanted := launch.Programs(grant)
	for _, s := range r.steps {
		if !slices.ContainsFunc(wanted, func(w scheduler.Part) bool { return same(w, s) }) && !s.done {
			s.lost = true
			left = append(left, s)
		}
	}
	for _, w := range wanted {
		if !slices.ContainsFunc(r.steps, func(s *step) bool { return !s.gone && !s.lost && same(w, s) }) {
			fresh = append(fresh, w)
		}
	}
	e.mu.Unlock()
	e.kill(left)
	for _, part := range fresh {
		s, err := e.preparePart(r, part, false, true)
		if err != nil {
			return fmt.Errorf("reshape job %q: %s: %w", e.jobs[job].Name, launch.PartName(part), err)
		}
		e.mu.Lock()
		r.steps = append(r.steps, s)
		e.mu.Unlock()
		e.waiters.Go(func() { e.attend(s) })
	}
	return nil
}

// bindScript binds all processes of a step, and their threads, to cores of its node: its arguments are the step and the
// cores.
const bindScript = `{ scontrol listpids "$1" "$SLURMD_NODENAME" 2>/dev/null || scontrol listpids "$1"; } |
while read -r pid _ ; do case $pid in *[!0-9]*) ;; *) taskset -acp "$2" "$pid" >/dev/null 2>&1 ;; esac; done; true`

// bind binds a step to the cores of a part, and writes its control file.
func (e *Engine) bind(s *step, part scheduler.Part) error {
	place, ok := e.pool.place(part.Node)
	if !ok {
		return nil // its node is gone, and notice of that follows
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
	before := s.part.Cores.Count()
	changed := !slices.Equal(s.part.Cores, part.Cores)
	s.part.Cores = part.Cores
	id, gone := s.id, s.gone
	e.mu.Unlock()
	if gone || !changed && s.job.Budget == nil {
		return nil
	}
	if changed && id != "" {
		args := append(stepArgs(s.allocated, s.node, "bind"), "--quiet", "--chdir=/", "/bin/sh", "-c", bindScript, "sh", id, list(cpus))
		if _, err := client.Call(context.WithoutCancel(e.ctx), client.DefaultPatience, "srun", args...); err != nil {
			e.mu.Lock()
			over := s.gone || s.lost
			e.mu.Unlock()
			if over {
				return nil // it has ended, or its node has
			}
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return s.stand(before, contract.Message{})
}

// The ports at which the parts of jobs find each other: below those that systems give out themselves.
const firstPort, ports = 20000, 12000

// addresses gives each part of a job an address on its node.
func (e *Engine) addresses(parts []scheduler.Part) (contract.Cluster, error) {
	addr, err := e.pool.addresses(e.ctx, parts)
	if err != nil {
		return nil, err
	}
	cluster := contract.Cluster{}
	port := firstPort + rand.IntN(ports)
	for _, p := range parts {
		for range ports { // a port of this machine can be seen to be free
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

// addresses asks for the addresses of the nodes of parts: one call.
func (p *pool) addresses(ctx context.Context, parts []scheduler.Part) (map[int]string, error) {
	names := map[string][]int{}
	var list []string
	for _, part := range parts {
		s, ok := p.place(part.Node)
		if !ok {
			return nil, fmt.Errorf("node %d is not there", part.Node)
		}
		if names[s.name] == nil {
			list = append(list, s.name)
		}
		names[s.name] = append(names[s.name], part.Node)
	}
	out, err := client.Call(ctx, client.DefaultPatience, "scontrol", "--oneliner", "show", "node", strings.Join(list, ","))
	if err != nil {
		return nil, err
	}
	addr := map[int]string{}
	for line := range strings.Lines(out) {
		f := client.Fields(line)
		for _, v := range names[f["NodeName"]] {
			addr[v] = f["NodeAddr"]
		}
	}
	return addr, nil
}
