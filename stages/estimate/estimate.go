// Package estimate fits the samples of a job and predicts its run time.
package estimate

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// Job is a job whose run time is estimated.
type Job struct {
	Name          string
	Threads, GPUs int
	// Length is the job's total work, in the unit of its samples.
	Length int
	// Model is the name of the run-time model. Level is the level of the prediction interval, between 0 and 1.
	Model   string
	Level   float64
	Samples []estimator.Sample
	// Resource is the resource to estimate for; the zero value means the first sample's. History has the same
	// meaning as in estimator.Problem.
	Resource estimator.Resource
	History  []estimator.Run
	// Spread is how much run times vary on this machine, from the samples of all jobs.
	Spread estimator.Spread
	// Identity is the name under which History has earlier runs of the job; if empty, Name is used.
	Identity string
}

// Fit returns the estimate and its row of estimates.csv, without the actual run time. It returns an error if the model
// does not exist or cannot be fitted to the samples.
func Fit(j Job) (estimator.Estimate, record.EstimateRow, error) {
	model, err := estimator.ByName(j.Model)
	if err != nil {
		return estimator.Estimate{}, record.EstimateRow{}, err
	}
	e, err := model.Fit(estimator.Problem{
		Job: cmp.Or(j.Identity, j.Name), Samples: j.Samples, Resource: j.Resource,
		History: j.History, Spread: j.Spread,
	})
	if err != nil {
		return estimator.Estimate{}, record.EstimateRow{}, fmt.Errorf("estimate job %s: %w", j.Name, err)
	}
	e.Launch = launch(j.Samples)
	sampled, cost := 0, 0.0
	for _, s := range j.Samples {
		sampled += s.Length
		cost += s.Cost
	}
	p := e.Predict(j.Length, j.Level)
	return e, record.EstimateRow{
		Job: j.Name, Threads: j.Threads, GPUs: j.GPUs,
		Model: model.Name(), Chosen: e.Model, Samples: e.Samples, SampleFraction: float64(sampled) / float64(j.Length),
		Slope: e.Slope, Intercept: e.Intercept,
		Predicted: p.Seconds, Low: p.Low, High: p.High, Actual: -1, ActualSD: -1,
		Level: j.Level, Role: record.EstimateUsed, Host: j.Resource.Host,
		Sigma: e.Curve.Sigma, Kappa: e.Curve.Kappa, Cost: cost,
	}, nil
}

// launch returns the median time that the engine needs to start a sample and to notice its end, in seconds.
func launch(samples []estimator.Sample) float64 {
	var times []float64
	for _, s := range samples {
		if s.Launch > 0 {
			times = append(times, s.Launch)
		}
	}
	if len(times) == 0 {
		return 0
	}
	return estimator.Median(times)
}

// mostRuns is the largest number of past runs that are read.
const mostRuns = 1000

// loadPast collects the real run times of past jobs from cells outside the plan. Cells of the plan are excluded,
// because estimates are compared with them. A job counts if it finished, held its full request throughout, and ran in
// an undisturbed cell.
//
// Unreadable records are skipped: they affect only the quality of estimates.
func loadPast(p stages.Planning) {
	if !p.UsesHistory() {
		return
	}
	var runs []estimator.Run
	p.Past(func(c stages.PastCell) bool {
		if c.Busy <= hardware.BusyCores && c.State == record.CellFinished {
			addRuns(&runs, c)
		}
		return len(runs) < mostRuns
	})
	p.SetHistory(runs)
}

// addRuns adds the jobs of a past cell. The cell's key describes the jobs.
func addRuns(runs *[]estimator.Run, c stages.PastCell) {
	columns := []string{"job", "class", "state", "service_s", "threads_requested", "threads_mean", "gpus", "resizes"}
	_ = c.From.EachJob(c.CellRef, columns, 1, func(r *record.JobRow) bool {
		name, length := c.Ran(r.Class)
		full := r.Resizes == 0 && r.ThreadsMean == float64(r.ThreadsRequested)
		if r.State != "finished" || !full || length == 0 || r.Service <= 0 {
			return true
		}
		*runs = append(*runs, estimator.Run{
			Job: name, Length: length, Seconds: r.Service,
			Resource: estimator.Resource{Host: c.Host, Threads: r.ThreadsRequested, GPUs: r.GPUs},
		})
		return len(*runs) < mostRuns
	})
}

var _ = stages.Register(&stages.Stage{
	Name:   "estimate",
	Reads:  []stages.Artifact{stages.Samples},
	Writes: []stages.Artifact{stages.Estimates},
	OutputKey: func(r *stages.Run) ([]stages.KeyLine, error) {
		var lines []stages.KeyLine
		rows, _ := r.Estimates()
		for _, row := range rows {
			lines = append(lines, stages.KeyLine{Label: "estimate." + row.Job, Value: fmt.Sprintf("%+v", row)})
		}
		return lines, nil
	},
	LoadPast: loadPast,
	Run:      run,
})

// run fits the samples of each job, and writes estimates.csv and samples.csv.
func run(_ context.Context, r *stages.Run) error {
	rows, warnings := r.Estimates()
	for _, w := range warnings {
		r.Warn(w.Code, "", w.Text)
	}
	if samples := r.SampleRows(); len(samples) > 0 {
		if _, err := record.Samples.Write(r.Dir, samples); err != nil {
			return err
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return record.WriteEstimates(r.Dir, rows)
}
