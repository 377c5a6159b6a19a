package external

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tfexp/tfexp/hardware/process"
)

// companion is a program that tfexp talks to over its standard input and output while other work runs.
type companion struct {
	// In is its standard input, Out its standard output. The caller reads Err, its standard error, to its end and closes it.
	In, Out, Err *os.File

	program *process.Companion
	once    sync.Once
	end     string

	sleeps, patience int // reads that do not spin, and how many they were the last time
}

// talking counts the live companions.
var talking atomic.Int64

// startCompanion starts a program in a folder, with variables ("k=v") in addition to tfexp's. The program must have
// called process.Main first. The caller must call Wait.
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

// Kill ends the program and all that it has started.
func (c *companion) Kill() { c.program.Kill() }

// Wait closes the program's input, waits until it has exited, ends it after a time, and kills the processes that it
// leaves behind. It returns how the program ended: "exit status 1", or "" for success.
func (c *companion) Wait(patience time.Duration) string {
	c.once.Do(func() {
		c.In.Close()
		c.end = c.program.Wait(patience)
		talking.Add(-1)
		c.Out.Close()
	})
	return c.end
}
