package language

import "github.com/tfexp/tfexp/experiments/schema"

var checkpointBlock = &schema.Block{
	Name: "checkpoint", Single: true,
	Doc: "When a job saves its work, and what that costs it. A job that loses its server begins again with what its " +
		"last checkpoint holds; without this block it begins from nothing. A real program is told how often " +
		"(`TFEXP_CHECKPOINT_EVERY`) and may save its work when it is warned or asked to end as well; `cost` and " +
		"`restore` are then for the rules and for its simulation.",
	Example: `job "long" {
  builtin "mlp" {}
  epochs = 60
  runtime { epoch = "10m" }
  checkpoint {
    every   = "daly"
    cost    = "10s"
    restore = "1m"
  }
}`,
	Args: []schema.Arg{
		{Name: "every", Type: schema.String, Required: true,
			Doc: "The time from one checkpoint to the next; a number of epochs or steps; or `\"young\"` or `\"daly\"`, the " +
				"interval that these authors derive from `cost` (δ) and the mean time M between losses of what the job " +
				"holds: √(2δM), and √(2δM) (1 + ⅓√(δ/2M) + δ/18M) − δ.",
			Example: `"10m"`},
		{Name: "cost", Type: schema.Duration, Default: `"0s"`,
			Doc: "How long the job stands still to write one.", Example: `"3.4s"`},
		{Name: "restore", Type: schema.Duration, Default: `"0s"`,
			Doc: "How long it takes to begin again with one.", Example: `"5s"`},
	},
}
