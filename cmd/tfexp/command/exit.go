package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/stages"
)

// The exit statuses. Scripts rely on them, so they must not change.
const (
	ExitOK          = 0
	ExitInternal    = 1
	ExitUsage       = 2
	ExitInvalid     = 3
	ExitCellsFailed = 4
	ExitMissed      = 5
	ExitUnavailable = 6
	ExitInUse       = 7
	ExitInterrupted = 130
)

// ExitHelp is the section of the help that lists the exit statuses.
const ExitHelp = `Exit status:
    0  success
    1  an internal error, or a results file that cannot be read or written
    2  the command line is wrong
    3  the experiment is invalid
    4  some cells failed
    5  a declared threshold was missed
    6  an engine or hardware that the experiment needs is not available
    7  the results folder is in use by another tfexp
  130  interrupted; finished work is kept, and the run can be resumed`

// Error is an error with an exit status and a hint. They also apply to errors that wrap it.
type Error struct {
	Code int
	Err  error  // nil if the error was already printed
	Hint string // advice, or empty
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Code)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Silently returns an error that ends the command with an exit status and prints nothing.
func Silently(code int) error {
	if code == ExitOK {
		return nil
	}
	return &Error{Code: code}
}

// Usagef returns the error for a wrong command line; hint may be empty.
func Usagef(hint, format string, args ...any) error {
	return &Error{Code: ExitUsage, Err: fmt.Errorf(format, args...), Hint: hint}
}

// Verdict returns the exit status and the hint of an error.
func Verdict(err error) (code int, hint string) {
	var (
		own     *Error
		inUse   *store.InUseError
		missing *engine.Unavailable
		samples *stages.SamplesFailed
		path    *fs.PathError
	)
	switch {
	case err == nil:
		return ExitOK, ""
	case errors.As(err, &own):
		return own.Code, own.Hint
	case errors.Is(err, pipeline.ErrInterrupted):
		return ExitInterrupted, ""
	case errors.As(err, &inUse):
		return ExitInUse, "wait until that run has ended, or choose another folder with --out"
	case errors.As(err, &missing):
		return ExitUnavailable, missing.Hint
	case errors.As(err, &samples):
		return ExitCellsFailed, fmt.Sprintf("no cell can run without job %s: mend its program or the command in its "+
			"job block, and run again (samples that succeeded are kept)\n  its whole log: tfexp logs samples %s",
			samples.Job, samples.Sample)
	case errors.Is(err, pipeline.ErrForeign):
		return ExitUsage, "choose another folder with --out, or another name for the experiment"
	case errors.Is(err, pipeline.ErrAlike):
		return ExitUsage, "rename a workload, hardware, policy or axis after which they are named, or choose a folder on another file system with --out"
	case errors.Is(err, pipeline.ErrNotBegun):
		return ExitUsage, "\"tfexp run FILE\" starts it again"
	case errors.Is(err, pipeline.ErrGone):
		return ExitInternal, "the finished work moved with the folder: run \"tfexp resume\" there"
	case folder.IsUnusable(err):
		return ExitInternal, "\"tfexp run\" writes the results again, and keeps all finished work that is intact; " +
			"\"tfexp plot\" draws the pictures again"
	case errors.Is(err, syscall.ENOSPC):
		return ExitInternal, "free some disk space and run it again: finished work is kept"
	case errors.Is(err, syscall.EDQUOT):
		return ExitInternal, "remove files of yours, or have your quota raised, and run it again: finished work is kept"
	case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.ENOTSUP):
		return ExitInternal, "this file system cannot lock files, as NFS without its lock service: choose a folder on another " +
			"one with --out"
	case errors.As(err, &path) && path.Op == "mkdir", errors.Is(err, syscall.EROFS):
		return ExitInternal, "choose another folder with --out, or with --output where that is the flag"
	case errors.As(err, &path) && errors.Is(err, syscall.ENOTDIR):
		return ExitInternal, fmt.Sprintf("%s is not a folder: move it away, or name another folder", blocking(path.Path))
	}
	return ExitInternal, ""
}

// blocking returns the part of a path that is a file although a folder is needed there.
func blocking(path string) string {
	for {
		if _, err := os.Lstat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}
