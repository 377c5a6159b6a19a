package language

import (
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler/tuner"
)

// tuneBlock is made anew at each call: methods are registered.
func tuneBlock() *schema.Block {
	var objectives, docs, methods []string
	for _, o := range record.Objectives {
		objectives = append(objectives, o.Name)
		docs = append(docs, "`"+o.Name+"` ("+o.Doc+")")
	}
	for _, m := range tuner.All() {
		methods = append(methods, "`"+m.Name+"` "+m.Doc)
	}
	return &schema.Block{
		Name: "tune", Label: "name, of the tuning in the results", Unique: true,
		Doc: "A search for the best settings of a job. Each trial is a cell of its own, with one job (but see `mode`): " +
			"simulated trials of different tunings run side by side, real ones one at a time, and what has run is not run " +
			"again. Every hardware of the matrix, every replicate and every value of the axes that the block, its job and " +
			"its hardware read has a search of its own. A file with `tune` blocks needs no workload and no policy. " +
			"Results are in `trials.csv` and `tunings.csv`.",
		Example: `job "digits" {
  builtin "mlp" {}
  epochs = 3
}

hardware "here" { engine = "process" }

tune "digits" {
  job       = job.digits
  objective = "time"
  trials    = 8

  setting "batch" { values = [8, 16, 32, 64, 128] }
  setting "learning_rate" {
    min = 0.0001
    max = 0.1
    log = true
  }
  constraint "accuracy" { min = 0.9 }
}`,
		Args: []schema.Arg{
			{Name: "job", Type: schema.JobRef, Required: true, Doc: "The job that is tuned.", Example: `job.digits`},
			{
				Name: "objective", Type: schema.String, Required: true, Allowed: objectives,
				Doc: "What is sought: " + strings.Join(docs, ", ") + ".", Example: `"time"`,
			},
			{
				Name: "target", Type: schema.Number,
				Doc: "The accuracy or loss of `time_to_accuracy` and `time_to_loss`. A trial that does not reach it is " +
					"infeasible.",
				Example: `0.95`,
			},
			{
				Name: "method", Type: schema.String, Default: `"bo"`, Allowed: tuner.Names(),
				Doc: "How the next settings are chosen: " + strings.Join(methods, "; ") + ".", Example: `"random"`,
			},
			{
				Name: "trials", Type: schema.Integer, Default: `20`, Min: schema.Limit(1), Max: schema.Limit(100_000),
				Doc: "How many settings are tried, imported ones not counted.", Example: `40`,
			},
			{
				Name: "start", Type: schema.Integer, DefaultDoc: "half of the number of settings, and at least 3",
				Min: schema.Limit(1), Max: schema.Limit(100_000),
				Doc: "How many trials come before the first model, spread over the space.", Example: `5`,
			},
			{
				Name: "per_cost", Type: schema.Bool, Default: `false`,
				Doc: "Whether `bo` and `selftf` weigh what a trial promises against what it is predicted to cost: its cost " +
					"where that is known, else its time. With `context` blocks they always do.",
				Example: `true`,
			},
			{
				Name: "parallel", Type: schema.Integer, Default: `1`, Min: schema.Limit(1), Max: schema.Limit(1000),
				Doc: "How many trials are chosen at a time, to run side by side where they are simulated. Models take those " +
					"that still run to come out as predicted.",
				Example: `4`,
			},
			{
				Name: "limit", Type: schema.Duration, Positive: true,
				Doc:     "When the trials so far have taken this long, no more begin.",
				Example: `"30m"`,
			},
			{
				Name: "warm_start", Type: schema.String,
				Doc: "Trials that were made elsewhere, which count as made: the folder of another experiment's results, " +
					"whose trials of the same settings are taken, or a CSV file with a column for each setting, `time_s`, and " +
					"where they are known `loss`, `accuracy`, `cost`, `units` (the epochs or steps) and `state` (`crashed`). It " +
					"is relative to the folder of the experiment file. In the modes `online` and `restart`, the times of a unit " +
					"are what is expected of the settings.",
				Example: `"earlier.csv"`,
			},
			{
				Name: "mode", Type: schema.String, Default: `"trials"`, Allowed: []string{"trials", "online", "restart", "fixed"},
				Doc: "How settings are tried: `trials` runs a job of its own for each. `online` runs one job, which begins " +
					"with the initial settings and is changed while it trains: in place where its program can (threads of a " +
					"malleable job, parts of an elastic role, `batch` and `learning_rate` of built-in programs, settings with " +
					"`live`), else by a checkpoint and a new start. `restart` always does the latter. A setting is measured, " +
					"and another one tried or gone back to when that is expected to save more than it costs; the job ends at " +
					"its target, at `limit`, or with its work. More cores are expected to be faster until it is measured; a " +
					"`live` setting of which the program does not say that it took it on, and that changes nothing, does not " +
					"count as tried; and when the job slows down or speeds up later, others are looked at again. Each decision " +
					"is in `decisions.csv` of the cell. `fixed` runs the job with the initial settings, and is the baseline.",
				Example: `"online"`,
			},
			{
				Name: "stretch", Type: schema.Integer, Default: `2`, Min: schema.Limit(1), Max: schema.Limit(10_000),
				Doc: "How many reports (epochs, or steps of a job of steps) a setting is measured by at most in the " +
					"modes `online` and `restart`, beside the first one after the change; fewer that leave no doubt are enough.",
				Example: `3`,
			},
			{
				Name: "confidence", Type: schema.Number, Default: `0.9`, Min: schema.Limit(0), Max: schema.Limit(0.999),
				Doc: "The probability with which going back to a setting must save more than it costs, in the modes " +
					"`online` and `restart`.",
				Example: `0.8`,
			},
		},
		Blocks: []*schema.Block{
			{
				Name: "setting", Required: true, Unique: true,
				Label: "name of the setting: read as `each.<name>` in the job and its hardware; else an argument of the " +
					"job or of its built-in program, which it replaces",
				Doc: "A setting that is searched: a list of values, or a range. Of a job with a `recorded` block it may " +
					"have neither: the values are those of the table.",
				Args: []schema.Arg{
					{Name: "values", Type: schema.Values, Doc: "The values.", Example: `[1, 2, 4]`},
					{Name: "min", Type: schema.Number, Doc: "The least value of a range.", Example: `1`},
					{Name: "max", Type: schema.Number, Doc: "The greatest value of a range.", Example: `16`},
					{
						Name: "integer", Type: schema.Bool, DefaultDoc: "true when both ends of the range are whole",
						Doc: "Whether a range has whole numbers only.", Example: `false`,
					},
					{
						Name: "log", Type: schema.Bool, Default: `false`,
						Doc: "Whether the logarithm is searched: for settings whose effect is by factors.", Example: `true`,
					},
					{
						Name: "live", Type: schema.Bool, DefaultDoc: "true of `batch` and `learning_rate` of built-in programs",
						Doc: "Whether the program takes the setting on while it trains, from its control file (`settings`). " +
							"Else it is started anew for it.",
						Example: `true`,
					},
					{
						Name: "initial", Type: schema.Any, DefaultDoc: "the first value, or `min`",
						Doc: "Where `hill_climb` begins, and what `fixed` tries.", Example: `2`,
					},
				},
			},
			{
				Name: "context", Unique: true,
				Label: "name: read as a setting's is",
				Doc: "How much of a whole a trial is given, such as the size of the training set or the number of epochs. " +
					"Trials count where it is `at` alone; others are cheaper, and the methods `bo`, `selftf` and `halving` " +
					"learn from them. Their `state` in `trials.csv` is `partial`. Methods without a model try nothing else than `at`.",
				Args: []schema.Arg{
					{Name: "values", Type: schema.Values, Doc: "The values, which are numbers.", Example: `[1000, 10000, 60000]`},
					{Name: "min", Type: schema.Number, Doc: "The least value of a range.", Example: `1`},
					{Name: "max", Type: schema.Number, Doc: "The greatest value of a range.", Example: `16`},
					{
						Name: "integer", Type: schema.Bool, DefaultDoc: "true when both ends of the range are whole",
						Doc: "Whether a range has whole numbers only.", Example: `false`,
					},
					{Name: "log", Type: schema.Bool, Default: `false`, Doc: "Whether the model sees the logarithm.", Example: `true`},
					{
						Name: "at", Type: schema.Number, DefaultDoc: "the greatest value",
						Doc: "Where trials count.", Example: `60000`,
					},
				},
			},
			{
				Name: "constraint", Label: "outcome", Labels: []string{"accuracy", "cost", "loss", "time"}, Unique: true,
				Doc: "A bound on an outcome of a trial. A trial outside it is infeasible, and is seen with its outcomes.",
				Args: []schema.Arg{
					{Name: "min", Type: schema.Number, Doc: "The least value.", Example: `0.95`},
					{Name: "max", Type: schema.Number, Doc: "The greatest value; times are in seconds.", Example: `0.1`},
				},
			},
		},
	}
}

// recordedBlock gives a job outcomes from a table.
var recordedBlock = &schema.Block{
	Name: "recorded", Single: true,
	Doc: "The outcomes of a job from a table of measurements, in place of a program: what `tune` would find out by " +
		"running it. A row is chosen by the settings; several rows with the same settings count with their mean. The " +
		"outcomes are expressions over `row.<column>`.",
	Example: `job "cnn" {
  recorded {
    file     = "measured.csv"
    where    = { samples = "60000" }
    settings = { workers = "n_workers", type = "vm" }
    time     = row.training_time
    accuracy = row.acc
    cost     = row.training_time / 3600 * row.n_workers * { small = 0.02, large = 0.37 }[row.vm]
  }
}`,
	Args: []schema.Arg{
		{
			Name: "file", Type: schema.String, Required: true,
			Doc: "A CSV file whose first line names the columns (`.gz` is unpacked); relative to the folder of the " +
				"experiment file.",
			Example: `"measured.csv"`,
		},
		{
			Name: "settings", Type: schema.StringMap, Required: true,
			Doc: "Which column has which setting of the `tune` block.", Example: `{ workers = "n_workers" }`,
		},
		{
			Name: "where", Type: schema.StringMap, Doc: "Texts that columns must have: other rows are left out.",
			Example: `{ samples = "60000" }`,
		},
		{
			Name: "time", Type: schema.OfRow, Required: true,
			Doc: "The time of the job in seconds. A row in which it is empty is a trial that crashed.", Example: `row.seconds`,
		},
		{Name: "loss", Type: schema.OfRow, Doc: "The last loss.", Example: `row.loss`},
		{Name: "accuracy", Type: schema.OfRow, Doc: "The last accuracy, 0 to 1.", Example: `row.acc`},
		{Name: "cost", Type: schema.OfRow, Doc: "What the job cost.", Example: `row.seconds / 3600 * 0.7`},
	},
}
