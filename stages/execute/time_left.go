package execute

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// leftLevel is the level of the interval of the remaining time.
const leftLevel = 0.9

// expect adds cells that will run. The first call also adds the cells that finished in earlier runs, for their times.
func (e *execution) expect(cells []int, first bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.done = len(e.Plan.Cells) - len(cells)
	run := map[int]bool{}
	for _, i := range cells {
		run[i] = true
	}
	for i, c := range e.Plan.Cells {
		runs := run[i]
		if !c.Real() || !runs && !first {
			continue
		}
		t := cellTime{cell: i}
		t.Kind = c.Workload + "/" + c.Hardware + "/" + c.Variant()
		t.Predicted = e.Predicted(i).Seconds()
		var ran record.Cell
		if !runs && record.ReadCellFile(e.Folder(c.Cell), &ran) == nil && ran.State == record.CellFinished {
			t.Took, t.Earlier = ran.Seconds, true
		}
		if runs || t.Took > 0 {
			e.real = append(e.real, t)
		}
	}
}

// each calls change for the times of some real cells.
func (e *execution) each(cells []int, change func(*cellTime)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for n := range e.real {
		if t := &e.real[n]; slices.Contains(cells, t.cell) {
			change(t)
		}
	}
}

// setLeft sets the remaining time of the real cells in p.
func (e *execution) setLeft(p *stages.Progress, now time.Time) {
	open, times := false, make([]estimator.CellTime, len(e.real))
	for n, t := range e.real {
		if t.Took == 0 {
			open = true
			if !t.began.IsZero() {
				t.Ran = now.Sub(t.began).Seconds()
			}
			if t.Reports {
				t.Left = max(0, t.Left-now.Sub(t.reported).Seconds())
			}
		}
		times[n] = t.CellTime
	}
	if left, known := estimator.RemainingTime(times, leftLevel); known && open {
		seconds := func(s float64) time.Duration { return max(time.Second, time.Duration(s*float64(time.Second))) }
		p.Left, p.LeastLeft, p.MostLeft = seconds(left.Seconds), seconds(left.Low), seconds(left.High)
	}
}
