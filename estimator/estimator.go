// Package estimator predicts how long a training job runs from short samples
// of it. A model turns samples into an Estimate; an Estimate predicts the run
// time of any length with an interval.
package estimator

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"
)

// Sample is one measured short run of a job, alone on the cores it asks for.
// Times are seconds.
type Sample struct {
	// Length is how many units of work (epochs or steps) it ran.
	Length  int `json:"length"`
	Threads int `json:"threads"`
	GPUs    int `json:"gpus,omitempty"`
	// Wall is from launch to exit.
	Wall float64 `json:"wall_s"`
	// Units are the durations of its units as the program reported them; empty
	// when it reported none.
	Units []float64 `json:"units_s,omitempty"`
	// Launch is what the engine took beyond Wall: from the decision to start
	// the job until it ran, and from its exit until its end was known. Pause,
	// Resume and Resize are how long the engine took to do that to the job once;
	// 0 where it was not measured.
	Launch float64 `json:"launch_s,omitempty"`
	Pause  float64 `json:"pause_s,omitempty"`
	Resume float64 `json:"resume_s,omitempty"`
	Resize float64 `json:"resize_s,omitempty"`
	// Warnings are doubts about the sample's output.
	Warnings []string `json:"warnings,omitempty"`
}

// Estimate is a fitted run time: Intercept + Slope × length, in seconds.
type Estimate struct {
	Model     string  `json:"model"`
	Slope     float64 `json:"slope_s"`
	Intercept float64 `json:"intercept_s"`
	Samples   int     `json:"samples"`
	// UnitSD is the standard deviation of one unit's time, SlopeSE and
	// InterceptSE the standard errors of the parameters; DF the degrees of
	// freedom behind them. DF is 0 when the samples cannot tell the spread.
	UnitSD      float64 `json:"unit_sd_s"`
	SlopeSE     float64 `json:"slope_se_s"`
	InterceptSE float64 `json:"intercept_se_s"`
	DF          float64 `json:"df"`
}

// Prediction is a run time in seconds with its prediction interval. Low and
// High are negative when the samples cannot tell the spread.
type Prediction struct {
	Seconds, Low, High float64
}

// Predict returns the run time of length units. The interval at level is that
// of a new observation under a linear model with independent unit times:
// variance length²·SE(slope)² + length·SD² + SE(intercept)², with Student's t.
func (e Estimate) Predict(length int, level float64) Prediction {
	n := float64(length)
	p := Prediction{Seconds: e.Intercept + e.Slope*n, Low: -1, High: -1}
	if e.DF <= 0 {
		return p
	}
	sd := math.Sqrt(n*n*e.SlopeSE*e.SlopeSE + n*e.UnitSD*e.UnitSD + e.InterceptSE*e.InterceptSE)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: e.DF}.Quantile((1 + level) / 2)
	p.Low, p.High = math.Max(0, p.Seconds-t*sd), p.Seconds+t*sd
	return p
}

// Model fits samples of one job on one resource.
type Model interface {
	// Name is what the language calls the model.
	Name() string
	// Fit needs at least one sample.
	Fit([]Sample) (Estimate, error)
}

// models has every model, in the order of the documentation.
var models = []Model{Linear{}}

// Names lists the models.
func Names() []string {
	var names []string
	for _, m := range models {
		names = append(names, m.Name())
	}
	return names
}

// ByName returns the model that the language calls name.
func ByName(name string) (Model, error) {
	for _, m := range models {
		if m.Name() == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("estimate: unknown model %q (there are: %s)", name, strings.Join(Names(), ", "))
}
