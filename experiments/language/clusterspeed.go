package language

import "github.com/tfexp/tfexp/experiments/schema"

// clusterBlock says how fast a job with roles trains.
var clusterBlock = &schema.Block{
	Name: "cluster", Single: true,
	Doc: "The speed of a job with roles in simulation, by what its parts run on, and so also when a worker is lost " +
		"or comes back. A worker on a device that alone makes r steps/s makes r times the factor of its region; n " +
		"parameter servers serve at most P = `limit` · n^`exponent` steps/s. All parts together make (S^−p + " +
		"P^−p)^(−1/p) steps/s with p = `sharpness`, where S is the sum over the workers: of 1/(1/r + 1/P), as each " +
		"step waits to be served, or of r with `law = \"apart\"`. A worker without parameter servers keeps the weights " +
		"itself, which takes it as long as one server. The roles `worker` and `chief` work, `ps` serves.\n\n" +
		"The rates, the limit, the exponent and the sharpness are given, or fitted to a `file` of measured clusters; " +
		"what is given beside a file takes the place of what was fitted. Several models in a file share the exponent " +
		"and the sharpness. The report then shows how well the law predicts clusters of 5 workers or more from smaller " +
		"ones (`cluster_speed.csv`).",
	Example: `job "resnet32" {
  command = ["train"]
  steps   = 64000
  role "worker" {
    count   = 4
    gpus    = 1
    elastic = true
  }
  role "ps" {
    count   = 1
    threads = 0
  }
  runtime {
    startup = "30s"
    cluster {
      rates   = { K80 = 5.1, V100 = 19.5 }
      limit   = 44
      regions = { "us-east1 us-west1" = 0.8 }
    }
  }
}`,
	Args: []schema.Arg{
		{Name: "file", Type: schema.String,
			Doc: "A CSV file of measured clusters, relative to the folder of the experiment file, with the columns `gpu`, " +
				"`parameter_servers`, `workers` and `steps_per_s`, and perhaps `model`. In place of `steps_per_s` it can have " +
				"`seconds`, the duration of `steps` steps.",
			Example: `"steps_per_s.csv"`},
		{Name: "columns", Type: schema.StringMap, DefaultDoc: "as above",
			Doc: "The columns of `file` that are called otherwise.", Example: `{ gpu = "device", seconds = "duration" }`},
		{Name: "steps", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(schema.MaxEpochs),
			DefaultDoc: "those " +
				"of the job",
			Doc: "The steps whose duration the column `seconds` has.", Example: `64000`},
		{Name: "model", Type: schema.String, DefaultDoc: "the only one",
			Doc: "Which model of `file` the job trains.", Example: `"res32"`},
		{Name: "rates", Type: schema.Rates, DefaultDoc: "fitted",
			Doc:     "The steps per second of one worker, without a wait for parameter servers, by the type of its GPUs.",
			Example: `{ K80 = 5.1, V100 = 19.5 }`},
		{Name: "device", Type: schema.String, DefaultDoc: "the type of the GPUs of its node",
			Doc: "The type of device of all workers, for nodes without GPUs.", Example: `"K80"`},
		{Name: "limit", Type: schema.Number, Min: schema.Limit(1e-9), Max: schema.Limit(1e12), DefaultDoc: "fitted, or " +
			"no limit",
			Doc: "The steps per second that one parameter server serves.", Example: `44`},
		{Name: "exponent", Type: schema.Number, Min: schema.Limit(0), Max: schema.Limit(10), DefaultDoc: "fitted, or 0.8",
			Doc: "How the limit grows with the number of parameter servers: 1 in proportion.", Example: `0.9`},
		{Name: "sharpness", Type: schema.Number, Min: schema.Limit(0.05), Max: schema.Limit(1000), DefaultDoc: "fitted, or 4",
			Doc: "How sharp the bend is at the limit.", Example: `3`},
		{Name: "law", Type: schema.String, Default: `"queued"`, Allowed: []string{"queued", "apart"},
			Doc: "Whether the time at the parameter servers is a part of each worker's step, or apart from it.", Example: `"apart"`},
		{Name: "regions", Type: schema.Rates, DefaultDoc: "1",
			Doc: "By pair of regions, the factor on the speed of a worker in one whose parameter servers are in the other, of " +
				"several the lowest. A pair is written with a blank between, in either order; within a region the factor is 1.",
			Example: `{ "us-east1 us-west1" = 0.8 }`},
	},
}
