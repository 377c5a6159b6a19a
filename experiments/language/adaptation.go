package language

import (
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/control/adapt"
)

func adaptationBlock() *schema.Block {
	return &schema.Block{
		Name: "adaptation", Label: "name", Unique: true,
		Doc: "Controllers that decide when to deepen a network while it trains under a time budget, played on a table " +
			"of recorded trainings: one run of every sequence of decisions, in one or several scenarios of changing " +
			"resources. At each decision a controller deepens a block or does nothing; the accuracy at the end is " +
			"what it is ranked by. Without workload, hardware and policy blocks an experiment may have these blocks " +
			"alone. Agents are trained as a stage of the run; what they have learned is kept, and a training that was " +
			"interrupted goes on where it was.\n\n" +
			"The run leaves `ranking.csv` (accuracy, regret with an interval over the seeds, and rank of each " +
			"controller in each scenario), `decisions.csv` (each decision with time left, state, probabilities and " +
			"action), `sequences.csv` (every constant sequence), `objectives.csv` and `training.csv`.",
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
				Name: "table", Type: schema.String, Required: true, Example: `"cnn1.csv"`,
				Doc: "The recorded trainings, a row a run: a CSV file, relative to the folder of the experiment file. It " +
					"may be compressed with gzip (`.gz`). Runs of one sequence are averaged; every sequence must be there.",
			},
			{
				Name: "decisions", Type: schema.Integer, Required: true, Min: schema.Limit(1), Max: schema.Limit(20),
				Doc: "The number of decisions of a training.", Example: `3`,
			},
			{
				Name: "blocks", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(1000),
				DefaultDoc: "the greatest action of the table", Example: `3`,
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
		Blocks: []*schema.Block{controllerBlock()},
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
	for _, k := range adapt.Kinds() {
		b.Labels = append(b.Labels, k.Name)
		b.ByLabel = append(b.ByLabel, schema.Labelled{
			Label: k.Name, Doc: k.Doc, Args: append([]schema.Arg{name}, slices.Clone(k.Args)...),
		})
	}
	return b
}
