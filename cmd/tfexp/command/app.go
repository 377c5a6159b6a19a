// Package command has the code that all commands of tfexp share: output, reading of experiments, exit statuses, and the
// registry of commands that features add.
package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tfexp/tfexp/cmd/tfexp/live"
	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/results/table"
)

// DefaultOut is the folder in which commands write and look for results by default.
const DefaultOut = "results"

// App has the output streams of a command and their use of color.
type App struct {
	Out, Err           io.Writer // text for people; control characters are escaped
	Raw                io.Writer // standard output, without escaping: for data and logs
	Screen             io.Writer // standard error, without escaping
	OutColor, ErrColor bool
	Args               []string // the command line, which run.json records

	out *checked
}

// checked writes to standard output and keeps the first error.
type checked struct {
	to  io.Writer
	err error
}

// Unwrap returns the writer that c writes to.
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

// colorful reports whether w is a terminal with colors. Users can disable colors by the variable NO_COLOR
// (no-color.org).
func colorful(w io.Writer) bool {
	return IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// SayIfSlow prints text on a terminal, unless stop is called within two seconds.
func (a *App) SayIfSlow(text string) (stop func() bool) {
	return time.AfterFunc(2*time.Second, func() {
		if IsTerminal(a.Screen) {
			fmt.Fprintln(a.Err, text)
		}
	}).Stop
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// RawOut returns standard output without buffering; it may be a terminal.
func (a *App) RawOut() io.Writer { return a.out.to }

// Exit prints an error with its hint and returns the exit status. A failed write to standard output, for example on a
// full disk, is an error too.
func (a *App) Exit(err error) int {
	if err == nil && a.out.err != nil {
		err = fmt.Errorf("write to standard output: %w", a.out.err)
	}
	code, hint := Verdict(err)
	if own, ok := err.(*Error); err != nil && (!ok || own.Err != nil) {
		fmt.Fprintf(a.Err, "%s %s\n", a.Printer().PaintErr(table.Red, "Error:"),
			schema.Shortened(err.Error(), schema.MostOfText))
	}
	if hint != "" {
		fmt.Fprintf(a.Err, "  %s\n", hint)
	}
	return code
}

// Printer returns the printer that writes to the command's output.
func (a *App) Printer() *show.Printer {
	return &show.Printer{Out: show.Fold(a.Out), Err: show.Fold(a.Err), Color: a.OutColor, ErrColor: a.ErrColor}
}

// PrintJSON prints a value as indented JSON on standard output.
func (a *App) PrintJSON(v any) error { return (&show.Printer{Out: a.Out}).JSON(v) }

// Build describes how this binary was built.
type Build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from a tree with uncommitted changes
	Time     string `json:"time,omitempty"`     // time of the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// ThisBuild returns how this binary was built, from the build information that Go embeds.
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

// DirArgument returns the folder among a command's arguments, or DefaultOut.
func DirArgument(args []string) string {
	if len(args) == 0 {
		return DefaultOut
	}
	return filepath.Clean(args[0])
}

// ResultsNear lists folders with results near a folder. A feature replaces it.
var ResultsNear = func(string) []string { return nil }

// NoResults is the usage error for a folder without results. Its hint names folders of ResultsNear.
func NoResults(dir string) error {
	hint := `"tfexp run FILE" writes results; DIR is the folder given with --out, or one experiment's folder in it`
	if near := ResultsNear(dir); len(near) > 0 {
		hint = DidYouMean(dir, near, "results are in "+strings.Join(near[:min(len(near), 8)], ", "))
	}
	return Usagef(hint, "no results in %s", dir)
}

// ExperimentsIn lists the experiment folders of DIR.
func ExperimentsIn(dir string) ([]string, error) {
	dirs, err := pipeline.Experiments(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || (err == nil && len(dirs) == 0) {
		return nil, NoResults(dir)
	}
	return dirs, err
}

// CompleteFiles completes the paths of experiment files for shells.
func CompleteFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"hcl", "json"}, cobra.ShellCompDirectiveFilterFileExt
}

// CompleteDir completes a folder of results for shells.
func CompleteDir(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	dirs, _ := pipeline.Experiments(DefaultOut)
	return dirs, cobra.ShellCompDirectiveFilterDirs
}

// Exists reports whether a file or folder exists at path.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
