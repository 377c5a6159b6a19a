package language

import (
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/adaptation"
)

func adaptationBlock() *schema.Block {
	return &schema.Block{
		Name: "adaptation", Label: "name", Unique: true,
		Doc: "Controllers that decide when to deepen a network while it trains under a time budget, played on a table " +
			"of trainings: one run of every sequence of decisions, in one or several scenarios of changing resources. At " +
			"each decision a controller deepens a block or does nothing; the accuracy at the end is what it is ranked by. " +
			"The table is a file, or made by real training of a `job` (the controller `exhaustive`); with a `job`, " +
			"controllers decide in real training as well, after they have learned. Without workload, hardware and policy " +
			"blocks an experiment may have these blocks alone. Agents are trained as a stage of the run; what they have " +
			"learned is kept, and a training that was interrupted goes on where it was.\n\n" +
			"The run leaves `ranking.csv` (accuracy, regret with an interval over the seeds, and rank of each controller " +
			"in each scenario), `choices.csv` (each decision with time left, state, probabilities and action), " +
			"`sequences.csv` (every constant sequence), `objectives.csv`, `training.csv` and, of real training, " +
			"`courses.csv`.",
		Example: `adaptation "cnn" {
  table     = "deepening.csv"
  decisions = 2

  controller "agent" {}

  controller "agent" {
    name      = "unseen"
    leave_out = true
  }

  controller "best_constant" {}
  controller "nothing" {}
}`,
		Args: []schema.Arg{
			{
				Name: "job", Type: schema.JobRef, Example: `job.net`,
				Doc: "The job whose network is deepened in real training. It needs a `budget`; with `changes` it is " +
					"malleable. It is the built-in program `mlp` or `cnn`, or a command that follows `deepen` in its control " +
					"file (jobs/README.md).",
			},
			{
				Name: "hardware", Type: schema.HardwareRef, Example: `hardware.here`,
				Doc: "Where the job trains, one training at a time.",
			},
			{
				Name: "decide", Type: schema.Instants,
				DefaultDoc: "at the first epochs that end after the first change",
				Doc: "When decisions are taken, as service time of the job: one for each decision, each with the " +
					"first epoch that ends then or later.",
				Example: `["70s", "85s", "100s"]`,
			},
			{
				Name: "repeats", Type: schema.Integer, Default: "1", Min: schema.Limit(1), Max: schema.Limit(1000),
				Doc:     "How often each controller decides in real training, under the seeds 1, 2, and so on.",
				Example: `3`,
			},
			{
				Name: "table", Type: schema.String, Example: `"cnn1.csv"`,
				Doc: "The recorded trainings, a row a run: a CSV file, relative to the folder of the experiment file. It may " +
					"be compressed with gzip (`.gz`). Runs of one sequence are averaged; every sequence must be there. A line " +
					"that repeats another, number for number, is an error.",
			},
			{
				Name: "decisions", Type: schema.Integer, Required: true, Min: schema.Limit(1), Max: schema.Limit(20),
				Doc: "The number of decisions of a training.", Example: `3`,
			},
			{
				Name: "blocks", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(1000),
				DefaultDoc: "those of the built-in program, or the greatest action of the table", Example: `3`,
				Doc: "The number of blocks that can be deepened. Actions are 0 to `blocks` − 1, and `blocks` for nothing.",
			},
			{
				Name: "columns", Type: schema.StringMap, DefaultDoc: "`scenario`, `a`, `timeleft`, `totaltime`, `acc`",
				Doc: "The names of the table's columns: of the `scenario` (a table without it has one), the `action` and " +
					"the `time_left` of decisions (followed by their numbers, from 1), the `total` time and the " +
					"`accuracy`. Times are in seconds.",
				Example: `{ action = "step", accuracy = "final_acc" }`,
			},
			{
				Name: "seeds", Type: schema.Integer, Default: `5`, Min: schema.Limit(1), Max: schema.Limit(1000),
				Doc: "How often a controller is repeated that learns, searches or draws.", Example: `10`,
			},
		},
		Blocks: []*schema.Block{scenarioBlock(), controllerBlock()},
	}
}

// scenarioBlock is a way in which the resources of a job change while it trains.
func scenarioBlock() *schema.Block {
	changes := changesBlock()
	changes.Args = changes.Args[:2] // there is one job
	changes.Doc = "A change of the job's threads while it trains."
	changes.Example = `scenario "early" {
  changes {
    at      = "70s"
    threads = 2
  }
}`
	return &schema.Block{
		Name: "scenario", Label: "name", Unique: true,
		Doc:    "How the resources of `job` change while it trains. Without one, they stay as they are.",
		Blocks: []*schema.Block{changes},
	}
}

// controllerBlock is made from the registry of controllers.
func controllerBlock() *schema.Block {
	b := &schema.Block{
		Name: "controller", Label: "kind of controller", Required: true,
		Doc: "A controller that is compared with the others.",
	}
	name := schema.Arg{
		Name: "name", Type: schema.String, DefaultDoc: "its kind", Example: `"alone"`,
		Doc: "Its name in the results. Two of one kind need names.",
	}
	for _, k := range adaptation.Kinds() {
		b.Labels = append(b.Labels, k.Name)
		b.ByLabel = append(b.ByLabel, schema.Labelled{
			Label: k.Name, Doc: k.Doc, Args: append([]schema.Arg{name}, slices.Clone(k.Args)...),
		})
	}
	return b
}
