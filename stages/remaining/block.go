package remaining

import (
	"embed"
	"encoding/gob"
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/estimator/losscurve"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// targetArgs are the arguments of job blocks about a target.
type targetArgs struct {
	// The training loss at which the job is done, even if epochs (or steps) remain. A program reads the target in
	// `TFEXP_TARGET_LOSS`; one that ignores it trains to its end. `remaining.csv` and the report then show how well the
	// time to the target was predicted. In simulation the losses come from `losses` in the block `runtime`: the job is
	// done after the first that is at or below the target.
	//
	//	target_loss = 0.05
	TargetLoss float64 `arg:"target_loss" min:"1e-12" max:"1000000000000"`
}

//go:embed block.go
var source embed.FS

var _ = schema.Document("remaining", source)

func init() {
	language.Extend("remaining", language.Job, language.Extension[experiment.Job]{
		Args: schema.Args[targetArgs],
		Decode: func(_ *language.Decoder, b language.Block, j *experiment.Job) {
			var v targetArgs
			b.Fill(&v)
			if v.TargetLoss > 0 {
				j.Parts = append(j.Parts, target{v.TargetLoss})
			}
			if rt := b.Node.First("runtime"); rt != nil && j.Runtime != nil {
				checkLosses(rt, b.Args, j)
			}
		},
	})
	gob.Register(forecast{}) // forecast is part of tasks that are written to files
}

// target is the part of a job that ends when its loss reaches a target.
type target struct{ Loss float64 }

// targetOf returns the target loss of a job; 0 if it has none.
func targetOf(j *experiment.Job) float64 {
	t, _ := experiment.PartOf[target](j.Parts)
	return t.Loss
}

// DoneAfter implements experiment.EndPart.
func (t target) DoneAfter(j *experiment.Job) int {
	if j.Runtime != nil {
		if i := slices.IndexFunc(j.Runtime.Losses, func(l float64) bool { return l <= t.Loss }); i >= 0 {
			return i + 1
		}
	}
	return j.Length()
}

// End implements experiment.EndPart.
func (t target) End() string { return "its target loss" }

// When implements experiment.EndPart.
func (t target) When() string { return fmt.Sprintf("at a loss of %g", t.Loss) }

// KeyLines implements stages.KeyPart.
func (t target) KeyLines(prefix string) []stages.KeyLine {
	return []stages.KeyLine{{Label: prefix + "target_loss", Value: fmt.Sprint(t.Loss)}}
}

// LaunchIn implements stages.CellLaunchPart.
func (t target) LaunchIn(l *launch.Job) {
	l.Env = append(l.Env, fmt.Sprintf("%s=%g", contract.EnvTarget, t.Loss))
}

// Forecast implements stages.ForecastPart.
func (t target) Forecast(j *experiment.Job, estimates string, real bool) stages.EndForecast {
	if estimates != lossCurve.Name {
		return nil
	}
	f := forecast{Target: t.Loss}
	if j.Runtime != nil && !real {
		f.Losses = j.Runtime.Losses
	}
	return f
}

// forecast is a stages.EndForecast by loss curves. Losses are the losses that simulated jobs report.
type forecast struct {
	Target float64
	Losses []float64
}

// seedOfCurves is a fixed seed, so that forecasts are the same in every run.
const seedOfCurves = 1

// Begin implements stages.EndForecast.
func (f forecast) Begin() stages.JobForecast { return &jobForecast{forecast: f} }

// jobForecast is the forecast of one job, with its reported losses.
type jobForecast struct {
	forecast
	reported []losscurve.Point
}

// Left implements stages.JobForecast: the units until the loss reaches the target, at most all remaining units.
func (f *jobForecast) Left(units int, most float64, losses []scheduler.Loss) float64 {
	for _, p := range losses {
		f.reported = append(f.reported, losscurve.Point{Step: float64(p.Units), Loss: p.Loss, Rate: p.Rate})
	}
	for len(f.reported) < min(units, len(f.Losses)) { // of a simulated job
		n := len(f.reported)
		f.reported = append(f.reported, losscurve.Point{Step: float64(n + 1), Loss: f.Losses[n]})
	}
	model, _ := losscurve.ByName(losscurve.Default)
	found, ok := model.Forecast(f.reported, losscurve.Ask{Target: f.Target, Level: 0.9, Most: most, Seed: seedOfCurves})
	if !ok {
		return most
	}
	return min(found.Steps, most)
}

// checkLosses reports recorded losses that a job does not use, or that end before the job.
func checkLosses(rt *eval.Node, a *eval.Args, j *experiment.Job) {
	losses := j.Runtime.Losses
	if len(losses) == 0 || !a.OK {
		return
	}
	at := rt.Attr("losses").Expr.Range()
	all, unit := j.Epochs, "epochs"
	if j.Steps > 0 {
		all, unit = j.Steps, "steps"
	}
	switch {
	case targetOf(j) == 0:
		a.Fail(at, "Unused argument",
			"losses are read only for a job with a target_loss, which %q lacks.", j.Name)
	case j.Runtime.Whole:
		a.Fail(at, "Contradicting arguments",
			"The run time of a job with losses must be given for each of its %s: use per = \"epoch\".", unit)
	case len(losses) < all && j.Done() == all:
		a.Fail(at, "Too few losses", "The file has the losses of %d %s, in which the target_loss of %g is not reached; "+
			"the job may train for %d.", len(losses), unit, targetOf(j), all)
	}
}
