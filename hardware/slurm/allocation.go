//go:build unix

package slurm

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tfexp/tfexp/hardware/slurmcmd"
)

// allocation is an allocation of the cluster. Either tfexp has requested it through a salloc that it runs, or tfexp
// itself runs in it.
type allocation struct {
	job    string
	joined bool
	cmd    *exec.Cmd      // the salloc; nil if tfexp runs in the allocation
	hold   io.WriteCloser // input of salloc: its end, also by the end of tfexp, ends the allocation
	over   chan struct{}  // closed when salloc has exited

	// The pool's mu guards the fields below.
	nodes []int // indexes of nodes in the hardware
	// until is when tfexp gives the allocation back, shortly before its end. It is zero if there is no limit or none
	// is known.
	until time.Time
	told  bool // whether jobs were warned of its end
	gone  bool

	once sync.Once
}

// endMargin is how long before its time limit tfexp gives an allocation back. Jobs end in this time; at the limit Slurm
// would kill them without notice.
const endMargin = 3 * time.Second

// holdScript is the command that salloc runs. It prints the granted allocation, and then waits for the end of its
// input.
const holdScript = `echo "granted $SLURM_JOB_ID $SLURM_JOB_NODELIST"; exec cat >/dev/null`

var pendingJob = regexp.MustCompile(`job allocation (\d+)`)

// submit requests an allocation for nodes through a salloc. follow reports when it is granted.
func (p *nodePool) submit(nodes []int) error {
	args := append(p.requestFor(nodes).Args(), "--no-kill", "/bin/sh", "-c", holdScript)
	a := &allocation{nodes: nodes, over: make(chan struct{})}
	a.cmd = exec.Command("salloc", args...)
	a.cmd.Env = slurmcmd.Environ()
	a.cmd.Dir = "/"
	var err error
	if a.hold, err = a.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	errs, err := a.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := p.session.forks.start(a.cmd, hangUp); err != nil {
		return WithHint(&slurmcmd.Error{Command: "salloc", Text: err.Error(), Code: -1})
	}
	p.mu.Lock()
	for _, v := range nodes {
		p.slots[v] = nodeSlot{state: slotRequested, alloc: a}
	}
	p.allocs = append(p.allocs, a)
	p.mu.Unlock()
	p.jobs.Go(func() { p.follow(a, out, errs) })
	return nil
}

// follow reads the output of a salloc until it ends. It takes the granted nodes, or records why Slurm grants none.
func (p *nodePool) follow(a *allocation, out, errs io.Reader) {
	var said strings.Builder
	var reading sync.WaitGroup
	reading.Go(func() {
		lines := bufio.NewScanner(errs)
		for lines.Scan() {
			if said.Len() < 1<<20 {
				said.WriteString(lines.Text() + "\n")
			}
			if m := pendingJob.FindStringSubmatch(lines.Text()); m != nil {
				p.session.noteAllocation(m[1], true)
				p.mu.Lock()
				a.job = m[1]
				p.mu.Unlock()
			}
		}
	})
	granted := false
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if f := strings.Fields(lines.Text()); len(f) == 3 && f[0] == "granted" && !granted && len(jobNumbers(f[1:2])) == 1 {
			granted = true
			p.session.noteAllocation(f[1], true)
			p.jobs.Go(func() {
				if err := p.takeGrant(a, f[1], f[2]); err != nil && p.ctx.Err() == nil {
					a.release()
					p.forgetAllocation(a)
					p.refuseNodes(a.nodes, err)
				}
			})
		}
	}
	reading.Wait()
	_ = a.cmd.Wait() // the exit status is in ProcessState
	close(a.over)
	p.mu.Lock()
	job, gone := a.job, a.gone
	p.mu.Unlock()
	if job != "" {
		p.session.noteAllocation(job, false)
	}
	switch {
	case gone || p.ctx.Err() != nil:
	case !granted:
		text := said.String()
		if i := strings.LastIndex(text, "error:"); i >= 0 {
			text = text[i:]
		}
		if strings.TrimSpace(text) == "" {
			text = "it ended without an allocation"
		}
		p.forgetAllocation(a)
		p.refuseNodes(a.nodes, &slurmcmd.Error{Command: "salloc", Text: slurmcmd.JoinErrorLines(text),
			Code: a.cmd.ProcessState.ExitCode()})
	default: // cancelled, preempted or out of time
		p.endAllocation(a, false)
	}
}

// forgetAllocation removes an allocation from the pool. It returns false if the allocation was removed before.
func (p *nodePool) forgetAllocation(a *allocation) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := !a.gone
	a.gone = true
	p.allocs = slices.DeleteFunc(p.allocs, func(o *allocation) bool { return o == a })
	return first
}

// release gives an allocation back.
func (a *allocation) release() error {
	if a.joined {
		return nil
	}
	a.once.Do(func() { a.hold.Close() })
	select {
	case <-a.over:
	case <-time.After(2 * time.Second): // salloc still waits in the queue, or its steps still end
		a.cmd.Process.Signal(hangUp)
		select {
		case <-a.over:
		case <-time.After(10 * time.Second):
			a.cmd.Process.Kill()
			<-a.over
			if a.job != "" {
				_, err := CallWithRetries(context.Background(), DefaultPatience, "scancel", a.job)
				return err
			}
		}
	}
	return nil
}

// endAllocation takes all nodes of an allocation away from the hardware. If there is true, it also gives the allocation
// back to Slurm.
func (p *nodePool) endAllocation(a *allocation, there bool) {
	if !p.forgetAllocation(a) {
		return
	}
	nodes := p.nodes(func(s *nodeSlot) bool { return s.alloc == a })
	p.removeNodes(nodes)
	p.mu.Lock()
	for _, v := range nodes { // nodes of the request that were not assigned yet
		if p.slots[v].alloc == a {
			p.slots[v] = nodeSlot{}
		}
	}
	p.mu.Unlock()
	if there {
		a.release()
	}
}

// joinAllocation assigns the nodes of the allocation that tfexp runs in to the hardware.
func (p *nodePool) joinAllocation(ctx context.Context) error {
	out, err := CallWithRetries(ctx, DefaultPatience, "squeue", "-h", "-j", p.set.Joined, "-o", "%N")
	if err != nil {
		return WithHint(err)
	}
	a := &allocation{job: p.set.Joined, joined: true, over: make(chan struct{})}
	for v := range p.slots {
		a.nodes = append(a.nodes, v)
	}
	p.mu.Lock()
	p.allocs = append(p.allocs, a)
	for v := range p.slots {
		p.slots[v] = nodeSlot{state: slotRequested, alloc: a}
	}
	p.mu.Unlock()
	if err := p.takeGrant(a, a.job, strings.TrimSpace(out)); err != nil {
		p.forgetAllocation(a)
		return WithHint(err)
	}
	return nil
}

// factsScript prints what tfexp needs to know about a node of an allocation: its name, its cores that a step may use,
// and its GPUs.
const factsScript = `echo "node|$SLURMD_NODENAME|$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)|` +
	`$CUDA_VISIBLE_DEVICES|$(test "$(cat "$1" 2>/dev/null)" = tfexp && echo seen)"`

// takeGrant assigns the nodes of a granted allocation to the hardware. It runs factsScript on them in one step.
func (p *nodePool) takeGrant(a *allocation, job, list string) error {
	names, err := ExpandHosts(list)
	if err != nil {
		return err
	}
	if len(names) < len(a.nodes) {
		return UnavailableError(fmt.Errorf("the allocation %s has %d nodes, but the hardware %q has "+
			"%d", job, len(names),
			p.hw.Name,
			len(a.nodes)), "request a larger allocation, or change nodes in the hardware block")
	}
	names = names[:len(a.nodes)]
	probe, err := NewFolderProbe(p.session.run.Dir)
	if err != nil {
		return err
	}
	defer probe.Close()
	n := fmt.Sprint(len(names))
	out, err := CallWithRetries(p.ctx, DefaultPatience, "srun", "--jobid="+job, "--job-name=tfexp.look", "--overlap",
		"--nodes="+n, "--ntasks="+n, "--ntasks-per-node=1", "--nodelist="+strings.Join(names, ","), "--cpu-bind=none",
		"--input=none", "--chdir=/", "/bin/sh", "-c", factsScript, "sh", probe.Path())
	if err != nil {
		return err
	}
	found := map[string]nodeSlot{}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 5 || f[0] != "node" {
			continue
		}
		s := nodeSlot{state: slotUp, alloc: a, name: f[1]}
		if s.cpus, err = ExpandNumbers(f[2]); err != nil {
			return fmt.Errorf("cores of node %s: %w", f[1], err)
		}
		s.gpus = strings.FieldsFunc(f[3], func(c rune) bool { return c == ',' })
		if f[4] != "seen" {
			return fmt.Errorf("%w: node %s does not see %s", ErrNotShared, f[1], p.session.run.Dir)
		}
		found[s.name] = s
	}
	return p.assignNodes(a, job, names, found)
}
