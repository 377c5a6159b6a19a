//go:build !unix

package process

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/tfexp/tfexp/hardware/launch"
)

// Companion is a program that runs at the same time as the jobs of a cell. It ends with tfexp, because it is in a
// job object that only tfexp holds.
type Companion struct {
	cmd  *exec.Cmd
	job  *jobObject
	once sync.Once
	end  string
}

// StartCompanion starts a program in a folder. env has variables ("k=v") in addition to tfexp's; files are its
// standard input, output and error. The caller must call Wait.
func StartCompanion(argv []string, dir string, env []string, files [3]*os.File) (*Companion, error) {
	c := &Companion{cmd: exec.Command(argv[0], argv[1:]...)}
	c.cmd.Dir, c.cmd.Env = dir, append(launch.Inherited(os.Environ()), env...)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = files[0], files[1], files[2]
	err := c.cmd.Start()
	if err == nil {
		c.job, err = newJobObject(c.cmd.Process)
	}
	if err != nil {
		return nil, fmt.Errorf("program %q: %w", argv[0], err)
	}
	return c, nil
}

// Kill ends the program and all processes that it has started.
func (c *Companion) Kill() { c.job.kill(c.cmd.Process) }

// Wait waits until the program has exited, and kills it after patience. It then kills the processes that the program
// left running. It returns how the program ended: "exit status 1", or "" for success.
func (c *Companion) Wait(patience time.Duration) string {
	c.once.Do(func() {
		late := time.AfterFunc(patience, c.Kill)
		if err := c.cmd.Wait(); err != nil {
			c.end = err.Error()
		}
		late.Stop()
		c.Kill()
	})
	return c.end
}
