package execute

import (
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// replayed adds what was recorded of the jobs of a cell that were started.
func replayed(w *record.CellWriter, t stages.Task, on engine.Replay, out *record.Cell) error {
	tables, err := openLive(t, t.Setup.Jobs, false)
	if err != nil {
		return err
	}
	report := tables.report()
	for job := range t.Setup.Jobs {
		if w.Row(job).FirstStart < 0 {
			continue
		}
		r := on.Replayed(job)
		for _, p := range r.Progress {
			report(job, p.At, p.Progress)
		}
		w.SetFinal(job, measure.Final{Loss: r.Loss, Accuracy: r.Accuracy})
		w.SetMoney(job, measure.Money{Cost: r.Cost, Revocations: r.Revocations})
	}
	return tables.close(out)
}
