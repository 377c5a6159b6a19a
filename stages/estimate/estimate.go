// Package estimate fits the samples of a job and predicts its run time.
package estimate

import (
	"cmp"
	"fmt"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/results/record"
)

// Job is a job whose run time is asked for.
type Job struct {
	Name, Hardware string
	Threads, GPUs  int
	// Length is its total work, in the unit of its samples.
	Length int
	// Model is the name of the run-time model, Level that of the prediction
	// interval, 0 to 1.
	Model   string
	Level   float64
	Samples []estimator.Sample
	// Resource is what the estimate is asked for; the zero value means that of the
	// first sample. Kind and History are as in estimator.Problem.
	Resource estimator.Resource
	Kind     string
	History  []estimator.Run
	// Moments are the speeds of the machine that are known.
	Moments []estimator.Moment
	// Identity is what the runs of History call the job; empty: Name.
	Identity string
}

// Fit returns the fitted estimate, and the job's row of estimates.csv, whose
// actual run time is not known yet. It fails for a model that does not exist,
// and for samples that the model cannot fit.
func Fit(j Job) (estimator.Estimate, record.EstimateRow, error) {
	model, err := estimator.ByName(j.Model)
	if err != nil {
		return estimator.Estimate{}, record.EstimateRow{}, err
	}
	e, err := model.Fit(estimator.Problem{
		Job: cmp.Or(j.Identity, j.Name), Kind: j.Kind, Samples: estimator.AtOneSpeed(j.Samples), Resource: j.Resource, History: j.History,
	})
	if err != nil {
		return estimator.Estimate{}, record.EstimateRow{}, fmt.Errorf("estimate job %s: %w", j.Name, err)
	}
	e = e.Among(j.Moments, j.Samples)
	sampled, cost := 0, 0.0
	for _, s := range j.Samples {
		sampled += s.Length
		cost += s.Cost
	}
	p := e.Predict(j.Length, j.Level)
	return e, record.EstimateRow{
		Job: j.Name, Hardware: j.Hardware, Threads: j.Threads, GPUs: j.GPUs,
		Model: model.Name(), Chosen: e.Model, Samples: e.Samples, SampleFraction: float64(sampled) / float64(j.Length),
		Slope: e.Slope, Intercept: e.Intercept,
		Predicted: p.Seconds, Low: p.Low, High: p.High, Actual: -1, ActualSD: -1,
		Level: j.Level, Role: record.EstimateUsed, Host: j.Resource.Host,
		Sigma: e.Curve.Sigma, Kappa: e.Curve.Kappa, Cost: cost,
	}, nil
}
