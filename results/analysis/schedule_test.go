package analysis_test

import (
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
)

func read(t *testing.T, cell string) (*record.Experiment, record.Cell, *analysis.Schedule) {
	t.Helper()
	e, err := record.Open(resultstest.Small().Write(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range e.Cells {
		if c.Cell == cell {
			s, err := analysis.ReadSchedule(e, c, nil)
			if err != nil {
				t.Fatal(err)
			}
			return e, c, s
		}
	}
	t.Fatalf("there is no cell %s", cell)
	return nil, record.Cell{}, nil
}

// TestTimesAddUp checks that a job's resources and waits add up to the values in jobs.csv.
func TestTimesAddUp(t *testing.T) {
	for _, cell := range []string{"mixed-machine-fcfs-r1", "mixed-machine-rr-quantum=300ms-r1"} {
		e, c, s := read(t, cell)
		if len(s.Jobs) != 8 || s.Cores != 2 || s.GPUs != 0 || strings.Join(s.Classes, " ") != "long short" {
			t.Fatalf("%+v", s)
		}
		if err := s.Explain(e, c.CellRef); err != nil {
			t.Fatal(err)
		}
		for _, j := range s.Jobs {
			held, waited := 0.0, 0.0
			for _, h := range j.Held {
				held += h.To - h.From
			}
			for _, w := range j.Waits {
				waited += w.To - w.From
			}
			if near(held, j.Service) && near(waited, j.Waiting) && near(j.End, j.Finish) {
				continue
			}
			t.Errorf("%s: held %g of %g s, waited %g of %g s, ended at %g of %g s", j.JobRow.Job, held, j.Service, waited,
				j.Waiting, j.End, j.Finish)
		}
		if w := s.Jobs[1].Waits[0]; len(w.Holders) != 1 || w.Holders[0] != "long-1" || w.Others != 0 {
			t.Errorf("%s: the second job waited: %+v", cell, w)
		}
	}
}

func near(a, b float64) bool { return a-b < 1e-5 && b-a < 1e-5 }

func TestTooMany(t *testing.T) {
	e, c, _ := read(t, "mixed-machine-fcfs-r1")
	c.Metrics.Set(measure.Jobs, 5_001)
	if s, err := analysis.ReadSchedule(e, c, nil); s != nil || err != nil || !strings.Contains(analysis.Crowded(c), "cannot be told apart") {
		t.Errorf("%v, %v, %q", s, err, analysis.Crowded(c))
	}
}
