package live

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/stages"
)

// fewUnits is the largest size of a stage that prints a line for each unit. A larger stage prints a line for each
// hundredth of its units, and waits at least pace between lines.
const fewUnits = 100

// pace is the shortest time between two lines about the units of a large stage.
const pace = time.Second

// progressPlain prints progress as lines that fit in a log file: the start and end of stages, the end of cells, and
// errors.
type progressPlain struct {
	mu     sync.Mutex // guards the fields below
	w      io.Writer
	told   map[string]int // units of the stage that were done at its last line
	at     time.Time      // when the last line about units was printed
	closed bool
}

func newPlain(w io.Writer) *progressPlain { return &progressPlain{w: w, told: map[string]int{}} }

// Observe implements RunProgress.
func (v *progressPlain) Observe(p pipeline.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return
	}
	if text := v.text(p); text != "" {
		io.WriteString(v.w, SafeText(text)+"\n")
	}
}

func (v *progressPlain) text(p pipeline.Progress) string {
	if text := Notice(p); text != "" {
		return text
	}
	if p.Total > 0 && p.Total == p.Reused {
		return "" // every unit is reused
	}
	switch p.Kind {
	case stages.StageStart:
		if p.Total == 0 {
			return ""
		}
		text := fmt.Sprintf("%s: %d to do", p.Stage, p.Total-p.Reused)
		if p.Reused > 0 {
			text += fmt.Sprintf(", %d reused", p.Reused)
		}
		if p.Left > 0 {
			text += ", " + Left(p.Left, p.LeastLeft, p.MostLeft)
		}
		return text
	case stages.StageEnd:
		if p.Err != nil {
			return fmt.Sprintf("%s: stopped after %s", p.Stage, Duration(p.Elapsed))
		}
		return fmt.Sprintf("%s: done in %s", p.Stage, Duration(p.Elapsed))
	case stages.UnitEnd:
		many := p.Total > fewUnits
		if many && p.Done < p.Total && (p.Done-v.told[p.Stage] < p.Total/fewUnits || time.Since(v.at) < pace) {
			return ""
		}
		v.told[p.Stage], v.at = p.Done, time.Now()
		text := fmt.Sprintf("%s: %d/%d %s in %s", p.Stage, p.Done, p.Total, p.Unit, Duration(p.Elapsed))
		if p.Left > 0 {
			text += ", " + Left(p.Left, p.LeastLeft, p.MostLeft)
		}
		return text
	}
	return ""
}

// Say implements RunProgress.
func (v *progressPlain) Say(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	io.WriteString(v.w, SafeText(text)+"\n")
}

// Close implements RunProgress.
func (v *progressPlain) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
}

// Notice returns the text of a step that stays on the screen: a warning or a failure. It is empty for other steps.
func Notice(p pipeline.Progress) string {
	switch {
	case p.Kind == stages.WarningSeen && p.Unit != "":
		return "warning: " + p.Unit + ": " + p.Text
	case p.Kind == stages.WarningSeen:
		return "warning: " + p.Text
	case p.Kind == stages.UnitEnd && p.Err != nil:
		return p.Stage + ": " + p.Unit + " failed: " + p.Err.Error()
	}
	return ""
}
