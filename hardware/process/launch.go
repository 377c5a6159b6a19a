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
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// runEnv marks every process of a job, so that it is recognised when it has
// left the job's session. Its value begins with the run of tfexp.
const runEnv = "TFEXP_RUN"

// launch starts the program of a job.
func (e *Engine) launch(number int, grant scheduler.Grant) (*running, error) {
	j := &e.jobs[number]
	r := &running{number: number, mark: fmt.Sprintf("%s.%d", e.mark, number), limit: j.Limit}
	r.expire = func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if !r.paused { // else the alarm went off while the job was being paused
			e.terminate(r, scheduler.Failed, fmt.Sprintf("time limit of %s", j.Limit))
		}
	}
	fail := func(reason string) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.kill(r, scheduler.Failed, reason)
	}
	e.mu.Lock()
	again := e.live[number] != nil
	e.mu.Unlock()
	log, err := openLog(j.LogPath, e.opts.LogLimit, again, fail)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	r.log = log
	log.seen = e.Follow(number, j.Steps)
	pid, err := e.spawn(r, j, grant)
	if err != nil {
		log.close(err.Error())
		return nil, err
	}
	// The program cannot vanish before it is waited for, so this is its own.
	p, _ := readProc(pid)
	r.id = ident{pid, p.start}
	log.follow()
	return r, nil
}

func (e *Engine) spawn(r *running, j *Job, grant scheduler.Grant) (pid int, err error) {
	cpus, err := e.cpus(grant.Cores)
	if err != nil {
		return 0, err
	}
	if len(j.Argv) == 0 {
		return 0, errors.New("the job has no program")
	}
	if j.Dir != "" {
		if info, err := os.Stat(j.Dir); err != nil {
			return 0, fmt.Errorf("working directory %q: %w", j.Dir, underlying(err))
		} else if !info.IsDir() {
			return 0, fmt.Errorf("working directory %q is not a directory", j.Dir)
		}
	}
	gpus, err := e.gpus(grant.GPUs)
	if err != nil {
		return 0, err
	}
	env := j.environ(os.Environ(), len(cpus), gpus, r.mark)
	program, err := lookup(j.Argv[0], j.Dir, env)
	if err != nil {
		return 0, err
	}
	if err := j.writeControl(len(cpus)); err != nil {
		return 0, err
	}
	if j.CheckpointDir != "" {
		if err := os.MkdirAll(j.CheckpointDir, 0o777); err != nil {
			return 0, fmt.Errorf("make checkpoint directory: %w", err)
		}
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	out := r.log.in.Fd()
	pid, err = e.forks.fork(cpus, program, j.arguments(grant), &syscall.ProcAttr{
		Dir: j.Dir, Env: env, Files: []uintptr{null.Fd(), out, out}, Sys: sessionAttr(),
	})
	runtime.KeepAlive(r.log.in)
	if errors.Is(err, fs.ErrNotExist) { // the file itself was found
		return 0, fmt.Errorf("program %q: the interpreter that its first line names was not found", j.Argv[0])
	}
	if err != nil {
		return 0, fmt.Errorf("program %q: %w", j.Argv[0], err)
	}
	return pid, nil
}

// arguments returns the job's argv under a grant.
func (j *Job) arguments(grant scheduler.Grant) []string {
	switch gpus := grant.GPUs.Count(); {
	case !j.Flags:
		return j.Argv
	case gpus > 0:
		return append(slices.Clone(j.Argv), "--gpu", "--numGPUs", strconv.Itoa(gpus))
	default:
		return append(slices.Clone(j.Argv), "--cpu", "--numThreads", strconv.Itoa(grant.Cores.Count()))
	}
}

// environ returns the environment of a job that is given n cores, and GPUs by
// what programs are told of them.
func (j *Job) environ(inherited []string, n int, gpus []string, mark string) []string {
	inter, intra := j.Split(n)
	given := []string{
		contract.EnvJob + "=" + j.Name,
		contract.EnvInter + "=" + strconv.Itoa(inter),
		contract.EnvIntra + "=" + strconv.Itoa(intra),
		contract.EnvOMP + "=" + strconv.Itoa(intra),
		contract.EnvGPUs + "=" + strconv.Itoa(len(gpus)),
		// Empty hides all devices from a job that was given none.
		contract.EnvVisibleGPUs + "=" + strings.Join(gpus, ","),
	}
	if len(gpus) > 0 {
		// Indices are those of the bus; by default CUDA counts the fastest first.
		given = append(given, "CUDA_DEVICE_ORDER=PCI_BUS_ID")
	}
	if j.ControlPath != "" {
		given = append(given, contract.EnvControl+"="+absolute(j.ControlPath))
	}
	if j.CheckpointDir != "" {
		given = append(given, contract.EnvCheckpointDir+"="+absolute(j.CheckpointDir))
	}
	return merge(outside(inherited), given, j.Env, []string{runEnv + "=" + mark})
}

// outside removes from an environment what a tfexp that this one is itself a
// job of has said there, and this one might not say anew.
func outside(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		switch name {
		case contract.EnvEpochs, contract.EnvSteps, contract.EnvControl, contract.EnvCheckpointDir:
			return true
		}
		return false
	})
}

// absolute makes a path of tfexp's independent of the job's working directory.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// merge joins lists of "k=v" entries; of several for one name the last
// stays, at the place of the first.
func merge(lists ...[]string) []string {
	var env []string
	at := map[string]int{}
	for _, entry := range slices.Concat(lists...) {
		name, _, _ := strings.Cut(entry, "=")
		if i, ok := at[name]; ok {
			env[i] = entry
			continue
		}
		at[name] = len(env)
		env = append(env, entry)
	}
	return env
}

// Split divides n cores into the job's pools; see contract.Split.
func (j *Job) Split(n int) (inter, intra int) {
	request, asked := max(j.Threads, 1), j.Intra
	if asked <= 0 {
		asked = request
	}
	return contract.Split(j.Inter, asked, request, n)
}

// writeControl tells the job that it has n cores. The file is replaced as a
// whole; it is not synced, since it means nothing once the job is dead.
func (j *Job) writeControl(n int) error {
	if j.ControlPath == "" {
		return nil
	}
	inter, intra := j.Split(n)
	if err := os.MkdirAll(filepath.Dir(j.ControlPath), 0o777); err != nil {
		return fmt.Errorf("write control file: %w", err)
	}
	next := j.ControlPath + ".new"
	if err := os.WriteFile(next, fmt.Appendf(nil, "%d %d\n", inter, intra), 0o666); err != nil {
		return fmt.Errorf("write control file: %w", err)
	}
	if err := os.Rename(next, j.ControlPath); err != nil {
		return fmt.Errorf("write control file: %w", err)
	}
	return nil
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
		return absolute(path), nil
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
		path := absolute(filepath.Join(folder, name))
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
	return fmt.Errorf("program %q: %w", name, underlying(err))
}

// underlying strips the operation and path that the caller's own words name.
func underlying(err error) error {
	var execErr *exec.Error
	if errors.As(err, &execErr) {
		err = execErr.Err
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return err
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
