// Package screen shows a run in progress at the bottom of a terminal, in lines that are drawn again and again.
package screen

import (
	"io"

	"github.com/tfexp/tfexp/cmd/tfexp/live"
)

func init() { live.RegisterTerminal(terminal{}) }

// terminal implements live.Terminal.
type terminal struct{}

func (terminal) Progress(w io.Writer, size func() (width, height int), color bool) live.RunProgress {
	return newProgress(w, size, color)
}

func (terminal) Drawing(w io.Writer, size func() (width, height int)) live.Drawing {
	return &drawing{region{w: w, size: size}}
}
