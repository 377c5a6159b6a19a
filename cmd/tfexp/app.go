// App holds what the subcommands of tfexp share: their output, how they read an
// experiment, and how they end.

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/textproto"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"syscall"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tfexp/tfexp/cmd/tfexp/live"
	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/tell"
	"github.com/tfexp/tfexp/stages"
)

// DefaultOut is where results go, and where they are looked for.
const DefaultOut = "results"

// App holds the state that all subcommands share: their output streams and their use of color.
type App struct {
	Out, Err           io.Writer // text for people: control characters are escaped
	Raw                io.Writer // standard output, for data and logs as they are
	Screen             io.Writer // standard error as it is
	OutColor, ErrColor bool
	Args               []string // the command line, for run.json

	out *checked
}

// checked is standard output, and the first error of writing to it.
type checked struct {
	to  io.Writer
	err error
}

// Unwrap returns the writer below.
func (c *checked) Unwrap() io.Writer { return c.to }

func (c *checked) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	if c.err == nil {
		c.err = err
	}
	return n, err
}

// New returns an App that writes to stdout and stderr, in color on terminals.
func New(stdout, stderr io.Writer) *App {
	out := &checked{to: stdout}
	a := &App{Raw: out, Screen: stderr, OutColor: colorful(stdout), ErrColor: colorful(stderr), out: out}
	a.Out, a.Err = live.SafeWriter(out, a.OutColor), show.Fold(live.SafeWriter(stderr, a.ErrColor))
	return a
}

// colorful reports whether w is a terminal that shows colors unless they are
// turned off (no-color.org).
func colorful(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// RawOut is standard output itself: a terminal, perhaps.
func (a *App) RawOut() io.Writer { return a.out.to }

// Exit prints an error with its hint, and returns its exit status. Output that could not be written, as to a full
// disk, is an error as well.
func (a *App) Exit(err error) int {
	if err == nil && a.out.err != nil {
		err = fmt.Errorf("write to standard output: %w", a.out.err)
	}
	code, hint := Verdict(err)
	if own, ok := err.(*Error); err != nil && (!ok || own.Err != nil) {
		fmt.Fprintf(a.Err, "%s %s\n", a.Printer().PaintErr(tell.Red, "Error:"),
			schema.Shortened(err.Error(), schema.MostOfText))
	}
	if hint != "" {
		fmt.Fprintf(a.Err, "  %s\n", hint)
	}
	return code
}

// Printer returns where the command prints, for package show.
func (a *App) Printer() *show.Printer {
	return &show.Printer{Out: show.Fold(a.Out), Err: show.Fold(a.Err), Color: a.OutColor, ErrColor: a.ErrColor}
}

// PrintJSON prints a value as indented JSON on standard output.
func (a *App) PrintJSON(v any) error { return (&show.Printer{Out: a.Out}).JSON(v) }

// WriteTo writes to a file, as Write does, or to standard output where path is empty.
func (a *App) WriteTo(path string, write func(io.Writer) error) error {
	if path == "" {
		return write(a.Raw)
	}
	var problem error
	err := Write(path, func(w io.Writer) error {
		problem = write(w)
		return problem
	})
	if err != nil && problem == nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return err
}

// Build is how this binary was built.
type Build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from a tree with changes
	Time     string `json:"time,omitempty"`     // of the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// ThisBuild returns how this binary was built, as far as its Go linker wrote it down.
func ThisBuild() Build {
	b := Build{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// DirArgument is the folder that a command was given, or the default one.
func DirArgument(args []string) string {
	if len(args) == 0 {
		return DefaultOut
	}
	return filepath.Clean(args[0])
}

// NoResults is the usage error for a folder without results.
func NoResults(dir string) error {
	const hint = `"tfexp run FILE" writes results; DIR is the folder given with --out, or one experiment's folder in it`
	return Usagef(hint, "no results in %s", dir)
}

// ExperimentsIn lists the experiment folders of DIR.
func ExperimentsIn(dir string) ([]string, error) {
	dirs, err := pipeline.Experiments(dir)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && len(dirs) == 0) {
		return nil, NoResults(dir)
	}
	return dirs, err
}

// CompleteFiles completes the paths of experiments.
func CompleteFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"hcl", "json"}, cobra.ShellCompDirectiveFilterFileExt
}

// CompleteDir completes a folder of results.
func CompleteDir(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	dirs, _ := pipeline.Experiments(DefaultOut)
	return dirs, cobra.ShellCompDirectiveFilterDirs
}

// Exists reports whether there is something at path.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// IsDir reports whether path is a folder.
func IsDir(path string) bool {
	st, err := os.Stat(filepath.Clean(path))
	return err == nil && st.IsDir()
}

// The exit statuses. They are part of the interface: scripts rely on them.
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

// ExitHelp is the part of the help that lists them.
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

// Error gives an error an exit status and a hint; errors that wrap it have
// them too.
type Error struct {
	Code int
	Err  error  // nil when the error has been printed already
	Hint string // advice, or empty
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Code)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Silently ends the command with a status; nothing more is printed.
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

// Verdict returns the exit status and the hint for an error.
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
		return ExitCellsFailed, fmt.Sprintf("its whole log: tfexp logs samples %s", samples.Sample)
	case errors.Is(err, pipeline.ErrForeign):
		return ExitUsage, "choose another folder with --out, or another name for the experiment"
	case errors.Is(err, pipeline.ErrAlike):
		return ExitUsage, "rename one of what they are named after, or choose a folder on another file system with --out"
	case errors.Is(err, pipeline.ErrNotBegun):
		return ExitUsage, "\"tfexp run FILE\" starts it again"
	case errors.Is(err, pipeline.ErrGone):
		return ExitInternal, "the finished work moved with the folder: run \"tfexp resume\" there"
	case folder.IsUnusable(err):
		return ExitInternal, "\"tfexp run\" writes the results again, and keeps all finished work that is intact; " +
			"\"tfexp plot\" draws the pictures again"
	case errors.Is(err, syscall.ENOSPC):
		return ExitInternal, "free some disk space and run it again: finished work is kept"
	case errors.As(err, &path) && path.Op == "mkdir", errors.Is(err, syscall.EROFS):
		return ExitInternal, "choose another folder with --out, or with --output where that is the flag"
	case errors.As(err, &path) && errors.Is(err, syscall.ENOTDIR):
		return ExitInternal, fmt.Sprintf("%s is not a folder: move it away, or name another folder", blocking(path.Path))
	}
	return ExitInternal, ""
}

// blocking returns the existing part of a path that stands where a folder should be: its longest existing
// prefix.
func blocking(path string) string {
	for {
		if _, err := os.Lstat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

// OpenFile opens a file that the command line names. A folder, a device and a pipe with a name are wrong usage: a
// device need not end, and a pipe may never begin. /dev/stdin and the <(...) of a shell are read.
func OpenFile(path string) (*folder.File, error) {
	if slices.Contains([]string{"/dev/fd", "/proc/self/fd"}, filepath.Dir(path)) || path == "/dev/stdin" {
		return folder.OpenFile(path, os.O_RDONLY, 0)
	}
	// Without O_NONBLOCK, opening a pipe without a writer would block.
	f, err := folder.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Usagef("", "there is no file %s", path)
	} else if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		f.Close()
		return nil, err
	case info.IsDir():
		f.Close()
		return nil, Usagef("", "%s is a folder, not a file", path)
	case !info.Mode().IsRegular():
		f.Close()
		return nil, Usagef("to read what another program prints, use /dev/stdin or <(PROGRAM)",
			"%s is neither a file nor a folder", path)
	}
	return f, nil
}

// codec reads and writes messages after a header with their length, by the protocol. It reads even a malformed
// message to its end: the next one begins there.
type codec struct{ jsonrpc2.VSCodeObjectCodec }

// ReadObject implements jsonrpc2.ObjectCodec. The error is a *jsonrpc2.Error, which is to be sent back, for a message
// that is not one; after any other error nothing more can be read.
func (codec) ReadObject(in *bufio.Reader, v any) error {
	header, err := textproto.NewReader(in).ReadMIMEHeader()
	if err != nil {
		return err
	}
	length, err := strconv.ParseUint(header.Get("Content-Length"), 10, 32)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(in, int64(length)))
	switch {
	case err != nil:
		return err
	case uint64(len(body)) < length:
		return io.ErrUnexpectedEOF
	case !json.Valid(body):
		return &jsonrpc2.Error{Code: jsonrpc2.CodeParseError, Message: "the message is not JSON"}
	}
	if err := json.Unmarshal(body, v); err != nil {
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: err.Error()}
	}
	return nil
}

// stream replies with an error to a malformed message, and continues with the next one.
type stream struct{ jsonrpc2.ObjectStream }

// ReadObject implements jsonrpc2.ObjectStream.
func (s stream) ReadObject(v any) error {
	for {
		err := s.ObjectStream.ReadObject(v)
		var wrong *jsonrpc2.Error
		if !errors.As(err, &wrong) {
			return err
		}
		// Which request it was cannot be known: the answer has no number.
		if err := s.WriteObject(map[string]any{"jsonrpc": "2.0", "id": nil, "error": wrong}); err != nil {
			return err
		}
	}
}
