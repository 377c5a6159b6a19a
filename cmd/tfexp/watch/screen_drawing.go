// This file draws runs in progress on a whole terminal: cells, jobs, resource usage and loss curves.

package watch

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/tfexp/tfexp/cmd/tfexp/live"
	"github.com/tfexp/tfexp/cmd/tfexp/states"
	"github.com/tfexp/tfexp/experiments/schema"
)

// Limits on the size of the screen, in columns and rows.
const (
	leastWidth  = 20
	leastHeight = 5
	mostWidth   = 1000
	mostHeight  = 500
	mostCores   = 16 // rows of the schedule
	most        = 6  // listed experiments
)

// screenView holds everything that the screen shows.
type screenView struct {
	dir     string
	all     []Experiment
	chosen  int   // index in all
	cell    *Cell // nil: no cell to show
	asked   bool  // the user chose the cell; it does not change with the run
	scroll  int   // number of jobs above the first one shown
	trouble error
	color   bool
}

// Control sequences for colors and emphasis.
const (
	screenPlain = "\x1b[0m"
	bold        = "\x1b[1m"
	faint       = "\x1b[2m"
	screenGreen = "\x1b[32m"
	screenRed   = "\x1b[31m"
	screenCyan  = "\x1b[36m"

	screenYellow = "\x1b[33m"
)

// inks are the colors of job blocks: jobs of the same block have the same color.
var inks = []string{"\x1b[44;97m", "\x1b[42;30m", "\x1b[45;97m", "\x1b[43;30m", "\x1b[46;30m", "\x1b[41;97m",
	"\x1b[100;97m"}

// draw returns the rows of the screen: at most height rows, each at most width columns wide.
func (v *screenView) draw(width, height int) []string {
	width, height = max(width, leastWidth), max(height, leastHeight)
	p := &screenPage{width: width, color: v.color}
	p.row(bold, "tfexp top  "+v.dir)
	if v.trouble != nil {
		p.row(screenRed, v.trouble.Error())
	}
	if len(v.all) == 0 {
		p.row("", `No experiments here yet: "tfexp run experiment.hcl" starts one.`)
	}
	first := max(0, min(v.chosen-most/2, len(v.all)-most))
	name := 9
	for i := range v.all {
		name = max(name, 2+runewidth.StringWidth(live.SafeText(v.all[i].Name)))
	}
	name = min(name, 24, max(9, width/3))
	for i := first; i < min(first+most, len(v.all)); i++ {
		p.experiment(&v.all[i], i == v.chosen, name)
	}
	if more := len(v.all) - most; more > 0 {
		p.row(faint, fmt.Sprintf("  %d more", more))
	}
	if v.chosen < len(v.all) {
		p.sofar(&v.all[v.chosen], max(0, min(3, (height-16)/4)))
	}
	if v.cell != nil {
		p.row("", "")
		p.cell(v.cell)
		room := height - 1 - len(p.rows) // rows left for the schedule and the jobs
		p.schedule(v.cell, room/2)
		p.jobs(v.cell, v.scroll, height-1-len(p.rows))
	}
	keys := "q quit  ↑↓ experiment  ←→ cell  PgUp PgDn jobs"
	if v.asked {
		keys += "  esc the running cell"
	}
	if len(p.rows) > height-1 {
		p.rows = p.rows[:height-1]
	}
	p.row(faint, keys)
	return p.rows
}

// screenPage collects the rows of the screen.
type screenPage struct {
	width int
	color bool
	rows  []string
}

// row adds a row in one color, cut to the width.
func (p *screenPage) row(ink, text string) { p.rows = append(p.rows, p.paint(ink, p.cut(text))) }

func (p *screenPage) cut(text string) string { return fit(text, p.width) }

func (p *screenPage) paint(ink, text string) string {
	if !p.color || ink == "" || text == "" {
		return text
	}
	return ink + text + screenPlain
}

// fit returns text without control characters, cut to width columns.
func fit(text string, width int) string {
	if width <= 0 {
		return ""
	}
	line := strings.NewReplacer("\n", " ", "\t", " ").Replace(live.SafeText(text))
	return runewidth.Truncate(line, width, "…")
}

// fill returns text in exactly width columns.
func fill(text string, width int) string { return runewidth.FillRight(fit(text, width), width) }

// experiment adds the row of an experiment: "▸ study  running  2/6 cells ━━━╌╌╌  1 min 20 s, about 40 s left".
func (p *screenPage) experiment(x *Experiment, chosen bool, name int) {
	mark := "  "
	if chosen {
		mark = "▸ "
	}
	ink := map[string]string{"running": screenCyan, "finished": screenGreen, "failed": screenRed}[x.State]
	tail := fmt.Sprintf("  %d/%d cells", x.Finished+x.Failed, x.Cells)
	if x.Failed > 0 {
		tail += fmt.Sprintf(", %d failed", x.Failed)
	}
	if x.TimeLeft != nil {
		tail += "  " + live.TimeLeft(x.TimeLeft, x.LeftRange)
	} else if x.Doing != "" {
		tail += "  " + x.Doing
	}
	left := fill(mark+x.Name, name) + " "
	state := fill(x.State, min(11, p.width-name-1))
	rest := p.width - runewidth.StringWidth(left+state) - runewidth.StringWidth(tail) - 2
	if rest >= 10 && x.Cells > 0 {
		wide := min(rest, 30)
		full := wide * (x.Finished + x.Failed) / x.Cells
		tail = "  " + strings.Repeat("━", full) + strings.Repeat("╌", wide-full) + tail
	}
	tail = fit(tail, p.width-runewidth.StringWidth(left+state))
	if chosen {
		left = p.paint(bold, left)
	}
	p.rows = append(p.rows, left+p.paint(ink, state)+tail)
}

// sofar adds the answer from the results so far, and the latest warning of each code. Each has at most rows rows.
func (p *screenPage) sofar(x *Experiment, rows int) {
	if x.Answer != nil && x.Answer.Sentence != "" {
		lines := strings.Split(runewidth.Wrap(live.SafeText(x.Answer.Sentence), p.width-4), "\n")
		for i, text := range lines[:min(rows, len(lines))] {
			if i == rows-1 && len(lines) > rows {
				text += " …"
			}
			p.row("", "  "+strings.TrimSpace(text))
		}
	}
	for _, text := range x.Warnings[:min(rows, len(x.Warnings))] {
		p.row(screenYellow, "  ! "+text)
	}
}

// cell adds the state of the cell and its usage.
func (p *screenPage) cell(c *Cell) {
	tail := fmt.Sprintf("  %s  %s", c.State, states.ProgressSpan(duration(c.At)))
	p.row(bold, fit(c.Cell, p.width-runewidth.StringWidth(tail))+tail)
	text := fmt.Sprintf("jobs   %d done, %d running, %d waiting", c.Done, c.Running, c.Waiting)
	if c.Total > 0 {
		text = fmt.Sprintf("jobs   %d/%d done, %d running, %d waiting", c.Done, c.Total, c.Running, c.Waiting)
	}
	if c.Failed > 0 {
		text += fmt.Sprintf(", %d failed", c.Failed)
	}
	if c.State == interrupted {
		text += ", when it was interrupted"
	}
	p.row("", text)
	p.gauge("cores", c.HeldCores, c.Cores)
	p.gauge("GPUs", c.HeldGPUs, c.GPUs)
	for _, d := range c.Devices {
		if d.Utilization != nil {
			p.gauge(fmt.Sprint("GPU ", d.GPU), int(*d.Utilization), 100)
		}
	}
}

// gauge returns a bar: "cores  ██████░░░░ 12/20".
func (p *screenPage) gauge(what string, used, of int) {
	if of <= 0 {
		return
	}
	tail := fmt.Sprintf(" %d/%d", used, of)
	wide := max(4, min(40, p.width-7-len(tail)))
	full := max(0, min(wide, (wide*used+of-1)/of))
	p.row("", fill(what, 7)+strings.Repeat("█", full)+strings.Repeat("░", wide-full)+tail)
}

// schedule draws which jobs held which cores over time, in at most room rows. Jobs of the same block have the same
// letter.
func (p *screenPage) schedule(c *Cell, room int) {
	rows := min(c.Cores, mostCores, room-1)
	if rows < 1 || len(c.Spans) == 0 {
		return
	}
	letters := lettersOf(c.Names)
	wide := p.width - 7
	at := max(c.At, 1e-6)
	for row := range rows {
		core := int32(row * c.Cores / rows)
		cells := make([]rune, wide)
		ink := make([]string, wide)
		for i := range cells {
			cells[i] = '·'
		}
		for _, s := range c.Spans {
			if s.GPU || core < s.Low || core > s.High {
				continue
			}
			to := at
			if s.To != nil {
				to = *s.To
			}
			letter, color := letters(c.Names[s.Job])
			for i := int(s.From / at * float64(wide)); i < min(wide, int(math.Ceil(to/at*float64(wide)))); i++ {
				cells[i], ink[i] = letter, color
			}
		}
		p.rows = append(p.rows, fill(fmt.Sprint("core ", core), 7)+p.strip(cells, ink))
	}
	p.row(faint, fmt.Sprintf("%7s0 s%*s", "", max(0, wide-3), live.Duration(duration(at))))
}

// strip joins characters, each with its color.
func (p *screenPage) strip(cells []rune, ink []string) string {
	var b strings.Builder
	for i := 0; i < len(cells); {
		j := i
		for j < len(cells) && ink[j] == ink[i] {
			j++
		}
		b.WriteString(p.paint(ink[i], string(cells[i:j])))
		i = j
	}
	return b.String()
}

// lettersOf returns a function that gives jobs of the same block the same letter and color.
func lettersOf(names []string) func(job string) (rune, string) {
	var kinds []string
	return func(job string) (rune, string) {
		kind := strings.TrimRight(strings.TrimRight(job, "0123456789"), "-_.")
		i := slices.Index(kinds, kind)
		if i < 0 {
			for _, n := range names {
				k := strings.TrimRight(strings.TrimRight(n, "0123456789"), "-_.")
				kinds = schema.AddOnce(kinds, k)
			}
			i = max(0, slices.Index(kinds, kind))
		}
		return 'A' + rune(i%26), inks[i%len(inks)]
	}
}

// sparkWidth is the width of a loss curve in columns.
const sparkWidth = 20

// jobs adds the list of jobs, from index scroll on.
func (p *screenPage) jobs(c *Cell, scroll, room int) {
	if room < 2 || len(c.Jobs) == 0 {
		return
	}
	curves := map[string][]ReportPoint{}
	for _, curve := range c.Curves {
		curves[curve.Job] = curve.Points
	}
	name := 4
	for _, j := range c.Jobs {
		name = max(name, runewidth.StringWidth(live.SafeText(j.Name)))
	}
	name = min(name, max(8, p.width/4))
	heads := []string{"state", "cores", "epoch", "loss", "accuracy"}
	widths := []int{11, 6, 6, 9, 9}
	for _, j := range c.Jobs {
		widths[2] = max(widths[2], len(j.trained())+1)
	}
	spark := p.width-name-4-35-widths[2] >= sparkWidth
	line := func(mark, job string, fields []string, tail string) string {
		text := mark + " " + fill(job, name) + "  "
		for i, f := range fields {
			if i == 0 {
				text += fill(f, widths[i])
			} else {
				text += runewidth.FillLeft(fit(f, widths[i]-1), widths[i])
			}
		}
		return fit(text+"  "+tail, p.width)
	}
	head := ""
	if spark {
		head = "loss so far; why it waits"
	}
	p.rows = append(p.rows, p.paint(faint, line(" ", "job", heads, head)))
	room--
	letters := lettersOf(c.Names)
	scroll = max(0, min(scroll, len(c.Jobs)-room))
	for i := scroll; i < min(len(c.Jobs), scroll+room); i++ {
		j := &c.Jobs[i]
		tail := ""
		if spark {
			tail = sparkline(curves[j.Name], sparkWidth)
			if j.Waits != "" {
				tail = j.Waits
			}
		}
		letter, _ := letters(j.Name)
		text := line(string(letter), j.Name, []string{j.State, count(j.Cores), j.trained(), known(j.Loss),
			known(j.Accuracy)}, tail)
		ink := ""
		switch j.State {
		case "queued", "paused", "finished":
			ink = faint
		case "failed", "stopped":
			ink = screenRed
		}
		p.rows = append(p.rows, p.paint(ink, text))
	}
}

var bars = []rune("▁▂▃▄▅▆▇█")

// sparkline draws losses as a row of characters, the latest at the right. If all are positive, the scale is
// logarithmic.
func sparkline(points []ReportPoint, width int) string {
	var v []float64
	for _, p := range points {
		if p.Loss != nil {
			v = append(v, *p.Loss)
		}
	}
	if len(v) == 0 {
		return ""
	}
	if slices.Min(v) > 0 {
		for i := range v {
			v[i] = math.Log(v[i])
		}
	}
	low, high := slices.Min(v), slices.Max(v)
	n := min(width, len(v))
	out := make([]rune, n)
	for i := range out {
		at := v[i*len(v)/n]
		if i == n-1 {
			at = v[len(v)-1]
		}
		k := 0
		if high > low {
			k = int((at - low) / (high - low) * float64(len(bars)-1))
		}
		out[i] = bars[k]
	}
	return string(out)
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func known(v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%.4g", *v)
}

func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
