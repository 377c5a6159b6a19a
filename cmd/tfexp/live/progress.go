// This file chooses how the progress of a run is shown: in plain lines, or by a feature for terminals.

package live

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/tfexp/tfexp/pipeline"
)

// RunProgress shows the progress of a run. Its methods may be called from any goroutine.
type RunProgress interface {
	// Observe records one step. It does not wait for the terminal.
	Observe(pipeline.Progress)
	// Say prints a line that stays on the screen.
	Say(text string)
	// Close draws the last state and restores the terminal. Later calls of Observe have no effect; Say still prints.
	// Close may be called again.
	Close()
}

// terminal creates the view for a terminal with a movable cursor; nil if no feature has registered one. color allows
// colored marks.
var terminal func(w io.Writer, size func() (width, height int), color bool) RunProgress

// RegisterTerminal sets the view for terminals. Without it, terminals show plain lines.
func RegisterTerminal(show func(w io.Writer, size func() (width, height int), color bool) RunProgress) {
	terminal = show
}

// NewRunProgress returns the view for w: the registered view if w is a terminal with a movable cursor, else plain
// lines. color allows colored marks.
func NewRunProgress(w io.Writer, color bool) RunProgress {
	if size := TerminalSize(w); size != nil && terminal != nil {
		return terminal(w, size, color)
	}
	return newPlain(w)
}

// The assumed size of a terminal that does not report its size.
const (
	DefaultWidth  = 80
	DefaultHeight = 24
)

// TerminalSize returns a function that measures the terminal w. It returns nil if w is not a terminal or cannot move
// its cursor.
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

// QuietProgress returns a view that prints only the lines of Say.
func QuietProgress(w io.Writer) RunProgress { return &quiet{w} }

type quiet struct{ w io.Writer }

func (q *quiet) Observe(pipeline.Progress) {}
func (q *quiet) Say(text string)           { io.WriteString(q.w, SafeText(text)+"\n") }
func (q *quiet) Close()                    {}
