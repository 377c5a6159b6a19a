package report

import (
	"math"
	"slices"
	"strconv"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// mostSpans is the greatest number of stretches of running and waiting in all schedules of a page.
const mostSpans = 40_000

// chart is a schedule as the page's script draws it. Times are seconds from the cell's start.
type chart struct {
	From    float64          `json:"from"`
	Until   float64          `json:"until"`
	Cores   int              `json:"cores"`
	GPUs    int              `json:"gpus,omitempty"`
	Nodes   []record.NodeRef `json:"nodes,omitempty"`
	Classes []string         `json:"classes"`
	Colors  []string         `json:"colors"` // of the classes of jobs
	Jobs    []chartJob       `json:"jobs"`
}

// chartJob is a job of a chart. Unknown values are missing.
type chartJob struct {
	Name    string      `json:"name"`
	Class   int         `json:"class"`
	State   string      `json:"state"`
	Arrival float64     `json:"arrival"`
	Start   *float64    `json:"start,omitempty"`
	End     float64     `json:"end"`
	Waiting *float64    `json:"waiting,omitempty"`
	Service *float64    `json:"service,omitempty"`
	Threads int         `json:"threads"`
	GPUs    int         `json:"gpus,omitempty"`
	Held    []chartHeld `json:"held,omitempty"`
	Waits   []chartWait `json:"waits,omitempty"`
}

// chartHeld is a stretch in which a job holds cores and GPUs. Their numbers are written as "0-3 8".
type chartHeld struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Cores string  `json:"cores"`
	GPUs  string  `json:"gpus,omitempty"`
	Guest bool    `json:"guest,omitempty"` // another job had the GPUs already
}

// chartWait is a stretch of waiting, and why.
type chartWait struct {
	From    float64  `json:"from"`
	To      float64  `json:"to"`
	Why     string   `json:"why,omitempty"`
	Holders []string `json:"holders,omitempty"`
	Others  int      `json:"others"`
}

// chart reads the schedule of a picture's cell for the page. It returns nil if the cell has none, or if the page has
// mostSpans already.
func (v *view) chart(e *record.Experiment, p record.Picture) (*chart, error) {
	i := slices.IndexFunc(e.Cells, func(c record.Cell) bool { return c.Cell == p.Cell })
	if i < 0 {
		return nil, nil
	}
	c := e.Cells[i]
	servers, err := record.Servers.Read(e.Dir)
	if err != nil {
		return nil, err
	}
	s, err := analysis.ReadSchedule(e, c, servers)
	if s == nil || err != nil {
		return nil, err
	}
	spans := 0
	for _, j := range s.Jobs {
		spans += 1 + len(j.Held) + len(j.Waits)
	}
	if v.spans += spans; v.spans > mostSpans {
		v.spans -= spans
		return nil, nil
	}
	if err := s.Explain(e, c.CellRef); err != nil {
		return nil, err
	}
	palette := analysis.PaletteOf(e)
	out := chartOf(s, &palette)
	for _, h := range e.Plan.Hardware {
		if h.Name == c.Hardware {
			out.Nodes = h.Nodes
		}
	}
	return out, nil
}

func chartOf(s *analysis.Schedule, p *analysis.Palette) *chart {
	out := &chart{From: short(s.From), Until: short(s.Until), Cores: s.Cores, GPUs: s.GPUs, Classes: s.Classes}
	for _, class := range s.Classes {
		out.Colors = append(out.Colors, table.HueCode(p.Class(class)))
	}
	for _, j := range s.Jobs {
		one := chartJob{
			Name: j.JobRow.Job, Class: slices.Index(s.Classes, j.Class), State: j.State, Arrival: short(j.Arrival),
			Start: there(j.FirstStart), End: short(j.End), Waiting: there(j.Waiting), Service: there(j.Service),
			Threads: j.ThreadsRequested, GPUs: j.JobRow.GPUs,
		}
		for _, h := range j.Held {
			one.Held = append(one.Held, chartHeld{short(h.From), short(h.To), h.Cores.String(), h.GPUs.String(), h.Guest})
		}
		for _, w := range j.Waits {
			if w.To > w.From {
				one.Waits = append(one.Waits, chartWait{short(w.From), short(w.To), w.Why, w.Holders, w.Others})
			}
		}
		out.Jobs = append(out.Jobs, one)
	}
	return out
}

// there returns a pointer to a time; nil for an event that never occurred, whose time is negative or NaN.
func there(seconds float64) *float64 {
	if seconds < 0 || !stats.Finite(seconds) {
		return nil
	}
	seconds = short(seconds)
	return &seconds
}

// short rounds a time to seven digits, or to a tenth of a millisecond if that is coarser, since no screen shows more.
func short(seconds float64) float64 {
	if !stats.Finite(seconds) {
		return 0
	}
	if math.Abs(seconds) < 1000 {
		return math.Round(seconds*1e4) / 1e4
	}
	out, err := strconv.ParseFloat(strconv.FormatFloat(seconds, 'g', 7, 64), 64)
	if err != nil {
		return seconds
	}
	return out
}
