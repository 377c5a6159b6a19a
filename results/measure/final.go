package measure

import (
	"math"

	"github.com/tfexp/tfexp/results/stats"
)

// Final is the last loss and accuracy that a job's program reported; NaN where it
// reported none. The loss of a training that diverged is +Inf.
type Final struct{ Loss, Accuracy float64 }

// Unreported is the Final of a job that reported nothing.
var Unreported = Final{math.NaN(), math.NaN()}

// Then returns f updated by another report, whose NaN values are ignored.
func (f Final) Then(loss, accuracy float64) Final {
	if !math.IsNaN(loss) {
		f.Loss = loss
	}
	if !math.IsNaN(accuracy) {
		f.Accuracy = accuracy
	}
	return f
}

// SetFinal sets the last report of a job's program. Events do not contain it.
func (c *Collector) SetFinal(job int, f Final) {
	if c.finals == nil {
		c.finals = map[int]Final{}
	}
	c.finals[job] = f
}

// final returns the last report of a job.
func (c *Collector) final(job int) Final {
	if f, ok := c.finals[job]; ok {
		return f
	}
	return Unreported
}

// Metrics from the last reports of the finished jobs' programs.
var (
	FinalAccuracy = Register(Metric{
		Rank: 200, Name: "final_accuracy", Title: "final accuracy", HigherBetter: true, Most: 1,
		Shown:   Shown{Cells: 12, Summary: 9, Panels: 7},
		Doc:     "mean final accuracy that finished jobs reported; empty if no job reported one",
		Compute: func(t *Totals) float64 { return t.meanOf(func(o *Outcome) float64 { return o.FinalAccuracy }) },
	})
	FinalLoss = Register(Metric{
		Rank: 210, Name: "final_loss", Title: "final loss",
		Doc:     "mean final loss that finished jobs reported, without NaN and infinity; empty if no job reported one",
		Compute: func(t *Totals) float64 { return t.meanOf(func(o *Outcome) float64 { return o.FinalLoss }) },
	})
)

// meanOf returns the mean of a value over the finished jobs that have it; NaN if none has.
func (t *Totals) meanOf(value func(*Outcome) float64) float64 {
	if len(t.collector.finals) == 0 {
		return math.NaN()
	}
	var mean stats.Mean
	for o := range t.Outcomes() {
		if v := value(&o); o.State == "finished" && stats.Finite(v) {
			mean.Add(v)
		}
	}
	return mean.Value()
}
