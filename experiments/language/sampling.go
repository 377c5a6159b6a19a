package language

import "github.com/tfexp/tfexp/experiments/schema"

// Models are the run-time models of package estimator that can be fitted to
// samples, as a file names them.
var Models = []string{"auto", "linear", "fraction", "scaling", "history"}

var profileBlock = &schema.Block{
	Name: "profile", Single: true,
	Doc: "How each job kind is sampled before the experiment runs, to estimate run times. A sample is a short run of the program, alone on its cores. " +
		"Samples are kept by machine, program, environment, length and number of threads: all cells and all jobs that want one share it, and a later run takes it from the cache. " +
		"A sample during which other processes used the machine is taken again, up to three times, and the least disturbed counts.",
	Example: `profile {
  samples  = 3
  fraction = 0.05
}`,
	Args: []schema.Arg{
		{Name: "samples", Type: schema.Integer, Default: `2`, Min: schema.Limit(2), Max: schema.Limit(100), Doc: "Short runs of each job kind, of different lengths: the shortest, twice as long, and so on.", Example: `3`},
		{Name: "fraction", Type: schema.Number, Default: `0.03`, Min: schema.Limit(1e-6), Max: schema.Limit(1), Doc: "The part of the job's work in the shortest sample; at least one epoch.", Example: `0.05`},
		{Name: "epochs", Type: schema.Integers, DefaultDoc: "by `samples` and `fraction`", Min: schema.Limit(1), Max: schema.Limit(schema.MaxEpochs), Doc: "The lengths of the samples, instead of `samples` and `fraction`; in steps for jobs by steps. Lengths beyond the job's own are cut to it.", Example: `[2, 4]`},
		{Name: "repeats", Type: schema.Integer, Default: `1`, Min: schema.Limit(1), Max: schema.Limit(100), Doc: "How often each sample is taken.", Example: `3`},
		{Name: "threads", Type: schema.Integers, DefaultDoc: "the request; for jobs that may come to run on other numbers of threads, also the fewest and the most that they may hold", Min: schema.Limit(1), Max: schema.Limit(schema.MaxThreads),
			Doc:     "Further numbers of threads to sample at, beside each job's request: the models `scaling` and `auto` fit a speed-up curve to them. Numbers beyond this machine's are left out.",
			Example: `[1, 2, 4]`},
		{Name: "budget", Type: schema.Share, DefaultDoc: "none", Min: schema.Limit(1e-6), Max: schema.Limit(1),
			Doc: "The most time that sampling may take, as a part of what the real cells are predicted to take in all (those that are reused as well). " +
				"The two shortest samples of each job on its request are always taken, since the prediction comes from them. The others follow in order – further numbers of threads, longer samples, repeats –, " +
				"each only if by what has been measured it ends within the budget.",
			Example: `"5%"`},
	},
}

var estimateBlock = &schema.Block{
	Name: "estimate", Single: true,
	Doc: "Which run-time model is fitted to the samples. Policies that decide by estimates, and simulations of sampled jobs, use it.",
	Example: `estimate {
  model  = "auto"
  models = ["linear", "fraction"]
  level  = 0.95
}`,
	Args: []schema.Arg{
		{Name: "model", Type: schema.String, Default: `"linear"`, Allowed: Models,
			Doc: "`linear`: start-up time plus time by epoch, with the first epochs, which warm up, told apart; `fraction`: the sample's time divided by its part of the job, the plainest baseline; " +
				"`scaling`: linear, with a speed-up curve over threads (Amdahl's law or the universal scalability law) fitted to samples at several numbers of threads; " +
				"`history`: linear, improved by past runs of the same or a like job, here or on another machine: those of the other experiments in the same folder of results, and of cells that this one's cache has and its plan has no more; " +
				"`auto`: the one with the least cross-validated error among those that can be fitted.", Example: `"auto"`},
		{Name: "models", Type: schema.Strings, DefaultDoc: "none", Allowed: Models, Doc: "Further models that are fitted to the same samples, only to be compared: their estimates and errors stand beside those of `model` in estimates.csv, accuracy.csv and the report.", Example: `["linear", "fraction"]`},
		{Name: "level", Type: schema.Number, Default: `0.9`, Min: schema.Limit(0.5), Max: schema.Limit(0.9999), Doc: "Level of the prediction interval.", Example: `0.95`},
	},
}
