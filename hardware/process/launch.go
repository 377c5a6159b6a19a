//go:build unix

package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/experiments/secret"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/scheduler"
)

// runEnv is the environment variable that marks every process of a job, so that it can be recognized even outside
// the job's session. Its value starts with the name of the run.
const runEnv = "TFEXP_RUN"

// loopback is the host of the addresses of a job's parts.
const loopback = "127.0.0.1"

// hands are the engine's operations on programs.
type hands struct{ e *Engine }

// Addresses implements launch.ProgramHands.
func (h hands) Addresses(_ int, parts []scheduler.Part, _ contract.Cluster) (contract.Cluster, error) {
	return launch.Addresses(loopback, parts)
}

// Met implements launch.Meeting.
func (h hands) Met(_ []*program, addresses contract.Cluster) (met, known bool) {
	return launch.ClusterConnected(addresses, "/proc/self/net")
}

// Begin starts a program on the cores of a part.
func (h hands) Begin(s launch.JobState, part scheduler.Part, again bool, seen func([]byte), fail func(string)) (*program,
	error) {
	e := h.e
	p := &program{JobState: s, mark: fmt.Sprintf("%s.%d", e.mark, s.Number)}
	if part.Role != "" {
		p.mark += "." + launch.PartName(part)
	}
	log, err := openLog(s.Job.LogPath, e.opts.LogLimit, again, fail, seen)
	if err != nil {
		return nil, err
	}
	p.log = log
	pid, err := e.spawn(p, part)
	if err != nil {
		log.close(err.Error())
		return nil, err
	}
	// The program cannot vanish before this process waits for it, so the start time is its own.
	o, _ := readProc(pid)
	p.id = processID{pid, o.start}
	log.follow()
	// The mark in the environment already shows to which job a process belongs. This adds processes that clear their
	// environment but stay in the session.
	guard.watch(p.id)
	e.records.started(p.id)
	return p, nil
}

// Discard ends a program whose job could not be started.
func (h hands) Discard(p *program) {
	p.signal(syscall.SIGKILL)
	children.await(p.id.pid)
	p.life.Lock()
	children.reap(p.id.pid)
	p.reaped = true
	p.life.Unlock()
	p.killLeftovers(func() time.Time { return h.e.Deadline(p) }, h.e.opts.Grace+clearLimit)
	p.log.finish()
	p.log.close("another part of the job could not be started")
	guard.forget(p.id)
	h.e.records.ended(p.id)
}

// Hold implements launch.ProgramHands.
func (h hands) Hold(programs []*program) error { return signalAll(programs, syscall.SIGSTOP) }

// GoOn implements launch.ProgramHands.
func (h hands) GoOn(programs []*program) error { return signalAll(programs, syscall.SIGCONT) }

// Ask implements launch.ProgramHands.
func (h hands) Ask(programs []*program, paused bool) {
	// In the other order, a paused job would run before it gets the signal.
	signalAll(programs, syscall.SIGTERM)
	if paused {
		signalAll(programs, syscall.SIGCONT)
	}
}

// Kill implements launch.ProgramHands.
func (h hands) Kill(programs []*program) { signalAll(programs, syscall.SIGKILL) }

// signalAll sends a signal to programs.
func signalAll(programs []*program, sig syscall.Signal) error {
	errs := schema.Each(programs, func(p *program) error { return p.reach(func() error { return p.signal(sig) }) })
	return errors.Join(errs...)
}

// Bind implements launch.ProgramHands.
func (h hands) Bind(p *program, part scheduler.Part) error {
	cpus, err := h.e.cpus(part.Cores)
	if err != nil {
		return err
	}
	// If the program exits meanwhile, its end is reported separately, and this is no error.
	return p.reach(func() error { return p.bind(cpus) })
}

// Write implements launch.ProgramHands.
func (h hands) Write(p *program, content []byte, at time.Time) error {
	return p.Job.ReplaceControl(content, at)
}

func (e *Engine) spawn(p *program, part scheduler.Part) (pid int, err error) {
	j := &p.Job
	cpus, err := e.cpus(part.Cores)
	if err != nil {
		return 0, err
	}
	if len(j.Argv) == 0 {
		return 0, errors.New("the job has no program")
	}
	if j.Dir != "" {
		if info, err := os.Stat(j.Dir); err != nil {
			return 0, fmt.Errorf("working directory %q: %w", j.Dir, launch.Underlying(err))
		} else if !info.IsDir() {
			return 0, fmt.Errorf("working directory %q is not a directory", j.Dir)
		}
	}
	gpus, err := e.gpus(part.GPUs)
	if err != nil {
		return 0, err
	}
	env, err := secret.Reveal(environ(j, len(cpus), gpus, p.mark))
	if err != nil {
		return 0, err
	}
	program, err := find(j.Argv[0], j.Dir, env)
	if err != nil {
		return 0, err
	}
	if err := j.Prepare(len(cpus), p.Before); err != nil {
		return 0, err
	}
	null, err := folder.OpenFile(os.DevNull, os.O_RDONLY, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	out := p.log.in.Fd()
	files := []uintptr{null.Fd(), out, out}
	argv, err := secret.Reveal(j.Arguments(scheduler.Grant{Cores: part.Cores, GPUs: part.GPUs}))
	if err != nil {
		return 0, err
	}
	f := fork{CPUs: cpus, Program: program, Dir: j.Dir, Env: env, Argv: argv}
	if err := folder.Try("exec", program); err != nil {
		return 0, err
	}
	pid, p.group, err = newGroup(p.mark).startIn(func(group int) (int, error) { return f.start(e.forks, files, group) })
	runtime.KeepAlive(p.log.in)
	if errors.Is(err, fs.ErrNotExist) { // the file exists, but not its interpreter
		return 0, fmt.Errorf("program %q: the interpreter that its first line names was not found", j.Argv[0])
	}
	if err != nil {
		return 0, fmt.Errorf("program %q: %w", j.Argv[0], err)
	}
	return pid, nil
}

// start starts the program with files for its input and outputs: by the guardian, or on a thread of this process.
func (f fork) start(on *forkThread, files []uintptr, group int) (pid int, err error) {
	if canAdopt() {
		return guard.fork(f, files, group)
	}
	return on.fork(f.CPUs, f.Program, f.Argv, &syscall.ProcAttr{Dir: f.Dir, Env: f.Env, Files: files, Sys: sessionAttr()})
}

// environ returns the environment of a job with n cores and the given GPUs: tfexp's own, the variables of the job
// contract, the job's variables, and the mark.
func environ(j *launch.Job, n int, gpus []string, mark string) []string {
	paths := launch.Paths{Control: launch.Absolute(j.ControlPath), Checkpoint: launch.Absolute(j.CheckpointDir)}
	return launch.Merge(launch.Inherited(os.Environ()), j.Environ(n, gpus, paths), []string{runEnv + "=" + mark})
}

// startedAs is the path of this program at its start. The file may have been replaced or removed since.
var startedAs, _ = os.Executable()

// find returns the path of a job's program. For a built-in program it is the running tfexp.
func find(name, dir string, env []string) (string, error) {
	if name == startedAs && name != "" {
		return ownProgram()
	}
	return lookup(name, dir, env)
}

// lookup searches a program in the job's PATH, from the job's directory.
func lookup(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		path := name
		if dir != "" && !filepath.IsAbs(name) {
			path = filepath.Join(dir, name)
		}
		if _, err := exec.LookPath(path); err != nil {
			return "", notRunnable(name, err)
		}
		return launch.Absolute(path), nil
	}
	var search string
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			search = value
		}
	}
	var found error = fs.ErrNotExist
	for _, folder := range filepath.SplitList(search) {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(dir, folder)
		}
		path := launch.Absolute(filepath.Join(folder, name))
		_, err := exec.LookPath(path)
		if err == nil {
			return path, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			found = err
		}
	}
	return "", notRunnable(name, found)
}

func notRunnable(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("program %q not found", name)
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("program %q: %w: chmod +x makes it executable", name, launch.Underlying(err))
	}
	return fmt.Errorf("program %q: %w", name, launch.Underlying(err))
}

// forkThread is a thread that does all forks of an engine without a guardian. A child gets its parent-death signal
// when the thread that forked it ends, so the thread must live as long as the engine. A child inherits the CPUs of
// the thread, so it is bound to them from its first instruction.
type forkThread struct{ work chan func() }

func newForkThread() *forkThread {
	t := &forkThread{work: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for f := range t.work {
			f()
		}
		// The thread has its former CPUs again, so it can be reused.
		runtime.UnlockOSThread()
	}()
	return t
}

func (t *forkThread) close() { close(t.work) }

// fork starts a program on the given CPUs.
func (t *forkThread) fork(cpus []int, program string, argv []string, attr *syscall.ProcAttr) (pid int, err error) {
	done := make(chan struct{})
	t.work <- func() {
		defer close(done)
		bindErr := onCPUs(cpus, func() {
			pid, err = children.add(func() (int, error) { return syscall.ForkExec(program, argv, attr) })
		})
		if bindErr != nil {
			err = fmt.Errorf("bind to CPUs %v: %w", cpus, bindErr)
		}
	}
	<-done
	return pid, err
}

// children are the programs that this package has started and not reaped, for all engines. No other code may wait
// for them.
var children childSet

type childSet struct {
	mu   sync.Mutex // held while a child is started, so that no child is missing
	pids map[int]*child
}

// child is a program that is a child of this process, or of the guardian.
type child struct {
	of     *link         // the guardian whose child it is; nil for this process
	exited chan struct{} // closed when the guardian reports its exit, or is gone
	lost   bool          // the guardian was gone before it exited, so the kernel has killed it
}

func (c *childSet) add(fork func() (int, error)) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pid, err := fork()
	if err == nil {
		c.know(pid, &child{})
	}
	return pid, err
}

// know adds a child. mu must be held.
func (c *childSet) know(pid int, of *child) {
	if c.pids == nil {
		c.pids = map[int]*child{}
	}
	c.pids[pid] = of
}

// adopt adds a program that a guardian has forked.
func (c *childSet) adopt(pid int, of *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.know(pid, &child{of: of, exited: make(chan struct{})})
}

// exit records that a program has exited.
func (c *childSet) exit(pid int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.pids[pid]; p != nil {
		close(p.exited)
	}
}

// lose makes the programs of a guardian that is gone children of this process.
func (c *childSet) lose(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.pids {
		if p.of == l {
			p.of = nil
			select {
			case <-p.exited:
			default:
				p.lost = true
				close(p.exited)
			}
		}
	}
}

// lostGuardian reports whether the guardian of a program, which is not reaped yet, was killed before the program
// exited.
func (c *childSet) lostGuardian(pid int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pids[pid]
	return p != nil && p.lost
}

// await waits until a program has exited. Its process number is not reused until it is reaped.
func (c *childSet) await(pid int) {
	c.mu.Lock()
	p := c.pids[pid]
	c.mu.Unlock()
	if p != nil && p.exited != nil {
		<-p.exited
	}
	c.mu.Lock()
	own := p == nil || p.of == nil
	c.mu.Unlock()
	if own {
		awaitExit(pid)
	}
}

// reap waits for a program. After that its process number may be reused.
func (c *childSet) reap(pid int) (status syscall.WaitStatus, used syscall.Rusage) {
	c.mu.Lock()
	remote := c.pids[pid] != nil && c.pids[pid].of != nil
	c.mu.Unlock()
	if remote {
		guard.mu.Lock()
		a, err := guard.ask(message{Reap: pid})
		guard.mu.Unlock()
		if err == nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.pids, pid)
			hardware.CountAsOwn(a.Usage)
			return a.Status, a.Usage
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	wait(pid, &status, &used)
	delete(c.pids, pid)
	return status, used
}

// wait waits for a child of this process.
func wait(pid int, status *syscall.WaitStatus, used *syscall.Rusage) {
	for {
		if _, err := syscall.Wait4(pid, status, 0, used); err != syscall.EINTR {
			return
		}
	}
}
