//go:build unix

package slurm

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/progress"
	"github.com/tfexp/tfexp/hardware/slurm/client"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// running is a job that was started: one step, or one for each of its parts. Its engine's mu guards all but the first
// fields, which do not change.
type running struct {
	number   int
	progress *progress.Attempt
	parts    contract.Cluster // addresses of the parts; nil for one program
	limit    time.Duration    // service time of this attempt; 0 none
	before   time.Duration    // service time of the attempts before
	expire   func()

	steps  []*step // the first speaks for the job
	paused bool
	done   bool // nothing is left of the job, and usage is complete
	since  time.Time
	alarm  *time.Timer // goes off at the limit; nil without one, and while paused
	usage  launch.Usage

	// Why tfexp ends the job: the first cause counts.
	cause  scheduler.State
	reason string
	// state and why are how the job ended, by its first step.
	state scheduler.State
	why   string
	quiet bool // no notice of its end is wanted
	part  bool // it is ended because one of its parts failed
	saves progress.Saves
}

// step is a program of a job on a node. The engine's mu guards the fields below the blank line.
type step struct {
	of        *running
	part      scheduler.Part // its cores change
	job       launch.Job     // the program, as it was started
	node      string
	allocated string // the allocation
	script    string
	out       *output
	started   chan struct{} // closed when the program runs, or never will
	ended     chan struct{} // closed when nothing is left of it

	id     string // "4711.3"; empty while it is not known
	cmd    *exec.Cmd
	began  bool      // the program ran
	until  time.Time // when it exited
	status *syscall.WaitStatus
	said   string // errors of srun
	gone   bool   // it is over
	done   bool   // it is over, and its output read
	lost   bool   // its node is taken away: that it ends is no failure
	killed bool   // it is to end at once
	last   *time.Timer
}

func (r *running) ending() bool { return r.cause != "" }
func (r *running) lead() *step  { return r.steps[0] }

// living returns the steps that are not over. mu must be held.
func (r *running) living() []*step {
	return slices.DeleteFunc(slices.Clone(r.steps), func(s *step) bool { return s.gone })
}

// used is the service time of all attempts up to now. mu must be held.
func (r *running) used(now time.Time) time.Duration {
	d := r.before + r.usage.Service
	if !r.paused && !r.since.IsZero() {
		d += now.Sub(r.since)
	}
	return d
}

// stand writes the control file of a step that had so many cores before: how things stand, and a request. mu must be held.
func (s *step) stand(before int, request contract.Message) error {
	text, err := s.job.Content(s.part.Cores.Count(), before, s.of.used(time.Now()), request)
	if err != nil {
		return err
	}
	return s.job.ReplaceControl(text)
}

// carryOn begins, and rest ends, a stretch of service time. mu must be held.
func (r *running) carryOn(now time.Time) {
	r.paused, r.since = false, now
	if r.limit > 0 {
		r.alarm = time.AfterFunc(r.limit-r.usage.Service, r.expire)
	}
}

func (r *running) rest(now time.Time) {
	if !r.paused {
		r.usage.Service += now.Sub(r.since)
	}
	r.paused = true
	if r.alarm != nil {
		r.alarm.Stop()
		r.alarm = nil
	}
}

// launch writes down the steps of a job.
func (e *Engine) launch(number int, grant scheduler.Grant, again bool) (*running, error) {
	j := &e.jobs[number]
	r := &running{number: number}
	e.mu.Lock()
	if last := e.live[number]; last != nil {
		r.before = last.before + last.usage.Service
	}
	e.mu.Unlock()
	var late string
	r.limit, late = j.Alarm(r.before)
	r.expire = func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if !r.paused { // else the alarm went off while the job was being paused
			e.terminate(r, scheduler.Failed, late)
		}
	}
	r.progress = e.Follow(number, j)
	parts := launch.Programs(grant)
	if parts == nil {
		whole := grant.Parts(e.cluster)[0]
		whole.Cores, whole.GPUs = grant.Cores, grant.GPUs
		s, err := e.prepare(r, *j, whole, again)
		if err != nil {
			return nil, err
		}
		r.steps = []*step{s}
		r.progress.Begin()
		return r, nil
	}
	var err error
	if r.parts, err = e.addresses(parts); err != nil {
		return nil, err
	}
	lead := cluster.Lead(parts)
	order := append([]scheduler.Part{parts[lead]}, slices.Delete(slices.Clone(parts), lead, lead+1)...)
	for i, part := range order {
		s, err := e.preparePart(r, part, i == 0, again)
		if err != nil {
			for _, s := range r.steps {
				e.discard(s, "another part of the job could not be started")
			}
			return nil, fmt.Errorf("%s: %w", launch.PartName(part), err)
		}
		r.steps = append(r.steps, s)
	}
	r.progress.Begin()
	return r, nil
}

func (e *Engine) preparePart(r *running, part scheduler.Part, lead, again bool) (*step, error) {
	j, err := e.jobs[r.number].OfPart(part, lead, r.parts)
	if err != nil {
		return nil, err
	}
	return e.prepare(r, j, part, again)
}

// discard closes the log of a step that is not started.
func (e *Engine) discard(s *step, why string) {
	s.out.log.Close(why)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.open = slices.DeleteFunc(e.open, func(o *output) bool { return o == s.out })
}

// prepare writes what a step needs: its control file, its script, its log.
func (e *Engine) prepare(r *running, j launch.Job, part scheduler.Part, again bool) (*step, error) {
	e.mu.Lock()
	e.starts++
	name := fmt.Sprintf("%d-%d", r.number, e.starts)
	e.mu.Unlock()
	s := &step{of: r, part: part, job: j, script: filepath.Join(e.dir, name+".sh"),
		started: make(chan struct{}), ended: make(chan struct{})}
	fail := func(reason string) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.terminate(r, scheduler.Failed, reason)
	}
	var seen func([]byte)
	if len(r.steps) == 0 {
		seen = r.saves.Listen(r.progress.Output())
	}
	log, err := launch.OpenLog(j.LogPath, launch.DefaultLogLimit, again, fail, seen)
	if err != nil {
		return nil, err
	}
	s.out = &output{path: filepath.Join(e.dir, name+".out"), log: log}
	err = func() error {
		place, ok := e.pool.place(part.Node)
		if !ok {
			return fmt.Errorf("node %d is not there", part.Node)
		}
		s.node, s.allocated = place.name, place.alloc.job
		cpus, err := e.cpus(place, part)
		if err != nil {
			return err
		}
		gpus, err := e.gpus(place, part)
		if err != nil {
			return err
		}
		if len(j.Argv) == 0 {
			return errors.New("the job has no program")
		}
		if err := j.Prepare(len(cpus), r.before); err != nil {
			return err
		}
		return os.WriteFile(s.script, script(&j, part, cpus, gpus), 0o755)
	}()
	if err != nil {
		log.Close(err.Error())
		return nil, err
	}
	e.mu.Lock()
	e.open = append(e.open, s.out)
	e.mu.Unlock()
	return s, nil
}

// cpus returns a node's numbers of the cores of a part, and gpus the names of its GPUs.
func (e *Engine) cpus(place slot, part scheduler.Part) ([]int, error) {
	return numbered(part.Cores, e.first[part.Node], place.cpus, "core")
}

func (e *Engine) gpus(place slot, part scheduler.Part) ([]string, error) {
	if part.GPUs.Count() == 0 {
		return nil, nil
	}
	return numbered(part.GPUs, e.firstG[part.Node], place.gpus, "GPU")
}

func numbered[T any](set scheduler.CoreSet, first int, names []T, what string) (list []T, err error) {
	set.Each(func(n int) {
		if n -= first; n < 0 || n >= len(names) {
			err = fmt.Errorf("%s %d is not there: the node has %d", what, n+first, len(names))
			return
		}
		list = append(list, names[n])
	})
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("the grant has no %ss", what)
	}
	return list, err
}

// script is what a node runs for a step: the program with the variables of the job contract, on its cores. Slurm's own
// binding knows only cores that no other step holds, and those of a paused job are held by its step.
func script(j *launch.Job, part scheduler.Part, cpus []int, gpus []string) []byte {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n")
	for _, name := range launch.Reserved {
		b.WriteString("unset " + name + "\n")
	}
	paths := launch.Paths{Control: launch.Absolute(j.ControlPath), Checkpoint: launch.Absolute(j.CheckpointDir)}
	for _, entry := range j.Environ(len(cpus), gpus, paths) {
		name, value, _ := strings.Cut(entry, "=")
		fmt.Fprintf(&b, "export %s=%s\n", name, client.Quote(value))
	}
	if j.Dir != "" {
		fmt.Fprintf(&b, "cd %s || exit 126\n", client.Quote(launch.Absolute(j.Dir)))
	}
	b.WriteString("exec taskset -c " + list(cpus))
	for _, arg := range j.Arguments(scheduler.Grant{Cores: part.Cores, GPUs: part.GPUs}) {
		b.WriteString(" " + client.Quote(arg))
	}
	b.WriteString("\n")
	return []byte(b.String())
}

func list(numbers []int) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ",")
}

// stepArgs are the arguments of srun for a step on one node of an allocation. Steps overlap as far as Slurm sees it:
// tfexp knows which cores are free.
func stepArgs(job, node, name string) []string {
	return []string{"--jobid=" + job, "--job-name=" + stepPrefix + name, "--overlap", "--nodes=1", "--ntasks=1",
		"--nodelist=" + node, "--cpu-bind=none", "--input=none", "--immediate=20"}
}

var (
	launching = regexp.MustCompile(`launching (?:StepId=)?(\d+\.\d+) on`)
	exited    = regexp.MustCompile(`status=0x([0-9a-fA-F]+)\)`)
)

// srun runs a step to its end, once.
func (e *Engine) srun(s *step) error {
	args := append([]string{"--verbose", "--output=" + s.out.path + ".%t", "--open-mode=append", "--chdir=" + e.dir},
		append(stepArgs(s.allocated, s.node, s.job.Name), "/bin/sh", s.script)...)
	cmd := exec.Command("srun", args...)
	cmd.Env = client.Environ()
	errs, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	e.mu.Lock()
	if s.killed || s.of.ending() {
		e.mu.Unlock()
		return nil
	}
	s.cmd = cmd
	err = e.pool.site.forks.start(cmd)
	e.mu.Unlock()
	if err != nil {
		return err
	}
	e.listen(s, errs)
	_ = cmd.Wait() // the step's status is in what srun says
	return nil
}

// listen reads what srun says of a step.
func (e *Engine) listen(s *step, errs io.Reader) {
	var said []string
	lines := bufio.NewScanner(errs)
	for lines.Scan() {
		line := lines.Text()
		e.mu.Lock()
		if m := launching.FindStringSubmatch(line); m != nil {
			s.id = m[1]
		}
		if strings.Contains(line, "_task_start:") && !s.began {
			s.began = true
			if s == s.of.lead() && !s.of.paused { // what Slurm takes before is no service
				s.of.since = time.Now()
			}
			close(s.started)
		}
		if m := exited.FindStringSubmatch(line); m != nil {
			if n, err := strconv.ParseUint(m[1], 16, 32); err == nil {
				status := syscall.WaitStatus(n)
				s.status, s.until = &status, time.Now()
			}
		}
		if strings.Contains(line, "error:") || strings.Contains(line, "launch failed") {
			said = append(said, line)
			s.said = client.Line(strings.Join(said, "\n"))
		}
		e.mu.Unlock()
	}
}

// attend runs a step, gives notice of the end of its job when that was the last of it.
func (e *Engine) attend(s *step) {
	began := time.Now()
	for pause := 300 * time.Millisecond; ; pause = min(2*pause, 20*time.Second) {
		if err := e.srun(s); err != nil {
			e.mu.Lock()
			s.said = err.Error()
			e.mu.Unlock()
		}
		e.mu.Lock()
		again := !s.began && !s.killed && !s.of.ending() && client.AgainText(s.said) && time.Since(began) < launchPatience
		e.mu.Unlock()
		if !again {
			break
		}
		select {
		case <-e.ctx.Done():
		case <-time.After(client.Jitter(pause)):
		}
	}
	e.over(s)
}

// over notes that a step is over.
func (e *Engine) over(s *step) {
	r := s.of
	e.mu.Lock()
	if !s.began {
		s.began = true
		close(s.started)
	}
	suspect := !s.lost && !r.ending() && s.suspect()
	e.mu.Unlock()
	if suspect { // perhaps its node or allocation is gone
		e.suspicion(s)
	}
	s.out.drain()
	e.mu.Lock()
	s.gone = true
	lead := s == r.lead()
	if lead {
		if s.until.IsZero() {
			s.until = time.Now()
		}
		r.rest(s.until)
		if !e.leaves(s) { // the job ends with its first program; so do parameter servers
			for _, other := range r.steps[1:] {
				e.askToEnd(other)
			}
		}
	}
	e.mu.Unlock()
	if lead {
		r.progress.End(s.finished())
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if s.last != nil {
		s.last.Stop()
	}
	state, reason := r.judge(s)
	switch {
	case e.leaves(s):
		reason = "its node was taken away"
	case lead:
		r.state, r.why = state, reason
		r.usage.ExitCode, r.usage.Reason = s.code(), reason
	case r.ending():
	case r.lead().gone, r.lead().lost:
		reason = ""
	case state == scheduler.Failed:
		r.part = true
		e.terminate(r, scheduler.Failed, launch.PartName(s.part)+": "+reason)
	}
	s.out.log.Close(reason)
	e.open = slices.DeleteFunc(e.open, func(o *output) bool { return o == s.out })
	s.done = true
	close(s.ended)
	e.settle(r)
}

// suspect reports whether a step may have ended because its node or its allocation did. mu must be held.
func (s *step) suspect() bool {
	if s.status != nil && !s.status.Signaled() && !strings.Contains(s.said, "CANCELLED") {
		return false
	}
	if s.status == nil {
		return true
	}
	sig := s.status.Signal()
	return sig == syscall.SIGKILL || sig == syscall.SIGTERM || strings.Contains(s.said, "CANCELLED")
}

// suspicion looks whether the node of a step that ended in a strange way is still there. When Slurm has cancelled the
// step, it may take a while until its node or allocation is seen to be gone.
func (e *Engine) suspicion(s *step) {
	lost := func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return s.lost
	}
	for range 8 {
		e.pool.glance(e.ctx, lost)
		if lost() || e.ctx.Err() != nil || s.status != nil && !strings.Contains(s.said, "CANCELLED") {
			return
		}
		time.Sleep(250 * time.Millisecond)
	}
}

// leaves reports whether a step ended because its node is taken away. mu must be held.
func (e *Engine) leaves(s *step) bool { return s.lost && !s.of.ending() && !s.finished() }

func (s *step) finished() bool {
	return s.status != nil && s.status.Exited() && s.status.ExitStatus() == 0
}

func (s *step) code() int {
	if s.status == nil {
		return -1
	}
	return s.status.ExitStatus()
}
