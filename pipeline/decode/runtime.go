package decode

import (
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// runtimeArgs are the arguments of a runtime block.
//
// The run time of the job in simulation, instead of an estimate from samples. It is given by a formula: `startup +
// epochs × epoch` on one thread (`steps × epoch` for a job with steps), and `parallel` or `speedup` for more threads.
// Or it is given by measurements on several numbers of threads: a `table`{tables}.{laws}
//
// Between two measured numbers of threads, the speed (1 / time) is interpolated as a power of the threads: a
// straight line on logarithmic axes. Below the smallest number, the speed is proportional to the threads. Above
// the largest, it is constant: no job is faster than was measured.
//
//	job "given" {
//	  command = ["train"]
//	  epochs  = 100
//	  threads = 4
//	  runtime {
//	    startup  = "2s"
//	    epoch    = "500ms"
//	    parallel = 0.9
//	  }
//	}
//
//	job "drawn" {
//	  command = ["train"]
//	  epochs  = 1
//	  runtime { epoch = exponential("100s") }
//	}
//
//	job "measured" {
//	  command = ["train"]
//	  epochs  = 100
//	  threads = 4
//	  runtime { table = { 1 = "100s", 2 = "55s", 4 = "30s" } }
//	}
//
//	job "law" {
//	  command = ["train"]
//	  epochs  = 100
//	  threads = 8
//	  runtime {
//	    epoch   = "500ms"
//	    speedup = usl(0.05, 0.001)
//	  }
//	}
type runtimeArgs struct {
	// The time before the first epoch; it does not depend on the number of threads.
	//
	//	startup = "2s"
	Startup time.Duration `arg:"startup" default:"0s"`
	// The time of one epoch (or step) on one thread: the same for all jobs of this block, or drawn for each job
	// from a distribution. Estimates know the drawn time; `noisy(…)` gives them an error.
	//
	// Default: required without `table`{others}.
	//
	//	epoch = exponential("500ms")
	Epoch workload.Arrivals `arg:"epoch,positive" type:"gap"`
	// The part of an epoch that more threads speed up, from 0 to 1 (Amdahl's law).
	//
	//	parallel = 0.9
	Parallel float64 `arg:"parallel" default:"1" min:"0" max:"1"`
	// How many times faster an epoch is than on one thread: a law, or a table by number of threads.
	//
	// Default: by `parallel`.
	//
	//	speedup = { 1 = 1, 2 = 1.8, 4 = 3.1 }
	Speedup *workload.SpeedUp `arg:"speedup" type:"speedup"`
	// Run times of the whole job by number of threads, instead of `startup`, `epoch` and `parallel`.
	//
	//	table = { 1 = "100s", 2 = "55s", 4 = "30s" }
	Table []experiment.ThreadTime `arg:"table,positive" type:"thread times"`
	// Whether the times of `table`{others} are of the whole job, or of one epoch (or step) without `startup`.
	//
	//	per = "epoch"
	Per string `arg:"per" default:"job" allowed:"job epoch"`
	// The final accuracy of the simulated job, for the tables.
	//
	//	final_accuracy = 0.92
	FinalAccuracy *float64 `arg:"final_accuracy" min:"0" max:"1"`
	// The final loss of the simulated job, for the tables.
	//
	// Default: the last of its `losses`.
	//
	//	final_loss = 0.31
	FinalLoss *float64 `arg:"final_loss"`
	// The speed of the job on each type of GPU, relative to this run time: 2 is twice as fast. Only with `gpus`. Every
	// type that the hardware has needs a rate.
	//
	// Default: all GPUs are alike.
	//
	//	gpu_rate = { K80 = 1, V100 = 4.2 }
	GPURate []experiment.GPURate `arg:"gpu_rate" type:"rates"`
	// The part of its speed that the job keeps when it shares GPUs with a job of the named block: 1 is full speed. A
	// policy with `packing` lets two jobs share that both say this of each other.
	//
	// Default: it shares its GPUs with no job.
	//
	//	beside = { embedding = 0.9, transformer = 0.55 }
	Beside []experiment.GPURate `arg:"beside" type:"rates"`
}

func runtimeBlock() *schema.Block {
	b := schema.BlockFor[runtimeArgs](schema.Block{Name: "runtime", Single: true})
	return language.Extended(language.Runtime, b).ReplaceWords("{laws}", language.LawDocs(),
		"{tables}", language.TableDocs(), "{others}", and(language.TableNames()))
}

// runtime decodes a runtime block of a job.
func (d *Decoder) runtime(n *eval.Node, e *eval.Env, j *experiment.Job) (*experiment.Runtime, bool) {
	var v runtimeArgs
	a := d.Decode(n, e, &v)
	rt, ok := d.times(e, a, &v, j)
	if !ok {
		return nil, false
	}
	rt.Accuracy, rt.Loss = v.FinalAccuracy, v.FinalLoss
	d.DecodeInto(rt, language.Runtime, language.Block{Args: a, Env: e})
	return rt, a.OK
}

// times decodes the run times in a runtime block.
func (d *Decoder) times(e *eval.Env, a *eval.Args, v *runtimeArgs, j *experiment.Job) (*experiment.Runtime, bool) {
	if law, block := d.LawIn(a); law != nil {
		return d.byLaw(law, block, language.Block{Args: a, Env: e}, v, j)
	}
	given, name := language.TableIn(a), "table"
	if given != nil {
		name = given.Name
	}
	if !a.IsSet(name) {
		if names := tables(); !slices.ContainsFunc(names, func(n string) bool { return !a.Lacks(n) }) {
			a.Unread("{} is for a table of run times, but "+noneOf(names)+" is set.", append(language.TableArgs(), "per")...)
		}
		return d.runtimeLaw(a, v)
	}
	for _, other := range []string{"epoch", "parallel", "speedup", "table"} {
		if other != name && !a.IsWrong(name) {
			a.Excludes("{} and "+name+" both set how the run time depends on threads: keep one.", other)
		}
	}
	if v.Per == "job" {
		a.Excludes("The run times of the "+name+" include the start-up of the job. With per = \"epoch\" they are times of an "+
			"epoch, to which {} is added.", "startup")
	}
	times := v.Table
	if given == nil {
		language.RefuseTables(a)
	} else if a.OK {
		times = given.Decode(d.Decoder, language.Block{Args: a, Env: e})
	}
	if !a.OK || len(times) == 0 {
		return nil, false
	}
	curve := &workload.SpeedUp{}
	for _, t := range times {
		curve.Points = append(curve.Points, workload.SpeedPoint{Threads: t.Threads, Speed: 1 / t.Time.Seconds()})
	}
	return &experiment.Runtime{
		Startup: v.Startup, Parallel: 1, SpeedUp: curve, Threads: times[0].Threads, Whole: v.Per != "epoch",
		Epoch:    workload.Span{Kind: workload.Every, Mean: times[0].Time},
		GPURates: v.GPURate, Neighbours: neighbors(a, "beside"),
	}, a.OK
}

// byLaw decodes a run time that a nested block of a feature gives.
func (d *Decoder) byLaw(
	law *language.RunTimeLaw, n *eval.Node, around language.Block, v *runtimeArgs, j *experiment.Job,
) (*experiment.Runtime, bool) {
	for _, arg := range around.Node.Schema.Args {
		if !slices.Contains(law.Reads, arg.Name) && !slices.Contains(aside, arg.Name) {
			around.Excludes("{} and the "+law.Name+" block both set the run time of the job: keep one.", arg.Name)
		}
	}
	rt := &experiment.Runtime{Startup: v.Startup, GPURates: v.GPURate}
	ok := law.Decode(d.Decoder, n, around, j, rt)
	return rt, ok && around.OK
}

// aside are the arguments of runtime blocks that do not determine the time of epochs.
var aside = []string{"startup", "final_accuracy", "final_loss"}

// runtimeLaw decodes a run time that is given by a formula.
func (d *Decoder) runtimeLaw(a *eval.Args, v *runtimeArgs) (*experiment.Runtime, bool) {
	if !slices.ContainsFunc(append(tables(), "epoch"), func(n string) bool { return !a.Lacks(n) }) && !a.Node.Broken {
		a.Fail(a.Node.Header, "Missing argument", "%s needs %s.", a.Node.Title(), schema.Listed(waysToSay(), "or"))
	}
	if a.IsSet("speedup") && !a.IsWrong("speedup") {
		a.Excludes("{} and speedup both set how epochs speed up: keep one. {} = 0.9 is speedup = amdahl(0.9).", "parallel")
	}
	return &experiment.Runtime{
		Startup: v.Startup, Parallel: v.Parallel, SpeedUp: v.Speedup,
		Epoch:    workload.Span{Kind: v.Epoch.Kind, Mean: v.Epoch.Mean, SD: v.Epoch.SD},
		GPURates: v.GPURate, Neighbours: neighbors(a, "beside"),
	}, a.OK
}

// waysToSay returns the arguments and blocks that can give the run time of a job.
func waysToSay() []string { return slices.Concat([]string{"epoch"}, tables(), language.LawBlocks()) }

// tables returns the arguments that give run times on several numbers of threads.
func tables() []string { return append([]string{"table"}, language.TableNames()...) }

// noneOf lists missing things: "neither table nor file", or "no table".
func noneOf(names []string) string {
	if len(names) == 1 {
		return "no " + names[0]
	}
	return "neither " + strings.Join(names, " nor ")
}

// and lists further arguments, such as " and `file`".
func and(names []string) (text string) {
	for _, n := range names {
		text += " and `" + n + "`"
	}
	return text
}
