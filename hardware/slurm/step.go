//go:build unix

package slurm

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/experiments/secret"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/slurmcmd"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/scheduler"
)

// step is one program of a job on one node. The engine's mu guards the fields below the blank line.
type step struct {
	launch.JobState
	node      string
	allocated string // number of the allocation's job
	script    string
	out       *output
	started   chan struct{} // closed when the program runs, or will never run

	id     string // such as "4711.3"; empty before Slurm assigns it
	cmd    *exec.Cmd
	began  bool      // whether the program has started
	until  time.Time // when the program exited
	status *syscall.WaitStatus
	said   string // error messages of srun
	killed bool   // whether the step must end at once
	ended  bool   // whether Slurm ended it: the step was cancelled, or its allocation was cancelled or preempted
}

// hands implements launch.ProgramHands: the operations on the steps of an engine.
type hands struct{ e *Engine }

// Discard closes the log of a step that will not start.
func (h hands) Discard(s *step) {
	s.out.log.Close("another part of the job could not be started")
	h.e.forget(s)
}

// forget stops copying the output of a step.
func (e *Engine) forget(s *step) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.open = slices.DeleteFunc(e.open, func(o *output) bool { return o == s.out })
}

// Begin creates a step and writes its files: the control file, the script and the log. It does not wait until the step
// runs. A step that cannot start ends as failed later.
func (h hands) Begin(state launch.JobState, part scheduler.Part, again bool, seen func([]byte), fail func(string)) (*step,
	error) {
	e, j := h.e, &state.Job
	e.mu.Lock()
	e.starts++
	name := fmt.Sprintf("%d-%d", state.Number, e.starts)
	e.mu.Unlock()
	s := &step{JobState: state, script: filepath.Join(e.dir, name+".sh"), started: make(chan struct{})}
	log, err := launch.OpenLog(j.LogPath, launch.DefaultLogLimit, again, fail, seen)
	if err != nil {
		return nil, err
	}
	s.out = &output{path: filepath.Join(e.dir, name+".out"), log: log}
	if err := e.prepare(s, part); err != nil {
		log.Close(err.Error())
		return nil, err
	}
	e.mu.Lock()
	e.open = append(e.open, s.out)
	e.mu.Unlock()
	return s, nil
}

// prepare chooses the cores and GPUs of a step and writes its script.
func (e *Engine) prepare(s *step, part scheduler.Part) error {
	place, ok := e.pool.slotOf(part.Node)
	if !ok {
		return fmt.Errorf("there is no node %d", part.Node)
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
	if len(s.Job.Argv) == 0 {
		return errors.New("the job has no program")
	}
	if err := s.Job.Prepare(len(cpus), s.Before); err != nil {
		return err
	}
	return folder.WriteFile(s.script, script(&s.Job, part, cpus, gpus), 0o755)
}

// cpus returns the core numbers of a part on its node. gpus returns the names of its GPUs.
func (e *Engine) cpus(place nodeSlot, part scheduler.Part) ([]int, error) {
	return numbered(part.Cores, e.first[part.Node], place.cpus, "core")
}

func (e *Engine) gpus(place nodeSlot, part scheduler.Part) ([]string, error) {
	if part.GPUs.Count() == 0 {
		return nil, nil
	}
	return numbered(part.GPUs, e.firstG[part.Node], place.gpus, "GPU")
}

func numbered[T any](set scheduler.CoreSet, first int, names []T, what string) (list []T, err error) {
	set.Each(func(n int) {
		if n -= first; n < 0 || n >= len(names) {
			err = fmt.Errorf("there is no %s %d: the node has %d", what, n+first, len(names))
			return
		}
		list = append(list, names[n])
	})
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("the grant has no %ss", what)
	}
	return list, err
}

// script returns the shell script that a node runs for a step. It sets the variables of the job contract and binds the
// program to its cores. Slurm itself binds only to cores that no other step holds, but the step of a paused job still
// holds its cores.
func script(j *launch.Job, part scheduler.Part, cpus []int, gpus []string) []byte {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n")
	for _, name := range launch.Reserved {
		b.WriteString("unset " + name + "\n")
	}
	paths := launch.Paths{Control: launch.Absolute(j.ControlPath), Checkpoint: launch.Absolute(j.CheckpointDir)}
	for _, entry := range j.Environ(len(cpus), gpus, paths) {
		name, value, _ := strings.Cut(entry, "=")
		fmt.Fprintf(&b, "export %s=%s\n", name, quoteHidden(value))
	}
	if j.Dir != "" {
		fmt.Fprintf(&b, "cd %s || exit 126\n", ShellQuote(launch.Absolute(j.Dir)))
	}
	b.WriteString("exec taskset -c " + list(cpus))
	for _, arg := range j.Arguments(scheduler.Grant{Cores: part.Cores, GPUs: part.GPUs}) {
		b.WriteString(" " + quoteHidden(arg))
	}
	b.WriteString("\n")
	return []byte(b.String())
}

// quoteHidden quotes a text for the shell. A secret is replaced by a variable that srun passes on, because the script
// is a readable file.
func quoteHidden(text string) string {
	if name := secret.Variable(text); name != "" {
		return `"$` + name + `"`
	}
	return ShellQuote(text)
}

// hiddenEnviron returns the variables with the secrets that the script of a job reads.
func hiddenEnviron(j *launch.Job) ([]string, error) {
	var env []string
	add := func(text string) {
		if name := secret.Variable(text); name != "" {
			env = append(env, name+"="+text)
		}
	}
	for _, entry := range j.Env {
		_, value, _ := strings.Cut(entry, "=")
		add(value)
	}
	for _, arg := range j.Argv {
		add(arg)
	}
	return secret.Reveal(env)
}

func list(numbers []int) string {
	texts := schema.Each(numbers, strconv.Itoa)
	return strings.Join(texts, ",")
}

// stepArgs returns the arguments of srun for a step on one node. --overlap lets steps share cores from Slurm's view;
// tfexp itself assigns the cores.
func stepArgs(job, node, name string) []string {
	return []string{"--jobid=" + job, "--job-name=" + stepPrefix + name, "--overlap", "--nodes=1", "--ntasks=1",
		"--nodelist=" + node, "--cpu-bind=none", "--input=none", "--immediate=20"}
}

var (
	launching = regexp.MustCompile(`launching (?:StepId=)?(\d+\.\d+) on`)
	exited    = regexp.MustCompile(`status=0x([0-9a-fA-F]+)\)`)
)

// srun runs srun once for a step, and returns when srun has exited.
func (e *Engine) srun(s *step) error {
	args := append([]string{"--verbose", "--output=" + s.out.path + ".%t", "--open-mode=append", "--chdir=" + e.dir},
		append(stepArgs(s.allocated, s.node, s.Job.Name), "/bin/sh", s.script)...)
	cmd := exec.Command("srun", args...)
	hidden, err := hiddenEnviron(&s.Job)
	if err != nil {
		return err
	}
	cmd.Env = append(slurmcmd.Environ(), hidden...)
	errs, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if e.Asked(s) {
		return nil
	}
	e.mu.Lock()
	if s.killed {
		e.mu.Unlock()
		return nil
	}
	s.cmd = cmd
	err = e.pool.session.forks.start(cmd, interrupt)
	e.mu.Unlock()
	if err != nil {
		return err
	}
	e.listen(s, errs)
	_ = cmd.Wait() // listen reads the exit status from srun's messages
	return nil
}

// listen reads the messages of srun about a step, and records when it starts, ends or fails.
func (e *Engine) listen(s *step, errs io.Reader) {
	var said []string
	lines := bufio.NewScanner(errs)
	for lines.Scan() {
		line, runs := lines.Text(), false
		e.mu.Lock()
		if m := launching.FindStringSubmatch(line); m != nil {
			s.id = m[1]
		}
		if strings.Contains(line, "_task_start:") && !s.began {
			s.began = true
			runs = true
			close(s.started)
		}
		if m := exited.FindStringSubmatch(line); m != nil {
			if n, err := strconv.ParseUint(m[1], 16, 32); err == nil {
				status := syscall.WaitStatus(n)
				s.status, s.until = &status, time.Now()
			}
		}
		if strings.Contains(line, "Job step aborted") || strings.Contains(line, "CANCELLED") {
			s.ended = true
		}
		if strings.Contains(line, "error:") || strings.Contains(line, "launch failed") {
			said = append(said, line)
			s.said = slurmcmd.JoinErrorLines(strings.Join(said, "\n"))
		}
		e.mu.Unlock()
		if runs { // the time that Slurm took to start is not service time
			e.Runs(s)
		}
	}
}

// Attend runs a step until it ends. It repeats srun while the step cannot start because the controller does not answer.
func (h hands) Attend(s *step) {
	e := h.e
	began := time.Now()
	for pause := 300 * time.Millisecond; ; pause = min(2*pause, 20*time.Second) {
		if err := e.srun(s); err != nil {
			e.mu.Lock()
			s.said = err.Error()
			e.mu.Unlock()
		}
		e.mu.Lock()
		again := !s.began && !s.killed && StepMayRetry(s.said) && time.Since(began) < launchPatience
		e.mu.Unlock()
		if !again || e.Asked(s) {
			break
		}
		select {
		case <-e.ctx.Done():
		case <-time.After(RandomizeDuration(pause)):
		}
	}
	e.over(s)
}

// over records the end of a step and reports it to the scheduler.
func (e *Engine) over(s *step) {
	e.mu.Lock()
	if !s.began {
		s.began = true
		close(s.started)
	}
	suspect := s.suspect()
	e.mu.Unlock()
	if suspect && !e.Asked(s) { // the node or allocation may be lost: wait until that is known
		e.suspicion(s)
	}
	s.out.drain()
	until := s.until
	if until.IsZero() {
		until = time.Now()
	}
	e.Exited(s, until, s.finished())
	e.forget(s)
	e.Ended(s, launch.Fate{
		Finished: s.finished(), Why: s.exitReason(), Exit: s.code(), Output: s.out.log.Err(),
	}, s.out.log.Close)
}

// suspect reports whether a step may have ended because its node or allocation was lost. The program may have handled
// the signal and exited. mu must be held.
func (s *step) suspect() bool {
	if s.status == nil || s.ended {
		return true
	}
	sig := s.status.Signal()
	if s.status.Exited() {
		sig = syscall.Signal(s.status.ExitStatus() - 128) // the shell's exit status for a signal
	}
	return sig == syscall.SIGKILL || sig == syscall.SIGTERM
}

// suspicion asks the controller whether the node of an ended step is lost. It asks several times, because the
// controller may report the loss later than the end of the step.
func (e *Engine) suspicion(s *step) {
	lost := func() bool { return e.Lost(s) }
	for range 8 {
		e.pool.pollNow(e.ctx, lost)
		if lost() || e.ctx.Err() != nil || s.status != nil && !s.ended {
			return
		}
		time.Sleep(250 * time.Millisecond)
	}
}

func (s *step) finished() bool {
	return s.status != nil && s.status.Exited() && s.status.ExitStatus() == 0
}

func (s *step) code() int {
	if s.status == nil {
		return -1
	}
	return s.status.ExitStatus()
}

// exitReason describes why a step failed.
func (s *step) exitReason() string {
	switch {
	case s.status == nil && s.said != "":
		return "the step could not be started: " + s.said
	case s.status == nil:
		return "srun ended without its step"
	case s.status.Signaled():
		return fmt.Sprintf("killed by signal %d (%s)", s.status.Signal(), s.status.Signal())
	case s.status.ExitStatus() == 126 || s.status.ExitStatus() == 127:
		return fmt.Sprintf("exit status %d on node %s: %s", s.status.ExitStatus(), s.node, secret.Redact(s.out.lastLine()))
	}
	return fmt.Sprintf("exit status %d", s.status.ExitStatus())
}
