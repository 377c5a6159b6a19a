//go:build unix

package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/launch"
)

// Companion is a program that runs at the same time as the jobs of a cell. Like a job, it has a separate session
// and, if possible, a control group, and the guardian kills it when tfexp ends.
type Companion struct {
	p    *program
	once sync.Once
	end  string
}

var (
	companions     atomic.Int64 // number of companions so far; part of the mark
	companionForks = sync.OnceValue(newForkThread)
)

// StartCompanion starts a program in a folder. env has variables ("k=v") in addition to tfexp's; files are its
// standard input, output and error. Main must have been called. The caller must call Wait.
func StartCompanion(argv []string, dir string, env []string, files [3]*os.File) (*Companion, error) {
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
	var theirs []uintptr
	for _, f := range files {
		theirs = append(theirs, f.Fd()) // Fd makes it blocking, as programs expect
	}
	how := fork{CPUs: hardware.AllowedCPUs(), Program: path, Dir: dir, Argv: argv, Env: env}
	pid, group, err := newGroup(p.mark).startIn(func(group int) (int, error) {
		return how.start(companionForks(), theirs, group)
	})
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("the interpreter that its first line names was not found")
		}
		return nil, fmt.Errorf("program %q: %w", argv[0], err)
	}
	o, _ := readProc(pid)
	p.group, p.id = group, processID{pid, o.start}
	guard.watch(p.id)
	return &Companion{p: p}, nil
}

// Kill ends the program and all processes that it has started.
func (c *Companion) Kill() { c.p.reach(func() error { return c.p.signal(syscall.SIGKILL) }) }

// Wait waits until the program has exited, and kills it after patience. It then kills the processes that the program
// left running. It returns how the program ended: "exit status 1", or "" for success.
func (c *Companion) Wait(patience time.Duration) string {
	c.once.Do(func() {
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
		if !status.Exited() || status.ExitStatus() != 0 {
			c.end = exitReason(status)
		}
	})
	return c.end
}
