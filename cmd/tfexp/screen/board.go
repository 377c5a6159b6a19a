package screen

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tfexp/tfexp/cmd/tfexp/live"
	"github.com/tfexp/tfexp/cmd/tfexp/states"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/stages"
)

// maxUnits is the largest number of running units that are shown. A stage may run many simulated cells at once.
const maxUnits = 8

// brief is how long a unit must run before it is shown. Showing shorter ones would make the lines below them jump.
const brief = time.Second

// barWidth is the width of a stage's progress bar in columns.
const barWidth = 20

// board is the observed state of a run.
type board struct {
	stages []*stage
	units  []*unit // running units, in the order in which they started
}

type stage struct {
	name                string
	done, total, reused int
	failed              int
	over, broken        bool
	began               time.Time
	elapsed             time.Duration    // set when the stage is over
	left                [3]time.Duration // predicted at toldAt: remaining time, least and most; 0 if unknown
	toldAt              time.Time
}

type unit struct {
	stage, name string
	began       time.Time
	jobs        pipeline.Progress // the last step that had counts of jobs
}

// take updates the board with one step.
func (b *board) take(p pipeline.Progress, now time.Time) {
	if p.Stage == "" {
		return
	}
	s := b.stage(p.Stage, now)
	switch p.Kind {
	case stages.WarningSeen:
		return
	case stages.StageEnd:
		s.over, s.broken, s.elapsed = true, p.Err != nil, p.Elapsed
		b.units = slices.DeleteFunc(b.units, func(u *unit) bool { return u.stage == s.name })
	case stages.StageStart:
		for _, earlier := range b.stages {
			if earlier.name == "plan" && !earlier.over { // planning reports no end
				earlier.over, earlier.elapsed = true, now.Sub(earlier.began)
			}
		}
	case stages.UnitStart:
		b.units = append(b.units, &unit{stage: p.Stage, name: p.Unit, began: now})
	case stages.UnitUpdate:
		for _, u := range b.units {
			if u.stage == p.Stage && u.name == p.Unit {
				u.jobs = p
			}
		}
	case stages.UnitEnd:
		if p.Err != nil {
			s.failed++
		}
		b.units = slices.DeleteFunc(b.units, func(u *unit) bool { return u.stage == p.Stage && u.name == p.Unit })
	}
	s.reused = max(s.reused, p.Reused)
	s.done = max(s.done, p.Done, s.reused)
	if p.Total > 0 {
		s.total = p.Total
	}
	if p.Left > 0 {
		s.left, s.toldAt = [3]time.Duration{p.Left, p.LeastLeft, p.MostLeft}, now
	}
}

func (b *board) stage(name string, now time.Time) *stage {
	for _, s := range b.stages {
		if s.name == name {
			return s
		}
	}
	s := &stage{name: name, began: now}
	b.stages = append(b.stages, s)
	return s
}

const (
	progressGreen = "\x1b[32m"
	progressRed   = "\x1b[31m"
	progressCyan  = "\x1b[36m"
)

// lines returns the board's lines: one for each stage, and the running units below them.
func (b *board) lines(now time.Time, width int, color bool) []line {
	var out []line
	paint := func(c string) string {
		if color {
			return c
		}
		return ""
	}
	for _, s := range b.stages {
		l := line{mark: "▸", color: paint(progressCyan), text: s.text(now, width)}
		switch {
		case s.failed > 0 || s.broken:
			l.mark, l.color = "✗", paint(progressRed)
		case s.over:
			l.mark, l.color = "✓", paint(progressGreen)
		}
		out = append(out, l)
		shown, hidden := 0, 0
		for _, u := range b.units {
			switch {
			case u.stage != s.name, now.Sub(u.began) < brief:
			case shown < maxUnits:
				shown++
				out = append(out, line{mark: " ", text: "  " + u.text(now, width-4)})
				for _, text := range u.training(width - 6) {
					out = append(out, line{mark: " ", text: "    " + text})
				}
			default:
				hidden++
			}
		}
		if hidden > 0 {
			out = append(out, line{mark: " ", text: fmt.Sprintf("  … and %d more", hidden)})
		}
	}
	return out
}

// text returns the line of a stage: "execute   ━━━━━━──── 3/10 (2 reused)  12 s  about 40 s left".
func (s *stage) text(now time.Time, width int) string {
	var t strings.Builder
	fmt.Fprintf(&t, "%-9s", s.name)
	if s.total > 0 {
		if !s.over && width >= 60 {
			full := min(barWidth, barWidth*s.done/s.total)
			t.WriteString(" " + strings.Repeat("━", full) + strings.Repeat("╌", barWidth-full))
		}
		fmt.Fprintf(&t, " %d/%d", s.done, s.total)
	}
	if s.reused > 0 {
		fmt.Fprintf(&t, " (%d reused)", s.reused)
	}
	if s.failed > 0 {
		fmt.Fprintf(&t, ", %d failed", s.failed)
	}
	if s.over {
		t.WriteString("  " + live.Duration(s.elapsed))
		return t.String()
	}
	t.WriteString("  " + seconds(now.Sub(s.began)))
	if gone := now.Sub(s.toldAt); s.left[0] > gone {
		t.WriteString("  " + live.Left(s.left[0]-gone, max(0, s.left[1]-gone), s.left[2]-gone))
	}
	return t.String()
}

// text returns the line of a unit: "mixed-this_machine-rr-r2  4/8 jobs done, 2 running, 2 waiting  3 s". A name that is
// too long is cut in the middle, because names of cells often differ at their ends.
func (u *unit) text(now time.Time, room int) string {
	tail := ""
	if u.jobs.Standing.Jobs > 0 {
		tail = "  " + states.ProgressJobs(&u.jobs.Standing)
	}
	if at := u.jobs.Standing.At; at > 0 {
		if past := ", " + states.ProgressSimulated(at); utf8.RuneCountInString(tail+past)+leastName+6 <= room {
			tail += past
		}
	}
	tail += "  " + seconds(now.Sub(u.began))
	return squeeze(u.name, room-utf8.RuneCountInString(tail)) + tail
}

// maxTraining is the largest number of running jobs that are shown for a unit.
const maxTraining = 4

// training describes the running jobs: "long-1  epoch 12  loss 0.41  accuracy 0.92". Values that do not fit in room
// columns are omitted, the last ones first.
func (u *unit) training(room int) []string {
	jobs := u.jobs.Training
	name := 0
	for _, t := range jobs[:min(len(jobs), maxTraining)] {
		name = max(name, utf8.RuneCountInString(t.Job))
	}
	name = min(name, max(9, room/3))
	var out []string
	for _, t := range jobs[:min(len(jobs), maxTraining)] {
		text := fmt.Sprintf("%-*s", name, squeeze(t.Job, name))
		parts := []string{fmt.Sprintf("step %d", t.Step), fmt.Sprintf("loss %.4g", t.Loss),
			fmt.Sprintf("accuracy %.4g", t.Accuracy)}
		if t.Epoch > 0 {
			parts[0] = fmt.Sprintf("epoch %d", t.Epoch)
		}
		for i, known := range []bool{true, !math.IsNaN(t.Loss), !math.IsNaN(t.Accuracy)} {
			if known && utf8.RuneCountInString(text)+2+len(parts[i]) <= room {
				text += "  " + parts[i]
			}
		}
		out = append(out, text)
	}
	if more := len(jobs) - maxTraining; more > 0 {
		out = append(out, fmt.Sprintf("… and %d more", more))
	}
	return out
}

// leastName is the least width of a shortened name, even if the terminal is narrower.
const leastName = 9

// squeeze shortens s to width columns by removing its middle. The result has at least leastName columns.
func squeeze(s string, width int) string {
	runes := []rune(s)
	width = max(width, leastName)
	if len(runes) <= width {
		return s
	}
	head := (width - 1) / 2
	return string(runes[:head]) + "…" + string(runes[len(runes)-(width-1-head):])
}

// seconds formats a running time in whole seconds, so that the lines change once a second at most.
func seconds(d time.Duration) string {
	return live.Duration(max(0, d).Truncate(time.Second))
}
