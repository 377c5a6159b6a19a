package external

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages"
)

// Limits on a program's output.
const (
	maxAnswer    = 16 << 20 // bytes of a line
	maxTail      = 64 << 10 // bytes of error output that are kept
	shownLines   = 10       // lines of error output in a message
	exitPatience = 3 * time.Second
)

// policyProcess is a program that answers each line of input with a line of output.
type policyProcess struct {
	program    *companion
	answers    *bufio.Reader
	limit      time.Duration
	timeout    *time.Timer
	killReason atomic.Pointer[string] // why tfexp killed the program
	stderr     *stderrTail
	drained    chan struct{}
	release    func() bool // ends the watch of the context
}

// startProcess starts the program of a task.
func startProcess(ctx context.Context, t *stages.Task) (*policyProcess, error) {
	set := argsOf(t.Policy.Settings)
	env := []string{
		"PYTHONHASHSEED=0", // Python then orders sets of texts the same way in each process
		fmt.Sprintf("TFEXP_POLICY_SPIN=%d", spinTime().Microseconds()),
	}
	if dir, err := libraryFolder(); err == nil {
		path := []string{dir}
		if own := os.Getenv("PYTHONPATH"); own != "" {
			path = append(path, own)
		}
		env = append(env, "PYTHONPATH="+strings.Join(path, string(os.PathListSeparator)))
	}
	p, err := startCompanion(set.Command, t.Base, env)
	if err != nil {
		return nil, fmt.Errorf("policy %q: %w", t.Setup.Cell.Policy, err)
	}
	proc := &policyProcess{
		program: p, answers: bufio.NewReaderSize(p, 1<<16), limit: set.Limit, stderr: &stderrTail{},
		drained: make(chan struct{}),
	}
	proc.timeout = time.AfterFunc(time.Hour, func() {
		proc.kill(fmt.Sprintf("it did not answer within %s (the policy's argument limit)", proc.limit))
	})
	proc.timeout.Stop()
	proc.release = context.AfterFunc(ctx, func() { proc.kill("tfexp was interrupted") })
	go func() {
		defer close(proc.drained)
		defer p.Err.Close()
		io.Copy(proc.stderr, p.Err)
	}()
	return proc, nil
}

// kill ends the program. Only the first reason is kept.
func (proc *policyProcess) kill(why string) {
	proc.killReason.CompareAndSwap(nil, &why)
	proc.program.Kill()
}

// roundTrip sends a line without its line break and returns the answer, which is valid until the next call.
func (proc *policyProcess) roundTrip(line []byte) (answer []byte, err error) {
	proc.timeout.Reset(proc.limit)
	defer proc.timeout.Stop()
	if answer, err = proc.exchange(line); err != nil {
		proc.timeout.Stop()
		return nil, proc.failure(err)
	}
	return answer, nil
}

// errTalks is returned if a program writes too much.
var (
	errExtraOutput = errors.New("each message has one line for an answer, and standard output nothing else")
	errLongAnswer  = fmt.Errorf("its answer is longer than %d MiB: %w", maxAnswer>>20, errExtraOutput)
)

// exchange writes a line to the program's standard input and reads a line from its standard output.
func (proc *policyProcess) exchange(line []byte) ([]byte, error) {
	if proc.answers.Buffered() > 0 {
		return nil, fmt.Errorf("it printed more than one line in answer to a message: %w", errExtraOutput)
	}
	if _, err := proc.program.In.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	line, err := proc.answers.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return bytes.TrimSuffix(line, []byte("\n")), err
	}
	long := bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		if line, err = proc.answers.ReadSlice('\n'); len(long)+len(line) > maxAnswer {
			return nil, errLongAnswer
		}
		long = append(long, line...)
	}
	return bytes.TrimSuffix(long, []byte("\n")), err
}

// failure ends the program and returns the reason why it did not answer.
func (proc *policyProcess) failure(err error) error {
	if errors.Is(err, errExtraOutput) {
		proc.kill(err.Error())
	}
	closed := time.AfterFunc(exitPatience, func() { proc.kill("it closed its standard output, but did not exit") })
	end := proc.waitForExit(2 * exitPatience)
	closed.Stop()
	if why := proc.killReason.Load(); why != nil {
		return proc.withStderr(*why)
	}
	end = cmp.Or(end, "exit status 0")
	return proc.withStderr("it ended before it answered: " + end)
}

// withStderr returns an error with the last lines of the program's error output.
func (proc *policyProcess) withStderr(why string) error {
	if last := proc.stderr.lastLines(shownLines); last != "" {
		why += "; its last lines:"
		for line := range strings.SplitSeq(last, "\n") {
			why += "\n  │ " + schema.Shortened(line, maxLine)
		}
	}
	return errors.New(why)
}

// waitForExit closes the program's input and waits until it exits.
func (proc *policyProcess) waitForExit(patience time.Duration) string {
	proc.release()
	how := proc.program.Wait(patience)
	select {
	case <-proc.drained:
	case <-time.After(exitPatience):
	}
	return how
}
