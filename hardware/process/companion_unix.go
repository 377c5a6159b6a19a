//go:build unix

package process

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/launch"
)

// Companion is a program that tfexp talks to over its standard input and output while other work runs. It is enclosed
// as a job is: in a separate session and, if the system has them, a separate control group, watched by the guardian.
type Companion struct {
	// In is its standard input, Out its standard output. The caller reads Err, its standard error, to its end and closes it.
	In, Out, Err *os.File

	p    *program
	once sync.Once
	end  string

	sleeps, patience int // reads that do not spin, and how many they were the last time
}

var (
	companions     atomic.Int64 // started so far; part of the mark
	talking        atomic.Int64 // of them live
	companionForks = sync.OnceValue(newForkThread)
)

// StartCompanion starts a program in a folder, with variables ("k=v") in addition to tfexp's. The program must have
// called Main first. The caller must call Wait.
func StartCompanion(argv []string, dir string, env []string) (*Companion, error) {
	run, err := guard.ensure()
	if err != nil {
		return nil, err
	}
	becomeReaper()
	p := &program{mark: fmt.Sprintf("%s.c%d", run, companions.Add(1))}
	env = launch.Merge(launch.Inherited(os.Environ()), env, []string{runEnv + "=" + p.mark})
	path, err := find(argv[0], dir, env)
	if err != nil {
		return nil, err
	}
	var theirs, ours [3]*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
	}()
	for i := range theirs {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		theirs[i], ours[i] = w, r
		if i == 0 {
			theirs[i], ours[i] = r, w
		}
	}
	c := &Companion{In: ours[0], Out: ours[1], Err: ours[2], p: p}
	var files []uintptr
	for _, f := range theirs {
		files = append(files, f.Fd()) // which lets it block, as programs expect
	}
	how := fork{CPUs: hardware.AllowedCPUs(), Program: path, Dir: dir, Argv: argv, Env: env}
	pid, group, err := newGroup(p.mark).startIn(func(group int) (int, error) {
		return how.start(companionForks(), files, group)
	})
	if err != nil {
		errors.Join(c.In.Close(), c.Out.Close(), c.Err.Close())
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("the interpreter that its first line names was not found")
		}
		return nil, fmt.Errorf("program %q: %w", argv[0], err)
	}
	o, _ := readProc(pid)
	p.group, p.id = group, processID{pid, o.start}
	guard.watch(p.id)
	talking.Add(1)
	return c, nil
}

// mostSpin is how long Read polls for an answer before it sleeps, if there are cores to spare: waking up takes as long.
// After polls without an answer it sleeps at once, for up to maxPatience answers.
const (
	mostSpin    = 40 * time.Microsecond
	maxPatience = 1024
)

// Spin is how long each side may poll for the other's message before it sleeps: 0 if polling takes cores from others.
func Spin() time.Duration {
	if 2*int(talking.Load()) > runtime.GOMAXPROCS(0) {
		return 0
	}
	return mostSpin
}

// Read reads from Out.
func (c *Companion) Read(b []byte) (n int, err error) {
	spin := Spin()
	if c.sleeps--; spin == 0 || c.sleeps > 0 {
		return c.Out.Read(b)
	}
	c.patience /= 2
	raw, err := c.Out.SyscallConn()
	if err != nil {
		return 0, err
	}
	wait := raw.Read(func(fd uintptr) bool {
		for began := time.Now(); ; {
			if n, err = syscall.Read(int(fd), b); err != syscall.EAGAIN && err != syscall.EINTR {
				return true
			}
			if time.Since(began) > spin { // the program takes longer, or others want the core
				c.patience = min(max(4*c.patience, 16), maxPatience)
				c.sleeps, spin = c.patience, 0
				return false
			}
		}
	})
	switch err = cmp.Or(err, wait); {
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Kill ends the program and all that it has started.
func (c *Companion) Kill() { c.p.reach(func() error { return c.p.signal(syscall.SIGKILL) }) }

// Wait closes the program's input, waits until it has exited, ends it after a time, and kills the processes that it
// leaves behind. It returns how the program ended: "exit status 1", or "" for success.
func (c *Companion) Wait(patience time.Duration) string {
	c.once.Do(func() {
		c.In.Close()
		late := time.AfterFunc(patience, c.Kill)
		children.await(c.p.id.pid)
		late.Stop()
		c.p.life.Lock()
		status, _ := children.reap(c.p.id.pid)
		c.p.reaped = true
		c.p.life.Unlock()
		now := time.Now()
		c.p.killLeftovers(func() time.Time { return now }, clearLimit)
		guard.forget(c.p.id)
		talking.Add(-1)
		c.Out.Close()
		if !status.Exited() || status.ExitStatus() != 0 {
			c.end = exitReason(status)
		}
	})
	return c.end
}
