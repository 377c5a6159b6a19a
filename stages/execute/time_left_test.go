package execute

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// watched is a pipeline whose cells are predicted to take 4 s. It keeps the last progress report.
type watched struct {
	stages.CellQueue
	stages.Shards
	stages.Experiment
	dir  string
	last stages.Progress
}

func (*watched) Predicted(int) time.Duration               { return 4 * time.Second }
func (*watched) Reused() int                               { return 0 }
func (*watched) FollowingCells() int                       { return 0 }
func (*watched) End(int, record.Cell, time.Duration) error { return nil }
func (w *watched) Folder(cell string) string               { return filepath.Join(w.dir, cell) }
func (*watched) State(string) (string, bool)               { return "", false }
func (*watched) Complete(string, string) bool              { return false }
func (*watched) Prepare(string, string) (string, error)    { return "", nil }
func (w *watched) Observe(p stages.Progress)               { w.last = p }
func (*watched) Warn(string, string, string)               {}
func (*watched) Note(stages.Note) error                    { return nil }

// Real cells take five times as long as predicted; the test controls the clock. After the first finished cell, the
// remaining time is within the reported range. After the second it is right within 10%. Cells run one or two at a time.
// If an earlier run has finished cells, the first report is right too.
func TestTimeLeftLearnsFromFinishedCells(t *testing.T) {
	const slow, n, predicted = 5, 8, 4 * time.Second
	for _, c := range []struct {
		name          string
		side, earlier int
	}{{"one at a time", 1, 0}, {"two at a time", 2, 0}, {"resumed", 1, 3}} {
		t.Run(c.name, func(t *testing.T) {
			w := &watched{dir: t.TempDir()}
			plan := record.Plan{}
			for i := range n {
				plan.Cells = append(plan.Cells, record.CellRef{Cell: fmt.Sprint("c", i), Policy: fmt.Sprint("p", i%2), Engine: "process"})
			}
			for i := range c.earlier {
				raw, err := json.Marshal(record.Cell{CellRef: plan.Cells[i], State: record.CellFinished, Seconds: slow * predicted.Seconds()})
				if err != nil {
					t.Fatal(err)
				}
				if err := os.MkdirAll(w.Folder(plan.Cells[i].Cell), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(w.Folder(plan.Cells[i].Cell), record.CellFile), raw, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Test(t, func(t *testing.T) {
				e := &execution{Run: &stages.Run{Plan: &plan, CellQueue: w, Shards: w, Experiment: w, CellFolders: w, Log: w}}
				var cells []int
				for i := c.earlier; i < n; i++ {
					cells = append(cells, i)
				}
				e.expect(cells, true)
				e.each(cells, func(x *cellTime) { x.Beside = float64(c.side) })
				check := func(left time.Duration, off float64) {
					t.Helper()
					p := w.last
					if e := (p.Left - left).Abs().Seconds() / left.Seconds(); e > off || p.LeastLeft > left || left > p.MostLeft {
						t.Errorf("%d done: %v (%v to %v) are left, not %v", p.Done, p.Left, p.LeastLeft, p.MostLeft, left)
					}
				}
				for i := 0; i < len(cells); i += c.side {
					now := cells[i:min(i+c.side, len(cells))]
					for _, cell := range now {
						e.each([]int{cell}, func(x *cellTime) { x.began = time.Now() })
						e.report(cell, stages.Progress{Kind: stages.UnitStart})
					}
					rest := slow * predicted * time.Duration(len(cells)-i) / time.Duration(c.side)
					if i > 0 || c.earlier > 0 {
						check(rest, 0.12)
					}
					time.Sleep(slow * predicted / 2)
					e.report(now[0], stages.Progress{Kind: stages.UnitUpdate})
					if i > 0 || c.earlier > 0 {
						check(rest-slow*predicted/2, 0.15)
					}
					time.Sleep(slow * predicted / 2)
					for _, cell := range now {
						if err := e.over(cell, record.Cell{State: record.CellFinished}, slow*predicted); err != nil {
							t.Fatal(err)
						}
					}
					if i+c.side < len(cells) {
						check(rest-slow*predicted, 0.12)
					}
				}
				if w.last.Left != 0 {
					t.Errorf("%v are left of nothing", w.last.Left)
				}
			})
		})
	}
}
