package blocks

import "github.com/tfexp/tfexp/experiments"

// AtLine reports an error at a line of a trace's file.
func (d *Decoder) AtLine(t *experiments.Trace, line int, summary, detail string) {
	d.LineError(d.shown[t].File, line, summary, detail)
}
