//go:build unix

package slurm

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/hardware/slurmcmd"
)

// assignNodes assigns the nodes of an allocation to nodes of the hardware. found has the facts of each node, by its
// name in Slurm.
func (p *nodePool) assignNodes(a *allocation, job string, names []string, found map[string]nodeSlot) error {
	p.mu.Lock()
	a.job = job
	p.mu.Unlock()
	states, err := p.states(p.ctx)
	if err != nil {
		return err
	}
	left := states[job].left
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.gone {
		return nil
	}
	a.setTimeLeft(left)
	for i, v := range a.nodes {
		s, ok := found[names[i]]
		want := p.hw.Cluster.Nodes[v]
		switch {
		case !ok:
			return fmt.Errorf("the node %s of the allocation %s did not answer", names[i], job)
		case len(s.cpus) < want.Threads:
			return UnavailableError(fmt.Errorf("the node %s has %d cores for the allocation %s, but the "+
				"hardware %q has %d",
				s.name,
				len(s.cpus), job, p.hw.Name, want.Threads), "request nodes with more cores, or reduce threads "+
				"in the hardware block")
		case len(s.gpus) < want.GPUs:
			return UnavailableError(fmt.Errorf("the node %s has %d GPUs for the allocation %s, but the hardware "+
				"%q has %d",
				s.name,
				len(s.gpus), job, p.hw.Name, want.GPUs), "request them with gres, or reduce gpus in the hardware block")
		}
		p.slots[v] = s
		if p.user != nil {
			p.user.cameUp(v)
		}
	}
	return nil
}

// jobState is the state of an allocation, as the controller reports it.
type jobState struct {
	state, reason string
	left          time.Duration // time until its end
	nodes         []string
}

// live reports whether the allocation has its nodes.
func (s jobState) live() bool {
	return slices.Contains([]string{"RUNNING", "CONFIGURING", "SUSPENDED", "PENDING"}, s.state)
}

// states asks the controller for the states of all allocations. It makes one call.
func (p *nodePool) states(ctx context.Context) (map[string]jobState, error) {
	p.mu.Lock()
	var ids []string
	for _, a := range p.allocs {
		if a.job != "" {
			ids = append(ids, a.job)
		}
	}
	p.mu.Unlock()
	if len(ids) == 0 {
		return nil, nil
	}
	out, err := slurmcmd.Run(ctx, 0, "squeue", "-h", "-t", "all", "-j", strings.Join(ids, ","), "-o", stateFields)
	if err != nil {
		if ControllerAway(err) || !strings.Contains(err.Error(), "nvalid job id") {
			return nil, err
		}
		return map[string]jobState{}, nil // Slurm has forgotten all of them
	}
	return readStates(out, time.Now())
}

// stateFields is the format in which readStates expects each allocation: number, state, time left, end, nodes, and the
// reason of its state.
const stateFields = "%A|%T|%L|%e|%N|%r"

// readStates parses the output of squeue. Times left are counted from now.
func readStates(out string, now time.Time) (map[string]jobState, error) {
	states := map[string]jobState{}
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSpace(line), "|", 6)
		if len(f) < 6 {
			continue
		}
		s := jobState{state: f[1], reason: f[5], left: Unlimited}
		if left, ok := ParseTime(f[2]); ok {
			s.left = left
		}
		// An allocation that is being preempted ends after its grace time, but its time limit in the output stays the
		// same.
		if end, err := strconv.ParseInt(f[3], 10, 64); err == nil {
			s.left = min(s.left, time.Unix(end, 0).Sub(now))
		}
		var err error
		if s.nodes, err = ExpandHosts(f[4]); err != nil {
			return nil, err
		}
		states[f[0]] = s
	}
	return states, nil
}

// hopelessReasons are the wait reasons of jobs that would never start.
var hopelessReasons = []string{"PartitionNodeLimit", "PartitionTimeLimit", "BadConstraints", "AssocMaxNodePerJobLimit",
	"AssocMaxCpuPerJobLimit", "QOSMaxNodePerUserLimit", "QOSMaxCpuPerJobLimit", "JobHeldAdmin", "InvalidAccount", "InvalidQOS"}

// poll asks the controller for the states of allocations and nodes, in two calls, and applies the answers. It reports
// whether the controller answered. If not, the steps continue, and poll is called again later.
func (p *nodePool) poll(ctx context.Context) bool {
	states, err := p.states(ctx)
	if err != nil {
		return false
	}
	if states == nil {
		return true
	}
	p.mu.Lock()
	allocs := slices.Clone(p.allocs)
	p.mu.Unlock()
	for _, a := range allocs {
		s, known := states[a.job]
		switch {
		case a.job == "":
		case !known || !s.live():
			p.endAllocation(a, true)
		case s.state == "PENDING":
			if slices.Contains(hopelessReasons, s.reason) {
				a.release()
				p.forgetAllocation(a)
				p.refuseNodes(a.nodes, fmt.Errorf("the allocation would never start: %s", s.reason))
			}
		default:
			p.applyJobState(a, s)
		}
	}
	p.pollNodes(ctx)
	return true
}

// setTimeLeft sets when an allocation ends, from the time left. If jobs were warned of an end, only an earlier end
// changes it, as after a preemption. The pool's mu must be held.
func (a *allocation) setTimeLeft(left time.Duration) {
	if left <= 0 || left == Unlimited {
		return
	}
	until := time.Now().Add(left - min(endMargin, left/2))
	if !a.told || until.Before(a.until.Add(-endMargin)) {
		a.until = until
	}
}

// applyJobState applies the reported state of an allocation: it removes lost nodes and updates the end.
func (p *nodePool) applyJobState(a *allocation, s jobState) {
	p.mu.Lock()
	a.setTimeLeft(s.left)
	p.warnAllocation(a)
	gone := p.nodesLocked(func(t *nodeSlot) bool {
		return t.alloc == a && t.usable() && !slices.Contains(s.nodes,
			t.name)
	})
	p.mu.Unlock()
	if len(gone) > 0 {
		p.removeNodes(gone)
	}
}

// pollNodes asks the controller for nodes that are down, which it removes, and for nodes that are being drained, which
// it gives up after the notice.
func (p *nodePool) pollNodes(ctx context.Context) {
	p.mu.Lock()
	var names []string
	for v := range p.slots {
		if s := &p.slots[v]; s.usable() {
			names = append(names, s.name)
		}
	}
	p.mu.Unlock()
	if len(names) == 0 {
		return
	}
	out, err := slurmcmd.Run(ctx, 0, "sinfo", "-h", "-N", "-n", strings.Join(names, ","), "-o", "%N|%T")
	if err != nil {
		return
	}
	var down []int
	p.mu.Lock()
	for line := range strings.Lines(out) {
		name, state, _ := strings.Cut(strings.TrimSpace(line), "|")
		for v := range p.slots {
			s := &p.slots[v]
			if s.name != name || !s.usable() {
				continue
			}
			switch {
			case strings.HasPrefix(state, "down"), strings.HasPrefix(state, "fail"):
				if !slices.Contains(down, v) {
					down = append(down, v)
				}
			case strings.HasPrefix(state, "drain") && s.drains.IsZero():
				s.drains = time.Now().Add(p.set.Notice)
				p.warnNode(v, s.drains)
			}
		}
	}
	p.mu.Unlock()
	if len(down) > 0 {
		p.removeNodes(down)
	}
}
