//go:build !unix

package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Companion is a program that tfexp talks to over its standard input and output while other work runs. It ends with
// tfexp: it is in a job object that no other process holds.
type Companion struct {
	// In is its standard input, Out its standard output. The caller reads Err, its standard error, to its end and closes it.
	In, Out, Err *os.File

	cmd  *exec.Cmd
	job  *jobObject
	once sync.Once
	end  string
}

// StartCompanion starts a program in a folder, with variables ("k=v") in addition to tfexp's. The caller must call
// Wait.
func StartCompanion(argv []string, dir string, env []string) (*Companion, error) {
	c := &Companion{cmd: exec.Command(argv[0], argv[1:]...)}
	c.cmd.Dir, c.cmd.Env = dir, append(os.Environ(), env...)
	in, theirs, err1 := os.Pipe()
	out, outTheirs, err2 := os.Pipe()
	errs, errTheirs, err3 := os.Pipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	c.In, c.Out, c.Err = theirs, out, errs
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = in, outTheirs, errTheirs
	err := c.cmd.Start()
	errors.Join(in.Close(), outTheirs.Close(), errTheirs.Close())
	if err == nil {
		c.job, err = newJobObject(c.cmd.Process)
	}
	if err != nil {
		errors.Join(c.In.Close(), c.Out.Close(), c.Err.Close())
		return nil, fmt.Errorf("program %q: %w", argv[0], err)
	}
	return c, nil
}

// Spin is how long each side may poll for the other's message before it sleeps.
func Spin() time.Duration { return 0 }

// Read reads from Out.
func (c *Companion) Read(b []byte) (int, error) { return c.Out.Read(b) }

// Kill ends the program and all that it has started.
func (c *Companion) Kill() { c.job.kill(c.cmd.Process) }

// Wait closes the program's input, waits until it has exited, ends it after a time, and kills the processes that it
// leaves behind. It returns how the program ended: "exit status 1", or "" for success.
func (c *Companion) Wait(patience time.Duration) string {
	c.once.Do(func() {
		c.In.Close()
		late := time.AfterFunc(patience, c.Kill)
		if err := c.cmd.Wait(); err != nil {
			c.end = err.Error()
		}
		late.Stop()
		c.Kill()
		c.Out.Close()
	})
	return c.end
}
