package language

import "github.com/tfexp/tfexp/experiments/schema"

// Models are the run-time models of package estimator that can be fitted to
// samples, as a file names them.
var Models = []string{"auto", "linear", "fraction", "scaling", "history"}

var profileBlock = &schema.Block{
	Name: "profile", Single: true,
	Doc: "How jobs are sampled before the experiment runs, to estimate run times. A sample is a short run of the " +
		"program, alone on its cores. Samples are cached by machine, program, environment, length and number of " +
		"threads; all cells and jobs that need the same sample share it. If other programs used the CPU during a " +
		"sample, it is taken again, up to three times, and the least disturbed one counts.",
	Example: `profile {
  samples  = 3
  fraction = 0.05
}`,
	Args: []schema.Arg{
		{
			Name: "samples", Type: schema.Integer, Default: `2`, Min: schema.Limit(2), Max: schema.Limit(100),
			Doc:     "The number of samples of each job, of different lengths: the shortest, twice as long, and so on.",
			Example: `3`,
		},
		{
			Name: "fraction", Type: schema.Number, Default: `0.03`, Min: schema.Limit(1e-6), Max: schema.Limit(1),
			Doc: "The part of the job's work that the shortest sample does; at least one epoch.", Example: `0.05`,
		},
		{
			Name: "epochs", Type: schema.Integers, DefaultDoc: "by `samples` and `fraction`", Min: schema.Limit(1),
			Max: schema.Limit(schema.MaxEpochs),
			Doc: "The lengths of the samples, instead of `samples` and `fraction`; in steps for jobs with " +
				"`steps`. No sample is longer than the job.",
			Example: `[2, 4]`,
		},
		{
			Name: "repeats", Type: schema.Integer, Default: `1`, Min: schema.Limit(1), Max: schema.Limit(100),
			Doc: "How often each sample is taken. With `1`, and without `budget`, samples whose epochs differ much are " +
				"taken again.",
			Example: `3`,
		},
		{
			Name: "threads", Type: schema.Integers, Min: schema.Limit(1), Max: schema.Limit(schema.MaxThreads),
			DefaultDoc: "the request; for jobs that may run on other numbers of threads, also the fewest and the most",
			Doc: "More numbers of threads to sample at, beside each job's request: the models `scaling` and " +
				"`auto` fit a speed-up curve to them. Numbers that this machine does not have are left out.",
			Example: `[1, 2, 4]`},
		{Name: "budget", Type: schema.Share, DefaultDoc: "none", Min: schema.Limit(1e-6), Max: schema.Limit(1),
			Doc: "The most time that sampling may take, as a part of the predicted time of all real cells " +
				"(including reused ones). The two shortest samples of each job on its request are always taken, " +
				"because the prediction needs them. Then come more numbers of threads, longer samples and " +
				"repeats, each only if it is predicted to end within the budget.",
			Example: `"5%"`},
		{Name: "contention", Type: schema.String, Default: `"measured"`, Allowed: []string{"measured", "none"},
			Doc: "`measured`: jobs that can run beside others on a machine of real hardware are also sampled side by side, " +
				"as many copies as have room on it (8 at most). How much they slow each other down is part of predictions and " +
				"of the simulations of real cells. `none`: jobs are taken not to slow each other down.",
			Example: `"none"`},
		{Name: "limit", Type: schema.Duration, DefaultDoc: "the job's `budget`, or 10 minutes", Positive: true,
			Doc: "How long one sample may take. A longer one is ended: the epochs (or steps) that its program has reported " +
				"by then are the sample; without two of them the job has no estimate.",
			Example: `"30m"`},
	},
}

var estimateBlock = &schema.Block{
	Name: "estimate", Single: true,
	Doc: "The run-time model that is fitted to the samples. It is used by policies that need estimates and by " +
		"simulations of sampled jobs.",
	Example: `estimate {
  model  = "auto"
  models = ["linear", "fraction"]
  level  = 0.95
}`,
	Args: []schema.Arg{
		{Name: "model", Type: schema.String, Default: `"linear"`, Allowed: Models,
			Doc: "`linear`: start-up time plus a time per epoch; the first epochs, which warm up, are fitted " +
				"apart. `fraction`: the sample's time divided by its part of the job, the simplest baseline. " +
				"`scaling`: like linear, with a speed-up curve over threads (Amdahl's law or the universal " +
				"scalability law) fitted to samples on several numbers of threads. `history`: like linear, " +
				"improved by past runs of the same or a similar job, here or on another machine; they come from " +
				"other experiments in the same folder of results, and from cells in the cache that are no longer " +
				"planned. `auto`: the model with the smallest cross-validated error.",
			Example: `"auto"`,
		},
		{
			Name: "models", Type: schema.Strings, DefaultDoc: "none", Allowed: Models,
			Doc: "More models that are fitted to the same samples, only for comparison: their estimates and " +
				"errors are in estimates.csv, accuracy.csv and the report, beside those of `model`.",
			Example: `["linear", "fraction"]`,
		},
		{
			Name: "level", Type: schema.Number, Default: `0.9`, Min: schema.Limit(0.5), Max: schema.Limit(0.9999),
			Doc: "The level of the prediction interval.", Example: `0.95`,
		},
		{
			Name: "correct", Type: schema.String, Default: `"predictions"`, Allowed: []string{"predictions", "policies", "none"},
			Doc: "What the finished jobs of a real cell correct, for the cells that run after it. `predictions`: what later " +
				"cells are compared with (accuracy.csv, and their simulations). `policies`: also what policies decide by " +
				"in later real cells; these then depend on the order of the cells. `none`: nothing.",
			Example: `"policies"`,
		},
	},
}
