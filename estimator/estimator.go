// Package estimator predicts the run time of a training job from short samples of it. A model turns samples into an
// Estimate, which predicts the run time for any length, with an interval.
package estimator

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Resource describes the hardware that a job ran on, as far as the job's speed depends on it. A zero field is
// unknown, and comparisons ignore it.
type Resource struct {
	// Host is the fingerprint of the machine.
	Host string `json:"host,omitempty"`
	// Threads is the number of cores held. Inter and Intra are the sizes of the program's thread pools, if it has
	// two: operations side by side, and threads within an operation.
	Threads int `json:"threads"`
	Inter   int `json:"inter,omitempty"`
	Intra   int `json:"intra,omitempty"`
	// GPUs is the number of GPUs; GPUType is the name of the model.
	GPUs    int    `json:"gpus,omitempty"`
	GPUType string `json:"gpu_type,omitempty"`
}

// Sample is one measured short run of a job, alone on the cores that it requests. Times are in seconds.
type Sample struct {
	// Length is the number of units of work (epochs or steps) that the sample ran.
	Length  int `json:"length"`
	Threads int `json:"threads"`
	GPUs    int `json:"gpus,omitempty"`
	// Host, Inter, Intra and GPUType are as in Resource.
	Host    string `json:"host,omitempty"`
	Inter   int    `json:"inter,omitempty"`
	Intra   int    `json:"intra,omitempty"`
	GPUType string `json:"gpu_type,omitempty"`
	// Wall is the time from launch to exit.
	Wall float64 `json:"wall_s"`
	// Units are the durations of the units that the program reported; empty if it reported none.
	Units []float64 `json:"units_s,omitempty"`
	// Reported is the number of units that the program reported, if it differs from Length; 0 if it reported none.
	Reported int `json:"reported,omitempty"`
	EngineTimes
	// Startup and Save are the times that the program reports before its first
	// unit and after its last; 0 if it reports none.
	Startup float64 `json:"startup_s,omitempty"`
	Save    float64 `json:"save_s,omitempty"`
	// Busy is the mean number of cores, of Machine cores, that other processes used during the sample; 0 if the
	// sample was too short to measure it. Tries is how often the sample was repeated because it was disturbed.
	Busy    float64 `json:"busy_cores,omitempty"`
	Machine int     `json:"machine_cores,omitempty"`
	Tries   int     `json:"tries,omitempty"`
	// Lost is the part of Wall in which tfexp could not run, or the machine slept. Wall may be too long by this time.
	Lost float64 `json:"lost_s,omitempty"`
	// Others is the number of cores, of Total, that copies of the job held at the same time, in a sample of jobs side
	// by side; the times are then means over the copies. It is 0 in a sample of a job alone.
	Others int `json:"others,omitempty"`
	Total  int `json:"total,omitempty"`
	// Cost is the total time in seconds of taking the sample.
	Cost float64 `json:"cost_s,omitempty"`
	// Warnings say why the sample may be wrong.
	Warnings []string `json:"warnings,omitempty"`
}

// EngineTimes are the times that an engine took in addition to the job's own, in seconds; 0 where they were not measured.
type EngineTimes struct {
	// Launch is the time in addition to Wall: from the decision to start the job until it ran, and from its exit
	// until the engine knew of it. Pause, Resume and Resize are the times of one such action.
	Launch float64 `json:"launch_s,omitempty"`
	Pause  float64 `json:"pause_s,omitempty"`
	Resume float64 `json:"resume_s,omitempty"`
	Resize float64 `json:"resize_s,omitempty"`
}

// Resource returns the resource on which the sample ran.
func (s Sample) Resource() Resource {
	return Resource{s.Host, s.Threads, s.Inter, s.Intra, s.GPUs, s.GPUType}
}

// Run is an earlier run of this job or another one, or a run that has not finished.
type Run struct {
	// Job identifies the program with all settings that change its work per unit. Runs of one job on one resource
	// have similar times per unit.
	Job      string
	Resource Resource
	// Length is the number of units of work. Seconds is the wall time from launch to exit; 0 for a run that has not
	// finished.
	Length  int
	Seconds float64
}

// Problem is the input of a model: data about one job.
type Problem struct {
	Job string
	// Samples may be from several resources. At least one is required.
	Samples []Sample
	// Resource is the resource for which an estimate is wanted; the zero value means the resource of the first
	// sample.
	Resource Resource
	// History are earlier runs, of any job on any host.
	History []Run
	// Spread is how much repeated runs differ on the machine, from the samples of all jobs; see SpreadOf.
	Spread Spread
}

// Prior of how much repeated runs differ, for models that compare whole runs: the relative standard deviation of one
// job's time per unit from run to run, and its weight as a number of runs.
const (
	PriorPaceSD = 0.02
	PriorDF     = 4
)

// A virtual machine that shares its cores with others is slower at moments, which a short sample may or may not meet.
// These are the relative standard deviation of its speed, and the duration of such a moment in seconds, as measured
// on one virtual machine.
const (
	momentSD      = 0.07
	momentSeconds = 0.5
)

// moments returns the relative standard deviation that this causes in the time per unit of samples of the given total
// seconds.
func moments(seconds float64) float64 {
	return momentSD * math.Sqrt(math.Min(1, momentSeconds/seconds))
}

// Model fits a run-time estimate to the data about a job.
type Model interface {
	// Name returns the model's name in the experiment language.
	Name() string
	// Fit returns the estimate for the problem's resource. Its error says which data are missing; it wraps ErrUnfit
	// if further samples would help.
	Fit(Problem) (Estimate, error)
}

// ErrUnfit is wrapped by the errors of Fit when there are too few samples for the
// model.
var ErrUnfit = errors.New("not enough samples")

// Estimate is a fitted run time in seconds, Intercept + Slope × length on Resource, with its uncertainty and its
// change on other threads.
type Estimate struct {
	Model     string  `json:"model"`
	Slope     float64 `json:"slope_s"`
	Intercept float64 `json:"intercept_s"`
	Samples   int     `json:"samples"`
	// Launch is the time in seconds that the engine takes to start a job and to notice its end. Every prediction
	// includes it; Intercept does not.
	Launch float64 `json:"launch_s,omitempty"`
	// UnitSD is the standard deviation of one unit's time; SlopeSE and InterceptSE are the standard errors of the
	// parameters, with DF degrees of freedom. DF is 0 if the spread is unknown.
	UnitSD      float64 `json:"unit_sd_s"`
	SlopeSE     float64 `json:"slope_se_s"`
	InterceptSE float64 `json:"intercept_se_s"`
	DF          float64 `json:"df"`
	// Rho is the correlation between the times of consecutive units.
	Rho float64 `json:"rho,omitempty"`
	// PaceSD is the standard deviation, relative to Slope, of a run's time per unit from its samples. It does
	// not shrink with the number of units; causes are the clock rate and other jobs. It has PaceDF degrees of freedom
	// (0 means DF).
	PaceSD float64 `json:"pace_sd,omitempty"`
	PaceDF float64 `json:"pace_df,omitempty"`
	// Residuals are the errors of the model for past runs, as sorted logarithms of actual / predicted. If there are
	// any, the interval is made from them instead of from the deviations above.
	Residuals []float64 `json:"residuals,omitempty"`
	// Resource is the resource for which Slope and Intercept hold.
	Resource Resource `json:"resource"`
	// Curve is how the speed changes with the number of threads; the zero value is speed in proportion to the
	// threads. CurveSE is the relative standard error of the speed on a number of threads other than Resource's.
	Curve   Curve   `json:"curve"`
	CurveSE float64 `json:"curve_se,omitempty"`
	// Warnings say why the estimate may be wrong.
	Warnings []string `json:"warnings,omitempty"`
}

// Prediction is a run time in seconds with its prediction interval. Low and High are negative if the spread is
// unknown.
type Prediction struct {
	Seconds, Low, High float64
}

// Predict returns the run time of length units on the estimate's resource, with
// the interval at level (0 to 1).
func (e Estimate) Predict(length int, level float64) Prediction {
	return e.PredictOn(length, e.Resource.Threads, level)
}

// PredictOn returns the run time of length units on another number of threads.
//
// It is the interval of a new observation under a linear model whose unit times are an AR(1) process. For n units
// of slope b on these threads, the variance is n²·SE(b)² + n·SD²·(1+ρ)/(1−ρ) + SE(intercept)² + (n·b·PaceSD)². On
// threads other than Resource's, (n·b·CurveSE)² is added. The interval uses Student's t with the degrees of freedom
// of Welch and Satterthwaite, because the parts are known with different precision.
func (e Estimate) PredictOn(length, threads int, level float64) Prediction {
	n, slower := float64(length), e.Slower(threads)
	pace := e.Slope * slower
	p := Prediction{Seconds: e.Launch + e.Intercept + pace*n, Low: -1, High: -1}
	if len(e.Residuals) > 0 {
		return p.conformal(e.Residuals, level)
	}
	if e.DF <= 0 {
		return p
	}
	v := square(e.InterceptSE) + square(slower)*(square(n*e.SlopeSE)+n*square(e.UnitSD)*(1+e.Rho)/(1-e.Rho))
	between := square(n * pace * e.PaceSD)
	if threads != e.Resource.Threads {
		between += square(n * pace * e.CurveSE)
	}
	df := e.DF
	if e.PaceDF > 0 && v+between > 0 {
		df = square(v+between) / (square(v)/e.DF + square(between)/e.PaceDF)
	}
	return p.around(math.Sqrt(v+between), df, level)
}

// Width returns half of the width of the 90% interval, relative to the run time. ofSamples is the part of the
// variance that more samples would reduce.
func (e Estimate) Width(length int) (width, ofSamples float64) {
	p := e.Predict(length, 0.9)
	if p.Low < 0 || p.Seconds <= 0 {
		return math.Inf(1), 1
	}
	n := float64(length)
	own := square(e.InterceptSE) + square(n*e.SlopeSE)
	all := own + n*square(e.UnitSD)*(1+e.Rho)/(1-e.Rho) + square(n*e.Slope*e.PaceSD)
	return (p.High - p.Low) / 2 / p.Seconds, own / all
}

// LogSD returns the standard deviation of the logarithm of the run time, derived from the interval at level as if it
// were normal. Without an interval it returns a guess.
func (p Prediction) LogSD(level float64) float64 {
	if p.Low <= 0 || p.High <= p.Low {
		return guessedSD
	}
	return math.Log(p.High/p.Low) / 2 / distuv.UnitNormal.Quantile((1+level)/2)
}

const guessedSD = 0.2

// Times returns the estimate for a job whose runs take f times as long.
func (e Estimate) Times(f float64) Estimate {
	e.Slope, e.Intercept, e.Launch = f*e.Slope, f*e.Intercept, f*e.Launch
	e.UnitSD, e.SlopeSE, e.InterceptSE = f*e.UnitSD, f*e.SlopeSE, f*e.InterceptSE
	return e
}

// Slower returns the time of a unit on threads, relative to the time on the estimate's resource; 1 if a number of
// threads is unknown.
func (e Estimate) Slower(threads int) float64 {
	if threads <= 0 || e.Resource.Threads <= 0 || threads == e.Resource.Threads {
		return 1
	}
	return e.Curve.Speedup(float64(e.Resource.Threads)) / e.Curve.Speedup(float64(threads))
}

// around adds the interval of Student's t with df degrees of freedom. If the spread is large, it computes the
// interval on logarithms, because run times are above 0: twice as long is then as likely as half as long.
func (p Prediction) around(sd, df, level float64) Prediction {
	if p.Seconds <= 0 {
		return p
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile((1 + level) / 2)
	p.Low, p.High = math.Max(0, p.Seconds-t*sd), p.Seconds+t*sd
	if sd > largeSpread*p.Seconds {
		p.Low, p.High = p.Seconds*math.Exp(-t*sd/p.Seconds), p.Seconds*math.Exp(t*sd/p.Seconds)
	}
	return p
}

const largeSpread = 0.25

// conformal adds the interval that contains a new run with probability level if the new run is like past ones. It is
// split conformal prediction (Vovk, Gammerman & Shafer, "Algorithmic Learning in a Random World", 2005): the bound is
// the ⌈(n+1)·level⌉th of n absolute errors. With too few errors for the level, the largest is multiplied in
// proportion.
func (p Prediction) conformal(residuals []float64, level float64) Prediction {
	sizes := schema.Each(residuals, math.Abs)
	slices.Sort(sizes)
	n := len(sizes)
	rank := int(math.Ceil(float64(n+1)*level - 1e-9))
	q := sizes[min(rank, n)-1] * math.Max(1, float64(rank)/float64(n))
	p.Low, p.High = p.Seconds*math.Exp(-q), p.Seconds*math.Exp(q)
	return p
}

func square(x float64) float64 { return x * x }

// on returns the samples of the problem's resource, and that resource.
func (p Problem) on() ([]Sample, Resource) {
	asked := p.Resource
	if asked == (Resource{}) && len(p.Samples) > 0 {
		asked = p.Samples[0].Resource()
	}
	var there []Sample
	for _, s := range p.Samples {
		if s.Resource().Is(asked) {
			there = append(there, s)
		}
	}
	return there, asked
}

// Is reports whether two resources are equal in all fields that both have set.
func (r Resource) Is(o Resource) bool {
	return same(r.Host, o.Host) && same(r.Threads, o.Threads) && same(r.Inter, o.Inter) &&
		same(r.Intra, o.Intra) && r.GPUs == o.GPUs && same(r.GPUType, o.GPUType)
}

func same[T comparable](a, b T) bool {
	var unknown T
	return a == b || a == unknown || b == unknown
}

// models are all models, in the order of the documentation.
var models = []Model{Linear{}, Scaling{}, History{}, Auto{}}

// Names returns the names of all models.
func Names() []string { return schema.Each(models, func(m Model) string { return m.Name() }) }

// ByName returns the model with the given name in the language.
func ByName(name string) (Model, error) {
	for _, m := range models {
		if m.Name() == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("estimate: unknown model %q (the models are %s)", name, strings.Join(Names(), ", "))
}
