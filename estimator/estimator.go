// Package estimator predicts how long a training job runs from short samples
// of it. A model turns samples into an Estimate; an Estimate predicts the run
// time of any length with an interval.
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

// Resource is the resource that a job runs on, as far as its speed depends
// on it. A zero field means unknown: it is left out of comparisons.
type Resource struct {
	// Host is the fingerprint of the machine.
	Host string `json:"host,omitempty"`
	// Threads are the cores held. Inter and Intra are the program's own pools
	// of threads, where it splits them (operations side by side, and threads
	// within one).
	Threads int `json:"threads"`
	Inter   int `json:"inter,omitempty"`
	Intra   int `json:"intra,omitempty"`
	// GPUs is a count, GPUType the device's name.
	GPUs    int    `json:"gpus,omitempty"`
	GPUType string `json:"gpu_type,omitempty"`
}

// Sample is one measured short run of a job, alone on the cores it asks for.
// Times are seconds.
type Sample struct {
	// Length is the number of units of work (epochs or steps) that it ran.
	Length  int `json:"length"`
	Threads int `json:"threads"`
	GPUs    int `json:"gpus,omitempty"`
	// Host, Inter, Intra and GPUType are as in Resource.
	Host    string `json:"host,omitempty"`
	Inter   int    `json:"inter,omitempty"`
	Intra   int    `json:"intra,omitempty"`
	GPUType string `json:"gpu_type,omitempty"`
	// Wall is from launch to exit.
	Wall float64 `json:"wall_s"`
	// Units are the durations of its units as the program reported them; empty
	// when it reported none.
	Units []float64 `json:"units_s,omitempty"`
	// Reported is the number of units that the program reported, if it differs from Length; 0 if it reported none.
	Reported int `json:"reported,omitempty"`
	EngineTimes
	// Startup and Save are the times that the program reports before its first
	// unit and after its last; 0 if it reports none.
	Startup float64 `json:"startup_s,omitempty"`
	Save    float64 `json:"save_s,omitempty"`
	// Busy is the mean number of cores that other processes used while it ran, of Machine cores; 0 if
	// it was too short to measure. It ran Tries times until it was not disturbed.
	Busy    float64 `json:"busy_cores,omitempty"`
	Machine int     `json:"machine_cores,omitempty"`
	Tries   int     `json:"tries,omitempty"`
	// Lost is the time of Wall in which tfexp could not run, or the machine slept: Wall may be that much too long.
	Lost float64 `json:"lost_s,omitempty"`
	// Others is the number of cores, of Total, that copies of the job held at the same time, in a sample of jobs side
	// by side. Its times are the means over the copies, and not the times of a job alone. It is 0 in other samples.
	Others int `json:"others,omitempty"`
	Total  int `json:"total,omitempty"`
	// Cost is the total time of taking the sample.
	Cost float64 `json:"cost_s,omitempty"`
	// Warnings are doubts about the sample's output.
	Warnings []string `json:"warnings,omitempty"`
}

// EngineTimes are the times that an engine took in addition to the job's own, in seconds; 0 where they were not measured.
type EngineTimes struct {
	// Launch is the time beyond Wall: from the decision to start the job until it ran, and from its exit until its end
	// was known. Pause, Resume and Resize are the times for one such action on the job.
	Launch float64 `json:"launch_s,omitempty"`
	Pause  float64 `json:"pause_s,omitempty"`
	Resume float64 `json:"resume_s,omitempty"`
	Resize float64 `json:"resize_s,omitempty"`
}

// Resource returns the resource that the sample ran on.
func (s Sample) Resource() Resource {
	return Resource{s.Host, s.Threads, s.Inter, s.Intra, s.GPUs, s.GPUType}
}

// Run is a run of the past, of the same job or of another; or one that is still
// under way.
type Run struct {
	// Job names what ran, with all that changes its work per unit. Runs of one job have a similar pace on one resource.
	Job      string
	Resource Resource
	// Length is in units of work, Seconds the wall time from launch to exit; 0 of
	// a run that is not finished.
	Length  int
	Seconds float64
}

// Problem is the input of a model: one job, and the data about it.
type Problem struct {
	Job string
	// Samples may be of several resources. There must be at least one.
	Samples []Sample
	// Resource is the resource of the wanted estimate; the zero value means
	// the resource of the first sample.
	Resource Resource
	// History are other runs, of any job and host.
	History []Run
	// Spread is how far runs differ on the machine, by the samples of all jobs; see SpreadOf.
	Spread Spread
}

// Prior of a machine in models that compare whole runs: the relative standard deviation of one job's pace from run to
// run, and its weight in runs.
const (
	PriorPaceSD = 0.02
	PriorDF     = 4
)

// A machine that shares its cores with others unseen is slower for moments, which
// short samples hit or miss: the relative standard deviation of its speed, and
// about how long in seconds a moment is, as measured on a virtual machine.
const (
	momentSD      = 0.07
	momentSeconds = 0.5
)

// moments returns the resulting standard deviation of the pace of samples of the
// given total seconds.
func moments(seconds float64) float64 {
	return momentSD * math.Sqrt(math.Min(1, momentSeconds/seconds))
}

// Model fits the data about a job.
type Model interface {
	// Name returns the model's name in the language.
	Name() string
	// Fit returns the estimate on the problem's resource. The error says which
	// data the model lacks; it wraps ErrUnfit when other samples would do.
	Fit(Problem) (Estimate, error)
}

// ErrUnfit is wrapped by the errors of Fit when there are too few samples for the
// model.
var ErrUnfit = errors.New("not enough samples")

// Estimate is a fitted run time: Intercept + Slope × length, in seconds, on
// Resource; and how it is elsewhere.
type Estimate struct {
	Model     string  `json:"model"`
	Slope     float64 `json:"slope_s"`
	Intercept float64 `json:"intercept_s"`
	Samples   int     `json:"samples"`
	// Launch is the time that the engine takes to start a job and to learn of its end, in seconds; it is part of every
	// prediction, and not of Intercept.
	Launch float64 `json:"launch_s,omitempty"`
	// UnitSD is the standard deviation of one unit's time, SlopeSE and
	// InterceptSE the standard errors of the parameters; DF the degrees of
	// freedom behind them. DF is 0 when the spread is unknown.
	UnitSD      float64 `json:"unit_sd_s"`
	SlopeSE     float64 `json:"slope_se_s"`
	InterceptSE float64 `json:"intercept_se_s"`
	DF          float64 `json:"df"`
	// Rho is the correlation of a unit's time with the next one's.
	Rho float64 `json:"rho,omitempty"`
	// PaceSD is the deviation of a whole run's pace from the pace of its samples
	// that no number of units averages out (the clock, neighbors): a standard
	// deviation, relative to Slope, with PaceDF degrees of freedom (0: as many as
	// DF).
	PaceSD float64 `json:"pace_sd,omitempty"`
	PaceDF float64 `json:"pace_df,omitempty"`
	// Residuals are the errors with which the model would have predicted past runs,
	// as sorted logarithms of actual / predicted. Where there are any, the
	// interval is made of them and not of the spreads above.
	Residuals []float64 `json:"residuals,omitempty"`
	// Resource is where Slope and Intercept hold.
	Resource Resource `json:"resource"`
	// Curve is how the pace changes with the number of threads. Its zero value is
	// a pace in proportion to the threads. CurveSE is the relative standard error of
	// the pace on other threads than Resource's.
	Curve   Curve   `json:"curve"`
	CurveSE float64 `json:"curve_se,omitempty"`
	// Warnings are doubts about the estimate.
	Warnings []string `json:"warnings,omitempty"`
}

// Prediction is a run time in seconds with its prediction interval. Low and
// High are negative when the spread is unknown.
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
// The interval is the interval of a new observation under a linear model whose unit times are an AR(1) process: with
// n units of slope b on these threads, the variance is n²·SE(b)² + n·SD²·(1+ρ)/(1−ρ) + SE(intercept)² +
// (n·b·PaceSD)², and (n·b·CurveSE)² on threads that were not asked for. It uses Student's t, with the degrees of freedom of Welch and Satterthwaite, as the
// parts are known with different precision.
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

// Width returns half of the width of the 90% interval, relative to the run time, and the part of its variance that is
// due to the samples and that more of them would reduce.
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

// LogSD is the standard deviation of the logarithm of the run time that an interval at level says, if it were normal; a
// guess where there is no interval.
func (p Prediction) LogSD(level float64) float64 {
	if p.Low <= 0 || p.High <= p.Low {
		return guessedSD
	}
	return math.Log(p.High/p.Low) / 2 / distuv.UnitNormal.Quantile((1+level)/2)
}

const guessedSD = 0.2

// Times returns the estimate of a job whose runs take f times as long.
func (e Estimate) Times(f float64) Estimate {
	e.Slope, e.Intercept, e.Launch = f*e.Slope, f*e.Intercept, f*e.Launch
	e.UnitSD, e.SlopeSE, e.InterceptSE = f*e.UnitSD, f*e.SlopeSE, f*e.InterceptSE
	return e
}

// Slower returns the time of a unit on threads relative to its time on
// the estimate's resource; 1 if a number of threads is unknown.
func (e Estimate) Slower(threads int) float64 {
	if threads <= 0 || e.Resource.Threads <= 0 || threads == e.Resource.Threads {
		return 1
	}
	return e.Curve.Speedup(float64(e.Resource.Threads)) / e.Curve.Speedup(float64(threads))
}

// around adds the interval of Student's t with df degrees of freedom. Where the
// spread is large it is the interval of the logarithm: run times are above 0, and
// a factor more is as likely as one less.
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

// conformal adds the interval that holds a new run at level if it is like the past
// ones (split conformal prediction: Vovk, Gammerman & Shafer, "Algorithmic
// Learning in a Random World", 2005): of n absolute errors the ⌈(n+1)·level⌉th. Where
// there are too few for the level, the largest is stretched in proportion.
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

// on returns the samples of the resource asked for, and that resource.
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

// Is reports whether two resources are the same, in all that both have set.
func (r Resource) Is(o Resource) bool {
	return same(r.Host, o.Host) && same(r.Threads, o.Threads) && same(r.Inter, o.Inter) &&
		same(r.Intra, o.Intra) && r.GPUs == o.GPUs && same(r.GPUType, o.GPUType)
}

func same[T comparable](a, b T) bool {
	var unknown T
	return a == b || a == unknown || b == unknown
}

// models has every model, in the order of the documentation.
var models = []Model{Linear{}, Scaling{}, History{}, Auto{}}

// Names lists the models.
func Names() []string { return schema.Each(models, func(m Model) string { return m.Name() }) }

// ByName returns the model that the language calls name.
func ByName(name string) (Model, error) {
	for _, m := range models {
		if m.Name() == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("estimate: unknown model %q (the models are %s)", name, strings.Join(Names(), ", "))
}
