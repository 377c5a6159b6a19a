package external

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tfexp/tfexp/hardware/process"
)

// companion is a program that tfexp talks to by its standard input and output, while other work continues.
type companion struct {
	// In, Out and Err are the program's standard input, output and error. The caller must read Err to its end and close
	// it.
	In, Out, Err *os.File

	program *process.Companion
	once    sync.Once
	end     string

	sleeps, patience int // number of next reads that do not poll, and its value last time
}

// talking counts the running companions.
var talking atomic.Int64

// startCompanion starts a program in a folder. env has variables ("k=v") in addition to tfexp's own. main must have
// called process.Main before. The caller must call Wait.
func startCompanion(argv []string, dir string, env []string) (*companion, error) {
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
	c := &companion{In: ours[0], Out: ours[1], Err: ours[2]}
	var err error
	if c.program, err = process.StartCompanion(argv, dir, env, theirs); err != nil {
		errors.Join(c.In.Close(), c.Out.Close(), c.Err.Close())
		return nil, err
	}
	talking.Add(1)
	return c, nil
}

// Kill ends the program and all its child processes.
func (c *companion) Kill() { c.program.Kill() }

// Wait closes the program's input and waits until it exits; after patience it kills the program. It also kills child
// processes that remain. It returns how the program ended, such as "exit status 1"; empty for success.
func (c *companion) Wait(patience time.Duration) string {
	c.once.Do(func() {
		c.In.Close()
		c.end = c.program.Wait(patience)
		talking.Add(-1)
		c.Out.Close()
	})
	return c.end
}
