// Cli is what the subcommands of tfexp share: where they write, how they
// read an experiment, and how they end.

package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/tfexp/tfexp/cmd/tfexp/live"
	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/experiments/words"
)

// DefaultOut is where results go, and where they are looked for.
const DefaultOut = "results"

// App is what all subcommands share: where they write, and how.
type App struct {
	Out, Err           io.Writer // what people read: control characters are escaped
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

// New returns an App that writes to stdout and stderr, in colour on terminals.
func New(stdout, stderr io.Writer) *App {
	out := &checked{to: stdout}
	a := &App{Raw: out, Screen: stderr, OutColor: colorful(stdout), ErrColor: colorful(stderr), out: out}
	a.Out, a.Err = live.SafeWriter(out, a.OutColor), show.Fold(live.SafeWriter(stderr, a.ErrColor))
	return a
}

// colorful reports whether w is a terminal that shows colours and nobody
// has turned them off (no-color.org).
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
		fmt.Fprintf(a.Err, "%s %s\n", a.Printer().PaintErr(show.Red, "Error:"),
			words.Shortened(err.Error(), words.MostOfText))
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
