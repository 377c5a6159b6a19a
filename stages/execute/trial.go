package execute

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
)

// addTrial adds the outcome of a trial of a tuning to its cell: from the table that
// its job was recorded in, or from the reports of its program.
func addTrial(w *record.CellWriter, t stages.Task, log *decisions, out *record.Cell) error {
	if t.Trial == nil {
		return nil
	}
	job := w.Outcome(0)
	o := record.TrialOutcome{Time: job.Service, Units: t.Trial.Units}
	switch {
	case t.Trial.Recorded != nil:
		o = *t.Trial.Recorded
	case job.State != scheduler.Finished.String():
		o.Crashed = crashed(w, out)
	case log != nil:
		log.outcome(&t.Trial.Tuning, &o)
	case t.Logs != "":
		if !math.IsNaN(job.FinalLoss) {
			o.Loss = &job.FinalLoss
		}
		if !math.IsNaN(job.FinalAccuracy) {
			o.Accuracy = &job.FinalAccuracy
		}
		if err := reported(t, &o); err != nil {
			return err
		}
	}
	if t.Trial.Recorded == nil && o.Crashed == "" && !math.IsNaN(job.Cost) {
		o.Cost = &job.Cost
	}
	if t.Trial.Recorded != nil && o.Crashed != "" {
		out.Error = o.Crashed
	}
	out.Outcome = t.Trial.Tuning.Reach(&o)
	return nil
}

// crashed says why a trial has no outcome.
func crashed(w *record.CellWriter, out *record.Cell) string {
	if f := w.Failures(); len(f) > 0 {
		return f[0].Reason
	}
	if out.Error != "" {
		return out.Error
	}
	return "it did not finish"
}

// reported takes the loss and accuracy of a trial, and when it reached the target,
// from the log of its program.
func reported(t stages.Task, o *record.TrialOutcome) error {
	f, err := folder.Open(t.Logs, t.Setup.Jobs[0].Name+".log")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the log of a trial: %w", err)
	}
	defer f.Close()
	var constraints []record.Constraint
	if t.Trial.Tuning.Target != nil {
		constraints = t.Trial.Tuning.AllConstraints()[:1]
	}
	spent, total := 0.0, 0.0
	var reachedAt *float64
	tail := contract.Tail{News: func(p contract.Progress) {
		if p.FinalAccuracy != nil {
			o.Accuracy = p.FinalAccuracy
		}
	}}
	each := func(p contract.Progress) {
		if p.Loss != nil {
			o.Loss = p.Loss
		}
		if p.Accuracy != nil {
			o.Accuracy = p.Accuracy
		}
		if p.Epoch == 0 || p.Seconds == nil {
			return
		}
		total += *p.Seconds
		for _, c := range constraints {
			if v := o.Outcome(c.Outcome); reachedAt == nil && (c.Min != nil && v >= *c.Min || c.Max != nil && v <= *c.Max) {
				spent = total
				reachedAt = &spent
			}
		}
	}
	buffer := make([]byte, 64<<10)
	for {
		n, err := f.Read(buffer)
		if n > 0 {
			tail.Add(buffer[:n], each)
		}
		if err != nil {
			break
		}
	}
	if reachedAt != nil { // what the program took beside its epochs comes before them
		v := min(o.Time, *reachedAt+max(0, o.Time-total))
		o.Reached = &v
	}
	return nil
}
