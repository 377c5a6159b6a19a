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
	report := tables.report(nil)
	for job := range t.Setup.Jobs {
		if w.Row(job).FirstStart < 0 {
			continue
		}
		r := on.Replayed(job)
		for _, p := range r.Progress {
			report(job, p.At, p.Progress)
		}
		for _, s := range r.Servers {
			w.AddServer(record.ServerRow{
				Node: s.Name, Role: s.Role, Job: t.Setup.Jobs[job].Name, Created: s.From.Seconds(), Up: s.From.Seconds(),
				Warned: -1, Down: (s.From + s.Uptime).Seconds(), Revoked: revoked(s.Revoked), PricePerHour: s.PricePerHour,
				Cost: s.Cost,
			})
		}
		w.SetFinal(job, measure.Final{Loss: r.Loss, Accuracy: r.Accuracy})
		w.SetMoney(job, measure.Money{Cost: r.Cost, Revocations: r.Revocations})
	}
	return tables.close(out)
}

// revoked is a mark of servers.csv.
func revoked(is bool) int {
	if is {
		return 1
	}
	return 0
}
