package main

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/pipeline/store"
)

// The exit statuses. They are part of the interface: scripts rely on them.
const (
	exitOK          = 0
	exitInternal    = 1
	exitUsage       = 2
	exitInvalid     = 3
	exitCellsFailed = 4
	exitMissed      = 5
	exitUnavailable = 6
	exitInUse       = 7
	exitInterrupted = 130
)

const exitHelp = `Exit status:
    0  success
    1  an internal error, or a results file that cannot be read or written
    2  the command line is wrong
    3  the experiment is invalid
    4  some cells failed
    5  a declared threshold was missed
    6  an engine or hardware that the experiment needs is not available
    7  the results folder is in use by another tfexp
  130  interrupted; finished work is kept, and the run can be resumed`

// exitError gives an error an exit status and a hint; errors that wrap it have
// them too.
type exitError struct {
	code int
	err  error // nil when the error has been printed already
	hint string
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// silently ends the command with a status; nothing more is printed.
func silently(code int) error {
	if code == exitOK {
		return nil
	}
	return &exitError{code: code}
}

// usagef returns the error for a wrong command line; hint may be empty.
func usagef(hint, format string, args ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, args...), hint: hint}
}

// verdict returns the exit status and the hint for an error.
func verdict(err error) (code int, hint string) {
	var (
		own     *exitError
		inUse   *store.InUseError
		missing *engine.Unavailable
		path    *fs.PathError
	)
	switch {
	case err == nil:
		return exitOK, ""
	case errors.As(err, &own):
		return own.code, own.hint
	case errors.Is(err, pipeline.ErrInterrupted):
		return exitInterrupted, ""
	case errors.As(err, &inUse):
		return exitInUse, "wait until that run has ended, or choose another folder with --out"
	case errors.As(err, &missing):
		return exitUnavailable, missing.Hint
	case errors.Is(err, syscall.ENOSPC):
		return exitInternal, "free some disk space and run it again: finished work is kept"
	case errors.As(err, &path) && path.Op == "mkdir":
		return exitInternal, "choose another folder with --out"
	}
	return exitInternal, ""
}
