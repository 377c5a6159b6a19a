package adaptation

import (
	"embed"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/adaptation/deepening"
	"github.com/tfexp/tfexp/stages/experiment"
)

// adaptationArgs are the arguments of an adaptation block.
//
// Compares controllers that deepen a network while it trains under a time budget, on recorded or real trainings. At
// each decision a controller deepens a block or does nothing; controllers are ranked by the accuracy at the end. The
// table is a file, or made by real training of a `job` (the controller `exhaustive`); with a `job`, controllers decide
// in real training as well, after they have learned. Without workload, hardware and policy blocks an experiment may
// have these blocks alone. Agents are trained as a stage of the run; trained agents are kept, and an interrupted
// training continues.
//
// The run leaves `ranking.csv` (accuracy, regret with an interval over the seeds, and rank of each controller
// in each scenario), `choices.csv` (each decision with time left, state, probabilities and action),
// `sequences.csv` (every constant sequence), `objectives.csv`, `training.csv` and, of real training,
// `courses.csv`.
//
//	adaptation "cnn" {
//	  table     = "deepening.csv"
//	  decisions = 2
//
//	  controller "agent" {}
//
//	  controller "agent" {
//	    name      = "unseen"
//	    leave_out = true
//	  }
//
//	  controller "best_constant" {}
//	  controller "nothing" {}
//	}
type adaptationArgs struct {
	// The job whose network is deepened in real training. It needs a `budget`; with `changes` it is malleable. It
	// is the built-in program `mlp` or `cnn`, or a command that follows `deepen` in its control file
	// (jobs/README.md).
	//
	//	job = job.net
	Job string `arg:"job" type:"job"`
	// The hardware on which the job trains, one training at a time.
	//
	//	hardware = hardware.here
	Hardware string `arg:"hardware" type:"hardware"`
	// The service times of the job at which controllers decide, each at the end of the next epoch.
	//
	// Default: at the first epochs that end after the first change.
	//
	//	decide = ["70s", "85s", "100s"]
	Decide []time.Duration `arg:"decide"`
	// The number of real trainings of each controller, with the seeds 1, 2, and so on.
	//
	//	repeats = 3
	Repeats int `arg:"repeats" default:"1" min:"1" max:"1000"`
	// A CSV file of recorded trainings, one row for each run; relative to the folder of the experiment file. It may be
	// compressed with gzip (`.gz`). Runs of one sequence are averaged; every sequence must be there. A line that
	// repeats another, number for number, is an error.
	//
	//	table = "cnn1.csv"
	Table string `arg:"table"`
	// The number of decisions in a training.
	//
	//	decisions = 3
	Decisions int `arg:"decisions,required" min:"1" max:"20"`
	// The number of blocks that can be deepened. Actions are 0 to `blocks` − 1, and `blocks` for nothing.
	//
	// Default: the blocks of the built-in program, or the greatest action of the table.
	//
	//	blocks = 3
	Blocks int `arg:"blocks" min:"1" max:"1000"`
	// The names of the table's columns for `scenario`, `action`, `time_left`, `total` and `accuracy`. The numbers of
	// the decisions, from 1, follow the names of `action` and `time_left`. A table without a scenario column has one
	// scenario. Times are in seconds.
	//
	// Default: `scenario`, `a`, `timeleft`, `totaltime`, `acc`.
	//
	//	columns = { action = "step", accuracy = "final_acc" }
	Columns []schema.Setting `arg:"columns"`
	// The number of repetitions of a controller that learns, searches or draws random numbers.
	//
	//	seeds = 10
	Seeds int `arg:"seeds" default:"5" min:"1" max:"1000"`
}

// scenarioArgs has no arguments: a scenario consists of change blocks.
//
// A scenario: how the resources of `job` change while it trains. Without one, they stay as they are.
type scenarioArgs struct{}

//go:embed arguments.go real_training_block.go
var source embed.FS

var _ = schema.Document("adaptation", source)

func adaptationBlock() *schema.Block {
	changes := schema.BlockFor[experiment.Update](schema.Block{Name: "changes"})
	changes.Args = changes.Args[:2] // the first two; the others choose a job, and there is only one
	changes.Doc = "A change of the job's threads while it trains."
	changes.Example = `scenario "early" {
  changes {
    at      = "70s"
    threads = 2
  }
}`
	scenario := schema.BlockFor[scenarioArgs](schema.Block{Name: "scenario", Label: "name", Unique: true})
	scenario.Blocks = []*schema.Block{changes}
	b := schema.BlockFor[adaptationArgs](schema.Block{Name: "adaptation", Label: "name", Unique: true})
	b.Blocks = []*schema.Block{scenario, controllerBlock()}
	return b
}

// controllerBlock returns the controller block, with the arguments of all registered kinds of controllers.
func controllerBlock() *schema.Block {
	b := &schema.Block{
		Name: "controller", Label: "kind of controller", Required: true,
		Doc: "A controller to compare with the other controllers.",
	}
	name := schema.Arg{
		Name: "name", Type: schema.String, DefaultDoc: "its kind", Example: `"alone"`,
		Doc: "The name of the controller in the results. Two of one kind need names.",
	}
	for _, k := range deepening.Kinds() {
		b.Labels = append(b.Labels, k.Name)
		b.ByLabel = append(b.ByLabel, schema.Labelled{
			Label: k.Name, Doc: k.Doc, Args: append([]schema.Arg{name}, slices.Clone(k.Args)...),
		})
	}
	return b
}
