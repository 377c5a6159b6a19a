// Package screen shows the progress of a run at the bottom of a terminal, in lines that are redrawn in place.
package screen

import (
	"io"

	"github.com/tfexp/tfexp/cmd/tfexp/live"
	"github.com/tfexp/tfexp/cmd/tfexp/states"
)

func init() {
	live.RegisterTerminal(func(w io.Writer, size func() (width, height int), color bool) live.RunProgress {
		return newProgress(w, size, color)
	})
	states.RegisterDrawing(func(w io.Writer, size func() (width, height int)) states.Drawing {
		return &drawing{region{w: w, size: size}}
	})
}
