// Package external has policies that are programs, in any language: the order "external". At each dispatch tfexp sends
// events to the program and reads its decisions, as JSON lines over standard input and output (docs/external.md).
package external

import (
	"context"
	"embed"
	"fmt"
	"math"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages"
)

// External is the order of policies that are programs.
const External policy.Order = "external"

// programArgs are the arguments of a policy that is a program.
type programArgs struct {
	// The program that decides, and its arguments. It runs in the folder of this file. Its files, and arguments that name
	// files, are part of the cells' keys.
	//
	//	command = ["python3", "my_policy.py"]
	Command []string `arg:"command,required"`
	// More files and folders that the program reads: if one changes, its cells run again.
	//
	// Default: none.
	//
	//	files = ["helpers.py"]
	Files []string `arg:"files"`
	// Settings that the program gets in its first message.
	//
	// Default: none.
	//
	//	settings = { quantum = "1s" }
	Settings []schema.Setting `arg:"settings"`
	// The longest time that the program may take for an answer. A cell whose program takes longer fails.
	//
	//	limit = "1m"
	Limit time.Duration `arg:"limit,positive" default:"30s"`
	// Whether the program draws random numbers from the seed in its first message, so that replicates of a log differ.
	//
	//	random = true
	Random bool `arg:"random" default:"false"`
	// Whether the program begins each replicate with its state at the end of the previous replicate. Replicates then
	// run one after the other.
	//
	//	learns = true
	Learns bool `arg:"learns" default:"false"`
}

//go:embed external.go
var source embed.FS

// argsOf returns the arguments of a policy.
func argsOf(s policy.Settings) (a programArgs) {
	schema.Fill(&a, s)
	return a
}

func init() {
	var wants []policy.Want
	for _, w := range []policy.Want{
		{Of: policy.BackfillOf, Name: policy.NoBackfill}, {Of: policy.AllocationOf, Name: policy.Strict},
		{Of: policy.PreemptionOf, Name: policy.NoPreemption}, {Of: policy.PlacementOf, Name: policy.PlaceFirst},
	} {
		w.Detail = fmt.Sprintf("The program of the order %q decides that itself: leave %s out.", External, w.Of)
		wants = append(wants, w)
	}
	policy.RegisterOrder(policy.OrderChoice{
		Choice: policy.Choice{
			Name: External, Title: "external", Place: 14, Estimates: true, Wants: wants,
			Settings: schema.Described[programArgs](source),
			Doc:      "your own program decides, in any language (docs/external.md)",
			Program: func(s policy.Settings) policy.Program {
				a := argsOf(s)
				return policy.Program{Command: a.Command, Files: a.Files, Learns: a.Learns}
			},
			Draws: func(s policy.Settings) bool { return argsOf(s).Random },
		},
		New: func(policy.Setup) scheduler.Ranker { return byArrival{} },
	})
	stages.RegisterDecider(External, func(ctx context.Context, t stages.Task) stages.Decider {
		return &programPolicy{ctx: ctx, task: t}
	})
}

// DecisionTime is the mean time that a policy's program needs for an answer.
var DecisionTime = measure.Register(measure.Metric{
	Rank: 900, Name: "decision_us", Title: "time per decision", Unit: "µs", Rare: true,
	Doc:     "mean time that the program of an external policy takes for an answer",
	Compute: func(*measure.Totals) float64 { return math.NaN() }, // programPolicy.Close sets it
})

// byArrival sorts waiting jobs by arrival.
type byArrival struct{}

func (byArrival) Rank(j scheduler.JobView) int64 { return int64(j.Job().Arrival) }

// programPolicy is the Decider of one cell: it starts the program and asks it.
type programPolicy struct {
	ctx      context.Context
	task     stages.Task
	admitter *programAdmitter // nil until the program is started
}

func (d *programPolicy) String() string { return d.task.Policy.String() }

// Rules starts the program and returns rules that ask it.
func (d *programPolicy) Rules(r scheduler.Run) (scheduler.PolicyRules, error) {
	rules, err := d.task.Policy.Rules(r)
	if err != nil {
		return rules, err
	}
	if d.admitter, err = startProgram(d.ctx, &d.task, r); err != nil {
		return rules, err
	}
	rules.Admission, rules.OnEvent = d.admitter, d.admitter.addEvent
	rules.AlwaysConsult = d.admitter.ready.Ask != askWaiting
	rules.OwnsSizes, rules.Partial = d.admitter.ready.Sizes, d.admitter.ready.Sizes
	return rules, nil
}

// Close ends the program and adds its results to the record.
func (d *programPolicy) Close(out *record.Cell) {
	if d.admitter == nil {
		return
	}
	kept := out != nil
	if !kept {
		out = &record.Cell{}
	}
	if d.admitter.close(out); kept && d.ctx.Err() == nil && out.Error == "" {
		if text := d.admitter.checkDeterminism(d.ctx, &d.task); text != "" {
			out.Warnings = append(out.Warnings, record.Warning{
				Code: "undetermined_policy", Cell: d.task.Setup.Cell.Cell, Text: text,
			})
		}
	}
}
