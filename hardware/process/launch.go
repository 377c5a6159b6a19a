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
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/progress"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// runEnv marks every process of a job, so that it is recognised when it has
// left the job's session. Its value begins with the run of tfexp.
const runEnv = "TFEXP_RUN"

// launch starts the program of a job, or one for each of its parts.
func (e *Engine) launch(number int, grant scheduler.Grant) (*running, error) {
	j := &e.jobs[number]
	r := &running{number: number}
	e.mu.Lock()
	last := e.live[number]
	if last != nil {
		r.before = last.before + last.usage.Service
	}
	e.mu.Unlock()
	again := last != nil
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
		whole := grant.Parts(e.opts.Cluster)[0]
		whole.Cores, whole.GPUs = grant.Cores, grant.GPUs
		p, err := e.begin(r, *j, whole, fmt.Sprintf("%s.%d", e.mark, number), again)
		if err != nil {
			return nil, err
		}
		e.add(r, p)
		r.progress.Begin()
		return r, nil
	}
	var err error
	if r.cluster, err = launch.Addresses(loopback, parts); err != nil {
		return nil, err
	}
	lead := cluster.Lead(parts)
	order := append([]scheduler.Part{parts[lead]}, slices.Delete(slices.Clone(parts), lead, lead+1)...)
	for i, part := range order {
		p, err := e.beginPart(r, part, i == 0, again)
		if err != nil {
			for _, p := range r.programs {
				e.discard(p)
			}
			return nil, fmt.Errorf("%s: %w", launch.PartName(part), err)
		}
		e.add(r, p)
	}
	r.progress.Begin()
	r.progress.Meet(func() (met, known bool) { return progress.Met(r.cluster, "/proc/self/net") })
	return r, nil
}

// add makes a program one of a job's.
func (e *Engine) add(r *running, p *program) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r.programs = append(r.programs, p)
}

// loopback is where the parts of a job find each other.
const loopback = "127.0.0.1"

// beginPart starts the program of a part.
func (e *Engine) beginPart(r *running, part scheduler.Part, lead, again bool) (*program, error) {
	j, err := e.jobs[r.number].OfPart(part, lead, r.cluster)
	if err != nil {
		return nil, err
	}
	return e.begin(r, j, part, fmt.Sprintf("%s.%d.%s", e.mark, r.number, launch.PartName(part)), again)
}

// begin starts a program on the cores of a part.
func (e *Engine) begin(r *running, j launch.Job, part scheduler.Part, mark string, again bool) (*program, error) {
	p := &program{of: r, part: part, job: j, mark: mark, ended: make(chan struct{})}
	fail := func(reason string) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.kill(r, scheduler.Failed, reason)
		p.kill() // it may not be one of the job's programs yet
	}
	var seen func([]byte)
	if len(r.programs) == 0 {
		if seen = r.progress.Output(); e.opts.Fleet != nil {
			seen = r.saves.Listen(seen)
		}
	} else {
		seen = r.progress.OfPart(launch.PartName(part))
	}
	log, err := openLog(j.LogPath, e.opts.LogLimit, again, fail, seen)
	if err != nil {
		return nil, err
	}
	p.log = log
	pid, err := e.spawn(p)
	if err != nil {
		log.close(err.Error())
		return nil, err
	}
	// The program cannot vanish before it is waited for, so this is its own.
	o, _ := readProc(pid)
	p.id = ident{pid, o.start}
	log.follow()
	return p, nil
}

// discard ends a program whose job could not be started.
func (e *Engine) discard(p *program) {
	p.signal(syscall.SIGKILL)
	awaitExit(p.id.pid)
	e.mu.Lock()
	children.reap(p.id.pid)
	p.gone = true
	e.mu.Unlock()
	e.clear(p)
	p.log.finish()
	p.log.close("another part of the job could not be started")
}

func (e *Engine) spawn(p *program) (pid int, err error) {
	j := &p.job
	cpus, err := e.cpus(p.part.Cores)
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
	gpus, err := e.gpus(p.part.GPUs)
	if err != nil {
		return 0, err
	}
	env := environ(j, len(cpus), gpus, p.mark)
	program, err := find(j.Argv[0], j.Dir, env)
	if err != nil {
		return 0, err
	}
	if err := j.Prepare(len(cpus), p.of.before); err != nil {
		return 0, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	out := p.log.in.Fd()
	pid, err = e.forks.fork(cpus, program, j.Arguments(scheduler.Grant{Cores: p.part.Cores, GPUs: p.part.GPUs}), &syscall.ProcAttr{
		Dir: j.Dir, Env: env, Files: []uintptr{null.Fd(), out, out}, Sys: sessionAttr(),
	})
	runtime.KeepAlive(p.log.in)
	if errors.Is(err, fs.ErrNotExist) { // the file itself was found
		return 0, fmt.Errorf("program %q: the interpreter that its first line names was not found", j.Argv[0])
	}
	if err != nil {
		return 0, fmt.Errorf("program %q: %w", j.Argv[0], err)
	}
	return pid, nil
}

// environ returns the environment of a job that is given n cores and these GPUs: tfexp's own, the variables of the job
// contract, those of the job, and the mark.
func environ(j *launch.Job, n int, gpus []string, mark string) []string {
	paths := launch.Paths{Control: launch.Absolute(j.ControlPath), Checkpoint: launch.Absolute(j.CheckpointDir)}
	return launch.Merge(launch.Inherited(os.Environ()), j.Environ(n, gpus, paths), []string{runEnv + "=" + mark})
}

// startedAs is the path of this program when it began, which may have been replaced or removed since.
var startedAs, _ = os.Executable()

// find finds a program as the job would. A job that is a program of tfexp itself runs the one that runs now.
func find(name, dir string, env []string) (string, error) {
	if name == startedAs && name != "" {
		return ownProgram()
	}
	return lookup(name, dir, env)
}

// lookup finds a program as the job would: by its PATH, from its directory.
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
	return fmt.Errorf("program %q: %w", name, launch.Underlying(err))
}

// forkThread is an operating-system thread that does all forks of an engine.
// The parent-death signal of a child is sent when the thread that forked it
// ends, so the thread lives as long as the engine; and a child inherits the
// thread's CPUs, so it is bound before its first instruction.
type forkThread struct{ work chan func() }

func newForkThread() *forkThread {
	t := &forkThread{work: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for f := range t.work {
			f()
		}
		// The thread's CPUs are as they were: it may serve others.
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

// children are the processes that this package started and has not yet
// waited for, of all engines: nobody else may wait for them.
var children childSet

type childSet struct {
	mu   sync.Mutex // held while a child is being made, so that none is unknown
	pids map[int]bool
}

func (c *childSet) add(fork func() (int, error)) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pid, err := fork()
	if err == nil {
		if c.pids == nil {
			c.pids = map[int]bool{}
		}
		c.pids[pid] = true
	}
	return pid, err
}

// reap waits for a child, and from then on its number may be used again.
func (c *childSet) reap(pid int) (status syscall.WaitStatus, used syscall.Rusage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if _, err := syscall.Wait4(pid, &status, 0, &used); err != syscall.EINTR {
			break
		}
	}
	delete(c.pids, pid)
	return status, used
}
