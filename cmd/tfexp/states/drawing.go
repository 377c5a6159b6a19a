package states

import (
	"io"

	"github.com/tfexp/tfexp/cmd/tfexp/live"
)

// Drawing is a text on a terminal that is drawn again and again.
type Drawing interface {
	// Draw replaces the text.
	Draw(text string)
	// Close leaves the text where it is.
	Close()
}

// draws makes a drawing on a terminal whose cursor can be moved; nil where no feature draws.
var draws func(w io.Writer, size func() (width, height int)) Drawing

// RegisterDrawing sets how drawings are made.
func RegisterDrawing(on func(w io.Writer, size func() (width, height int)) Drawing) { draws = on }

// NewDrawing returns a text on a terminal that is drawn again and again; nil where w is no terminal, or no feature draws.
func NewDrawing(w io.Writer) Drawing {
	if size := live.TerminalSize(w); size != nil && draws != nil {
		return draws(w, size)
	}
	return nil
}
