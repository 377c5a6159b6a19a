// Progress shows the progress of a run, in plain lines or as a feature shows it on a terminal. It decides nothing and
// reads only pipeline.Progress.

package live

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/tfexp/tfexp/pipeline"
)

// RunProgress observes progress, from any goroutine, until it is closed.
type RunProgress interface {
	// Observe records one step; it does not wait for the terminal.
	Observe(pipeline.Progress)
	// Say prints a line of text that stays.
	Say(text string)
	// Close draws the last state and restores the terminal. Later observations are
	// lost, but Say still prints. Close may be called again.
	Close()
}

// terminal shows the progress of a run on a terminal whose cursor can be moved; nil without a feature that does. color
// allows colored marks.
var terminal func(w io.Writer, size func() (width, height int), color bool) RunProgress

// RegisterTerminal sets how terminals show the progress of a run; without it, they have plain lines as well.
func RegisterTerminal(show func(w io.Writer, size func() (width, height int), color bool) RunProgress) {
	terminal = show
}

// NewRunProgress returns the view that fits w: of a feature when w is a terminal that can move
// its cursor, plain lines otherwise. color allows colored marks.
func NewRunProgress(w io.Writer, color bool) RunProgress {
	if size := TerminalSize(w); size != nil && terminal != nil {
		return terminal(w, size, color)
	}
	return newPlain(w)
}

// The size of a terminal whose size is unknown.
const (
	DefaultWidth  = 80
	DefaultHeight = 24
)

// TerminalSize returns a function that measures a terminal whose cursor can be moved; nil where w is no such
// terminal.
func TerminalSize(w io.Writer) func() (width, height int) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return func() (int, int) {
		width, height, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return DefaultWidth, DefaultHeight
		}
		return width, height
	}
}

// QuietProgress returns a view that shows messages only.
func QuietProgress(w io.Writer) RunProgress { return &quiet{w} }

type quiet struct{ w io.Writer }

func (q *quiet) Observe(pipeline.Progress) {}
func (q *quiet) Say(text string)           { io.WriteString(q.w, SafeText(text)+"\n") }
func (q *quiet) Close()                    {}
