package states

import (
	"io"

	"github.com/tfexp/tfexp/cmd/tfexp/live"
)

// Drawing is a text on a terminal that is redrawn in place.
type Drawing interface {
	// Draw replaces the text.
	Draw(text string)
	// Close ends the drawing; the text stays on the screen.
	Close()
}

// draws creates a drawing on a terminal with a movable cursor; nil if no feature has registered it.
var draws func(w io.Writer, size func() (width, height int)) Drawing

// RegisterDrawing sets the function that creates drawings.
func RegisterDrawing(on func(w io.Writer, size func() (width, height int)) Drawing) { draws = on }

// NewDrawing returns a drawing on the terminal w. It returns nil if w is not a terminal or no feature can draw.
func NewDrawing(w io.Writer) Drawing {
	if size := live.TerminalSize(w); size != nil && draws != nil {
		return draws(w, size)
	}
	return nil
}
